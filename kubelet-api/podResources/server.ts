/**
 * Serves the pod-resources API, which lists the devices, exclusive CPUs, memory and resource claims of containers for
 * monitoring agents (`pkg/kubelet/apis/podresources`). Imported on demand, because this module needs the gRPC server.
 */
import { type handleUnaryCall, Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import type { Clock } from '../../base/time/clock.ts';
import { RateLimit } from '../../kubeclient/rateLimit.ts';
import { isSidecar } from '../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ClaimState } from '../../kubernetes/claims/claimState.ts';
import type { ResourceAssignments } from '../../kubernetes/cpus/allocatePod.ts';
import {
  allocatableCpus,
  type CpuAssignments,
  type CpuPolicy,
  findAssignment,
} from '../../kubernetes/cpus/cpuPolicy.ts';
import { NO_CPUS } from '../../kubernetes/cpus/cpuSet.ts';
import { healthyDevices, NO_NUMA_NODE } from '../../kubernetes/devices/devices.ts';
import { allocationsOf, type DevicePool } from '../../kubernetes/devices/reserveDevices.ts';
import { nonTerminatedPods } from '../../kubernetes/node/nodeUse.ts';
import {
  allocatableMemory,
  findMemory,
  type MemoryAssignments,
  type MemoryPolicy,
} from '../../kubernetes/numaMemory/memoryAssignments.ts';
import {
  decodeRequestedPod,
  encodeAllocatable,
  encodePods,
  type ListedDevice,
  type PodResources,
  type RequestedPod,
} from './messages.ts';

export interface PodResourcesParts {
  readonly pods: () => readonly Pod[];
  /** Whether the v1 method `List` omits terminated pods. The other methods do not depend on this. */
  readonly listsOnlyActivePods: boolean;
  /** The CPU assignments and their policy. Undefined if the node does not assign CPUs. */
  readonly cpus: () => { readonly cpuPolicy: CpuPolicy; readonly assignments: CpuAssignments } | undefined;
  /** The memory assignments and their policy. Undefined if the node does not assign memory of NUMA nodes. */
  readonly memory: () => { readonly memoryPolicy: MemoryPolicy; readonly assignments: MemoryAssignments } | undefined;
  /** The device plugins' resources and allocations. Undefined if the node has no device plugins. */
  readonly devices: () => DevicePool | undefined;
  /** Returns the resource claims of a container. */
  readonly claims: (pod: Pod, container: Container) => readonly ClaimState[];
  readonly clock: Clock;
  /** Called for each request that the rate limit admits, before the response. */
  readonly onRequest?: PodResourcesListener | undefined;
}

/** Called to count a request. The caller must call the returned function if the request fails. */
export type PodResourcesListener = (
  version: 'v1' | 'v1alpha1',
  method: 'list' | 'get' | 'get_allocatable',
) => () => void;

/** Maximum size of a request, in bytes. Larger requests are rejected. A request contains at most two names. */
const MAX_REQUEST_BYTES = 4_096;
/** The kubelet's rate limit (`constants.go` in `pkg/kubelet/apis/podresources`). */
const RATE_LIMIT = { qps: 100, burst: 10 };

/** Listens on a Unix socket at a path that must not exist. Rejects if listening fails. */
export async function listenPodResources(path: string, parts: PodResourcesParts): Promise<{ close(): Promise<void> }> {
  const server = new Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES });
  const limit = new RateLimit(RATE_LIMIT, parts.clock);
  const { onRequest = () => () => {} } = parts;
  const createUnaryHandler = <Request>(
    [version, method]: Parameters<PodResourcesListener>,
    handleRequest: (request: Request) => Buffer,
  ): handleUnaryCall<Request, Buffer> => {
    return ({ request }, callback) => {
      if (!limit.tryTakeToken())
        return callback({ code: status.RESOURCE_EXHAUSTED, details: 'rejected by rate limit' });
      const reportFailure = onRequest(version, method);
      sendResponse(() => handleRequest(request), { callback, reportFailure });
    };
  };
  const activePods = () => nonTerminatedPods(parts.pods());
  const exclusiveResources = (pod: Pod) =>
    podResourcesWithSidecars(pod, {
      cpus: parts.cpus()?.assignments,
      memory: parts.memory()?.assignments,
      devices: parts.devices(),
      claims: parts.claims,
    });
  server.addService(V1, {
    list: createUnaryHandler(['v1', 'list'], () =>
      encodePods((parts.listsOnlyActivePods ? activePods() : parts.pods()).map(exclusiveResources)),
    ),
    get: createUnaryHandler(['v1', 'get'], (requestedPod: RequestedPod) =>
      encodePods([exclusiveResources(requirePod(activePods(), requestedPod))]),
    ),
    getAllocatableResources: createUnaryHandler(['v1', 'get_allocatable'], () => {
      const { cpuPolicy } = parts.cpus() ?? {};
      const { memoryPolicy } = parts.memory() ?? {};
      return encodeAllocatable(
        allocatableDevices(parts.devices()),
        cpuPolicy === undefined ? NO_CPUS : allocatableCpus(cpuPolicy),
        memoryPolicy === undefined ? [] : allocatableMemory(memoryPolicy),
      );
    }),
  });
  server.addService(V1_ALPHA1_SERVICE, {
    list: createUnaryHandler(['v1alpha1', 'list'], () =>
      encodePods(parts.pods().map((pod) => podResourcesWithoutSidecars(pod, parts.devices()))),
    ),
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error, port) =>
    error ? reject(error) : resolve(port),
  );
  await promise;
  return { close: async () => server.forceShutdown() };
}

interface ResponseCallbacks {
  readonly callback: Parameters<handleUnaryCall<unknown, Buffer>>[1];
  readonly reportFailure: () => void;
}

function sendResponse(encodeResponse: () => Buffer, { callback, reportFailure }: ResponseCallbacks): void {
  try {
    callback(null, encodeResponse());
  } catch (error) {
    reportFailure();
    callback({ code: status.UNKNOWN, details: error instanceof NotFound ? error.message : 'the answer has failed' });
  }
}

class NotFound extends Error {}

function requirePod(pods: readonly Pod[], { name, namespace }: RequestedPod): Pod {
  const matchingPod = pods.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (matchingPod === undefined) throw new NotFound(`pod ${name} in namespace ${namespace} not found`);
  return matchingPod;
}

interface ExclusiveResources extends ResourceAssignments {
  readonly devices: DevicePool | undefined;
  readonly claims: PodResourcesParts['claims'];
}

/** Returns the pod's containers with their devices, exclusive CPUs, memory and claims, sidecars first. */
function podResourcesWithSidecars(pod: Pod, { cpus, memory, devices, claims }: ExclusiveResources): PodResources {
  const { uid } = pod.metadata;
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  return {
    ...podResourcesWithoutSidecars(pod, devices),
    containers: [...sidecars, ...pod.spec.containers].map((container) => {
      const { name } = container;
      return {
        name,
        devices: containerDevices(devices, uid, name),
        cpus: (cpus && findAssignment(cpus, uid, name)?.cpus) ?? NO_CPUS,
        memory: (memory && findMemory(memory, uid, name)?.blocks) ?? [],
        claims: claims(pod, container),
      };
    }),
  };
}

/**
 * Returns the pod's regular containers. The v1alpha1 API reports devices without their NUMA nodes, and does not report
 * CPUs.
 */
const podResourcesWithoutSidecars = (
  { metadata: { name, namespace, uid }, spec }: Pod,
  devices: DevicePool | undefined,
): PodResources => ({
  name,
  namespace,
  containers: spec.containers.map((container) => ({
    name: container.name,
    devices: containerDevices(devices, uid, container.name).map(({ resource, id }) => ({ resource, id })),
    cpus: NO_CPUS,
    memory: [],
    claims: [],
  })),
});

/** Returns the devices of a container. A device is repeated for each of its NUMA nodes. */
const containerDevices = (pool: DevicePool | undefined, podUid: string, container: string): ListedDevice[] =>
  pool === undefined
    ? []
    : allocationsOf(pool, podUid, container).flatMap(({ resource, devicesByNode }) =>
        devicesByNode.flatMap(({ numaNode, ids }) =>
          ids.map((id) => ({ resource, id, numaNode: numaNode === NO_NUMA_NODE ? undefined : numaNode })),
        ),
      );

/** Returns the healthy devices. A device is repeated for each of its NUMA nodes. */
const allocatableDevices = ({ resources }: Pick<DevicePool, 'resources'> = { resources: [] }): ListedDevice[] =>
  resources.flatMap((resource) => {
    const healthyIds = new Set(healthyDevices(resource));
    return resource.devices
      .filter(({ id }) => healthyIds.has(id))
      .flatMap(({ id, numaNodes }): ListedDevice[] =>
        numaNodes.length === 0
          ? [{ resource: resource.name, id }]
          : numaNodes.map((numaNode) => ({ resource: resource.name, id, numaNode })),
      );
  });

const createMethod = <Request>(path: string, requestDeserialize: (bytes: Buffer) => Request) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestDeserialize,
  responseSerialize: (bytes: Buffer) => bytes,
  // The type requires this function, but only clients call it.
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: (bytes: Buffer) => bytes,
});

/** Decodes a request message that has no fields. */
const decodeEmptyRequest = () => ({});

const V1 = {
  list: createMethod('/v1.PodResourcesLister/List', decodeEmptyRequest),
  get: createMethod('/v1.PodResourcesLister/Get', decodeRequestedPod),
  getAllocatableResources: createMethod('/v1.PodResourcesLister/GetAllocatableResources', decodeEmptyRequest),
} satisfies ServiceDefinition;

const V1_ALPHA1_SERVICE = {
  list: createMethod('/v1alpha1.PodResourcesLister/List', decodeEmptyRequest),
} satisfies ServiceDefinition;
