/** Builds the core/v1 Node that the agent registers and that `get nodes` and `describe node` display. */
import type { Taint } from '../admission/node.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { formatQuantity } from '../api/values/quantity.ts';
import { rfc3339 } from '../api/values/rfc3339.ts';
import type { Capacity } from '../resources/requests.ts';
import type { NodeAddress } from './alternativeNames.ts';
import { type CloudSettings, cloudAnnotations } from './cloud.ts';
import { DECLARED_FEATURES } from './declaredFeatures.ts';
import { type NodeCondition, pressureConditions } from './nodeConditions.ts';
import { joinReasons, type NodeHealth, notReadyReasons } from './readiness.ts';
import type { RuntimeHandler } from './runtimeReport.ts';

/** Identity of the host, with the field names of the Node's status. */
export interface HostIdentity {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  readonly kubeletVersion: string;
  /** Swap capacity in bytes. Undefined on a host without swap. */
  readonly swap?: { readonly capacity: number };
}

/** An image in the Node's status. */
export interface NodeImage {
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface NodeObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly creationTimestamp: string;
  };
  readonly spec: { readonly providerID?: string; readonly taints?: readonly Taint[] };
  readonly status: {
    readonly capacity: ResourceList;
    readonly allocatable: ResourceList;
    readonly conditions: readonly NodeCondition[];
    readonly addresses: readonly NodeAddress[];
    readonly daemonEndpoints?: { readonly kubeletEndpoint: { readonly Port: number } };
    readonly nodeInfo: HostIdentity & { readonly operatingSystem: 'linux'; readonly containerRuntimeVersion: string };
    readonly images?: readonly NodeImage[];
    readonly runtimeHandlers?: readonly RuntimeHandler[];
    readonly features?: { readonly supplementalGroupsPolicy: boolean };
    readonly declaredFeatures: readonly string[];
  };
}

/** The agent's information about its node. Timestamps are in milliseconds since the epoch. */
export interface NodeState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Capacity;
  readonly allocatable: Capacity;
  /** All conditions except Ready. Undefined if none have been determined yet. */
  readonly conditions?: readonly NodeCondition[] | undefined;
  readonly addresses: readonly string[];
  /** ID of the node at its cloud provider. Empty if there is none. */
  readonly providerId?: string;
  /** Settings of the external cloud provider. Undefined if there is none. */
  readonly cloud?: CloudSettings | undefined;
  readonly host: HostIdentity;
  readonly health: NodeHealth & { readonly runtime: { readonly name: string; readonly version: string } };
  /** Time at which the Ready condition last changed. */
  readonly readySince: number;
  /** Images on the node. Undefined if they are not reported. */
  readonly images?: readonly NodeImage[];
  /** Port of the node's own API. Undefined or 0 if the node does not serve the API. */
  readonly servedPort?: number;
  /** Start time of the agent. It is also the creation time of a node that is not registered. */
  readonly startedAt: number;
  readonly now: number;
}

/**
 * Returns the Node as the kubelet would register it. Its UID is its name, because events contain the node's name in the
 * UID field.
 */
export function nodeObject(state: NodeState): NodeObject {
  const { name, labels, taints, host, health, providerId, cloud, startedAt, now } = state;
  const addresses = cloud?.reportsAddress === false ? [] : state.addresses;
  const annotations = cloudAnnotations(cloud);
  const conditions = pressureConditions(state.conditions ?? [], { since: rfc3339(startedAt), now: rfc3339(now) });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: name,
      labels,
      creationTimestamp: rfc3339(startedAt),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: { ...(providerId ? { providerID: providerId } : {}), ...(taints.length > 0 ? { taints } : {}) },
    status: {
      capacity: toResourceList(state.capacity),
      allocatable: toResourceList(state.allocatable),
      conditions: [...conditions, readyCondition(state)],
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
        { type: 'Hostname', address: name },
      ],
      ...(state.servedPort ? { daemonEndpoints: { kubeletEndpoint: { Port: state.servedPort } } } : {}),
      nodeInfo: { ...host, operatingSystem: 'linux', containerRuntimeVersion: runtimeVersion(health.runtime) },
      ...(state.images && state.images.length > 0 ? { images: state.images } : {}),
      ...runtimeFields(health.runtime),
      declaredFeatures: DECLARED_FEATURES,
    },
  };
}

/** Returns the runtime version, or `Unknown` if the runtime does not respond, as in the kubelet. */
function runtimeVersion({ name, version, isSilent }: NodeState['health']['runtime']): string {
  if (name === '') return '';
  return `${name}://${isSilent ? 'Unknown' : version.replace(/^v/, '')}`;
}

const runtimeFields = ({ handlers = [], features }: NodeHealth['runtime']) => ({
  ...(handlers.length > 0 ? { runtimeHandlers: handlers } : {}),
  ...(features === undefined ? {} : { features }),
});

/** Returns the Ready condition. It must be the last one in the list, because some clients depend on its position. */
function readyCondition({ health, readySince, now }: NodeState): NodeCondition {
  const reasons = notReadyReasons(health, now);
  const isReady = reasons.length === 0;
  return {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    lastHeartbeatTime: rfc3339(now),
    lastTransitionTime: rfc3339(readySince),
    reason: isReady ? 'KubeletReady' : 'KubeletNotReady',
    message: isReady ? 'kubelet is posting ready status' : joinReasons(reasons),
  };
}

const NANOS_PER_MILLI = 1_000_000n;
const NANOS_PER_UNIT = 1_000_000_000n;

function toResourceList({ cpuMillis, memoryBytes, pods, extra = {} }: Capacity): ResourceList {
  const formatBytes = (amount: number) => formatQuantity(BigInt(Math.trunc(amount)) * NANOS_PER_UNIT, 'binary');
  const otherAmounts = Object.entries(extra).map(([resource, amount]) => [resource, formatBytes(amount)] as const);
  const amounts = [
    ['cpu', formatQuantity(BigInt(Math.trunc(cpuMillis)) * NANOS_PER_MILLI)] as const,
    ['memory', formatBytes(memoryBytes)] as const,
    ['pods', String(pods)] as const,
    ...otherAmounts,
  ];
  return Object.fromEntries(amounts.sort(([a], [b]) => (a < b ? -1 : 1)));
}
