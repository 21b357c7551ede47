/** Determines the devices that a container gets through claims, and their health. */
import { lookUp } from '../../base/values/lookUp.ts';
import type { Container } from '../api/schema/container.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ContainerStatus } from '../api/schema/status.ts';
import { nanosOf } from '../api/values/quantity.ts';
import type { ClaimDevice, ClaimState } from './claimState.ts';
import { podClaims } from './podClaims.ts';

/** A claim that a container references. */
interface ContainerClaim {
  readonly claimName: string;
  /** The request whose devices the container gets. Empty for the devices of all requests. */
  readonly request: string;
}

/** Returns the claims of a container, in the order of the pod's claims (`GetResources` in `cm/dra/manager.go`). */
function containerClaims(pod: Pod, { name, resources }: Pick<Container, 'name' | 'resources'>): ContainerClaim[] {
  const { claims = [], requests = {} } = resources ?? {};
  const { requestMappings = [] } = pod.status?.extendedResourceClaimStatus ?? {};
  return podClaims(pod).flatMap(({ podClaimName, claimName }) => {
    if (podClaimName !== '') {
      const namedClaims = claims.filter((claim) => claim.name === podClaimName);
      return namedClaims.map(({ request = '' }) => ({ claimName, request }));
    }
    const mappings = requestMappings.filter(({ containerName, resourceName }) => {
      const amount = lookUp(requests, resourceName);
      return containerName === name && amount !== undefined && nanosOf(String(amount)) > 0n;
    });
    return mappings.map(({ requestName: request }) => ({ claimName, request }));
  });
}

/**
 * Returns the CDI names of the devices that a container gets. Throws an error with the kubelet's message if a claim has
 * not been prepared. `findClaim` returns a claim in the pod's namespace.
 */
export function containerCdiIds(
  pod: Pod,
  container: Pick<Container, 'name' | 'resources'>,
  findClaim: (claimName: string) => ClaimState | undefined,
): string[] {
  const ids = containerClaims(pod, container).flatMap(({ claimName, request }) => {
    const claim = findClaim(claimName);
    if (claim === undefined) {
      const { namespace } = pod.metadata;
      throw new Error(
        `internal error: unable to get claim info for ResourceClaim ${claimName} in namespace ${namespace}`,
      );
    }
    const devices = claim.drivers.flatMap((driver) => driver.devices);
    return devices.filter((device) => fulfilsRequest(device, request)).flatMap(({ cdiIds }) => cdiIds);
  });
  // Remove duplicates, because two requests may be fulfilled by the same device, which the runtime must add only once.
  return [...new Set(ids)];
}

/**
 * Returns the claims of a container with all of their devices, as the kubelet lists them (`GetContainerClaimInfos` in
 * `cm/dra/manager.go`). Returns an empty list if any of the claims is missing from `claims`. A claim whose preparation
 * has not finished has no devices.
 */
export function containerClaimStates(
  pod: Pod,
  container: Pick<Container, 'name' | 'resources'>,
  claims: readonly ClaimState[],
): readonly ClaimState[] {
  try {
    const names = new Set(containerClaims(pod, container).map(({ claimName }) => claimName));
    const states = claims.filter(({ name, namespace }) => namespace === pod.metadata.namespace && names.has(name));
    return states.length === names.size ? states : [];
  } catch {
    // A ResourceClaim of the pod has not been created yet.
    return [];
  }
}

const fulfilsRequest = ({ requestNames }: ClaimDevice, request: string): boolean =>
  request === '' || requestNames.length === 0 || requestNames.includes(request);

type ResourceStatus = NonNullable<ContainerStatus['allocatedResourcesStatus']>[number];

/**
 * Returns the health of the devices that a container gets through the claims in its spec
 * (`UpdateAllocatedResourcesStatus` in `cm/dra/manager.go`). `claims` are the claims of the pod.
 */
export function claimResourceStatuses(
  pod: Pod,
  { resources }: Pick<Container, 'resources'>,
  claims: readonly ClaimState[],
): ResourceStatus[] {
  return (resources?.claims ?? []).flatMap(({ name, request = '' }) => {
    const claimName = resourceClaimName(pod, name);
    const claim = claims.find((each) => each.name === claimName);
    if (claim === undefined) return [];
    // A device refers to a request of the claim, not to a subrequest, so compare only the part before the slash.
    const [baseRequest = ''] = request.split('/');
    const healths = claim.drivers.flatMap((driver) =>
      driver.devices
        .filter((device) => fulfilsRequest(device, baseRequest))
        .map((device) => deviceHealth(driver.name, device)),
    );
    const distinctHealths = healths.filter(
      ({ resourceID }, index) => healths.findIndex((each) => each.resourceID === resourceID) === index,
    );
    if (distinctHealths.length === 0) return [];
    return [{ name: request === '' ? `claim:${name}` : `claim:${name}/${request}`, resources: distinctHealths }];
  });
}

function resourceClaimName(pod: Pod, podClaimName: string): string | undefined {
  try {
    return podClaims(pod).find((claim) => claim.podClaimName === podClaimName)?.claimName;
  } catch {
    // A claim of the pod does not exist yet, so its devices have no health.
    return undefined;
  }
}

function deviceHealth(driver: string, { poolName, deviceName, cdiIds, health }: ClaimDevice) {
  const { status = 'Unknown', message = '' } = health ?? {};
  return {
    resourceID: cdiIds[0] ?? `${driver}/${poolName}/${deviceName}`,
    health: status,
    ...(message === '' ? {} : { message }),
  };
}
