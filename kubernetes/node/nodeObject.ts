/** The core/v1 Node that an agent makes of what it knows: what it registers, and what `get nodes` and `describe node` show. */
import type { Taint } from '../admission/node.ts';
import { formatQuantity } from '../api/quantity.ts';
import { rfc3339 } from '../api/rfc3339.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import type { Capacity } from '../resources/requests.ts';
import type { NodeAddress } from './alternativeNames.ts';
import { cloudAnnotations, type OfCloud } from './cloud.ts';
import { DECLARED_FEATURES } from './declaredFeatures.ts';
import { type NodeCondition, pressureConditions } from './nodeConditions.ts';
import { type NodeHealth, notReadyReasons, reasonsText } from './readiness.ts';
import type { RuntimeHandler } from './runtimeReport.ts';

/** What a host says of itself, under the names of the Node's status. */
export interface HostIdentity {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly architecture: string;
  readonly kubeletVersion: string;
  /** Absent of a host without swap; in bytes. */
  readonly swap?: { readonly capacity: number };
}

/** An image as a Node's status lists it. */
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
  /** Absent: no cloud's controller tells its addresses. */
  readonly cloud?: OfCloud | undefined;
  readonly host: HostIdentity;
  readonly health: NodeHealth & { readonly runtime: { readonly name: string; readonly version: string } };
  /** Since when it is ready, or is not. */
  readonly readySince: number;
  /** Absent: they are not told. */
  readonly images?: readonly NodeImage[];
  /** Where it serves its own API; absent, or 0: it serves none. */
  readonly servedPort?: number;
  /** When the agent started: nobody has registered the node before. */
  readonly startedAt: number;
  readonly now: number;
}

/** The Node as a kubelet would register it; its uid is its name, as events refer to it. */
export function nodeObject(known: NodeKnowledge): NodeObject {
  const { name, labels, taints, host, health, providerId, cloud, startedAt, now } = known;
  const addresses = cloud?.saysAddress === false ? [] : known.addresses;
  const annotations = cloudAnnotations(cloud);
  const conditions = pressureConditions(known.conditions ?? [], { since: rfc3339(startedAt), now: rfc3339(now) });
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
      capacity: amountsOf(known.capacity),
      allocatable: amountsOf(known.allocatable),
      conditions: [...conditions, readyCondition(known)],
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
        { type: 'Hostname', address: name },
      ],
      ...(known.servedPort ? { daemonEndpoints: { kubeletEndpoint: { Port: known.servedPort } } } : {}),
      nodeInfo: { ...host, operatingSystem: 'linux', containerRuntimeVersion: versionOf(health.runtime) },
      ...(known.images && known.images.length > 0 ? { images: known.images } : {}),
      ...runtimeFields(health.runtime),
      declaredFeatures: DECLARED_FEATURES,
    },
  };
}

/** As in a kubelet that of a runtime that does not answer is not known; its name stays. */
function versionOf({ name, version, isSilent }: NodeKnowledge['health']['runtime']): string {
  if (name === '') return '';
  return `${name}://${isSilent ? 'Unknown' : version.replace(/^v/, '')}`;
}

const runtimeFields = ({ handlers = [], features }: NodeHealth['runtime']) => ({
  ...(handlers.length > 0 ? { runtimeHandlers: handlers } : {}),
  ...(features === undefined ? {} : { features }),
});

/** As other clients rely on it, it is the last of the conditions. */
function readyCondition({ health, readySince, now }: NodeKnowledge): NodeCondition {
  const reasons = notReadyReasons(health, now);
  const isReady = reasons.length === 0;
  return {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    lastHeartbeatTime: rfc3339(now),
    lastTransitionTime: rfc3339(readySince),
    reason: isReady ? 'KubeletReady' : 'KubeletNotReady',
    message: isReady ? 'kubelet is posting ready status' : reasonsText(reasons),
  };
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
