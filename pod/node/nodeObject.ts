/** The core/v1 Node that an agent without an API server makes of what it knows: what `get nodes` and `describe node` show. */
import type { Taint } from '../admission/node.ts';
import { formatQuantity } from '../api/quantity.ts';
import { rfc3339 } from '../api/rfc3339.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import type { Capacity } from '../resources/requests.ts';
import type { RuntimeView } from '../show/actorNode.ts';

/** What a host says of itself, under the names of the Node's status. */
export interface HostIdentity {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  readonly kubeletVersion: string;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

export interface NodeObject {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly creationTimestamp: string;
  };
  readonly spec: { readonly providerID?: string; readonly taints?: readonly Taint[] };
  readonly status: {
    readonly capacity: ResourceList;
    readonly allocatable: ResourceList;
    readonly conditions: readonly NodeCondition[];
    readonly addresses: readonly { readonly type: 'InternalIP' | 'Hostname'; readonly address: string }[];
    readonly nodeInfo: HostIdentity & { readonly operatingSystem: 'linux'; readonly containerRuntimeVersion: string };
  };
}

/** What the agent knows of its node; times are milliseconds since the epoch. */
export interface NodeKnowledge {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Capacity;
  readonly allocatable: Capacity;
  /** All but Ready, if any are known. */
  readonly conditions?: readonly NodeCondition[] | undefined;
  readonly addresses: readonly string[];
  /** As a cloud knows the node; empty for none. */
  readonly providerId?: string;
  readonly host: HostIdentity;
  readonly runtime: RuntimeView;
  /** Since when it drains; absent while it does not. */
  readonly drainsSince?: number;
  /** When the agent started: nobody has registered the node before. */
  readonly startedAt: number;
  readonly now: number;
}

const READY = 'Ready';

/** The Node as a kubelet would register it; its uid is its name, as events refer to it. */
export function nodeObject(known: NodeKnowledge): NodeObject {
  const { name, labels, taints, host, runtime, addresses, providerId } = known;
  const version = runtime.name === '' ? '' : `${runtime.name}://${runtime.version.replace(/^v/, '')}`;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, labels, creationTimestamp: rfc3339(known.startedAt) },
    spec: { ...(providerId ? { providerID: providerId } : {}), ...(taints.length > 0 ? { taints } : {}) },
    status: {
      capacity: amountsOf(known.capacity),
      allocatable: amountsOf(known.allocatable),
      conditions: [...(known.conditions ?? []).filter(({ type }) => type !== READY), readyCondition(known)],
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
        { type: 'Hostname', address: name },
      ],
      nodeInfo: { ...host, operatingSystem: 'linux', containerRuntimeVersion: version },
    },
  };
}

/** The node is ready as long as its runtime is, and until it drains. */
function readyCondition(known: NodeKnowledge): NodeCondition {
  const { runtime, startedAt, drainsSince, now } = known;
  const notReadyMessage = notReadyMessageOf(known);
  const since = runtime.ready && drainsSince !== undefined ? drainsSince : (runtime.since ?? startedAt);
  return {
    type: READY,
    status: notReadyMessage === undefined ? 'True' : 'False',
    lastHeartbeatTime: rfc3339(now),
    lastTransitionTime: rfc3339(since),
    reason: notReadyMessage === undefined ? 'KubeletReady' : 'KubeletNotReady',
    message: notReadyMessage ?? 'kubelet is posting ready status',
  };
}

/** Why it is not ready, in the kubelet's words where it has some. */
function notReadyMessageOf({ runtime: { ready, since, message }, drainsSince }: NodeKnowledge): string | undefined {
  if (!ready && since === undefined) return 'container runtime status check may not have completed yet';
  if (!ready) return message ?? 'the container runtime gave no reason why it is not ready';
  return drainsSince === undefined ? undefined : 'node is shutting down';
}

const MILLI = 1_000_000n;
const WHOLE = 1_000_000_000n;

function amountsOf({ cpuMillis, memoryBytes, pods, extra = {} }: Capacity): ResourceList {
  const bytes = (amount: number) => formatQuantity(BigInt(Math.trunc(amount)) * WHOLE, 'binary');
  const others = Object.entries(extra).map(([resource, amount]) => [resource, bytes(amount)] as const);
  const all = [
    ['cpu', formatQuantity(BigInt(Math.trunc(cpuMillis)) * MILLI)] as const,
    ['memory', bytes(memoryBytes)] as const,
    ['pods', String(pods)] as const,
    ...others,
  ];
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}
