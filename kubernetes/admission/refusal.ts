/** Why a node does not take a pod, in a few words for people: what its status tells are the kubelet's. */

export interface HostPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Empty for every address of the node. */
  readonly hostIp: string;
}

/** Closed, as what becomes of a refused resize is decided by it. */
export type RefusalReason =
  | `OutOf${string}`
  | 'AppArmor'
  | 'Deferred'
  | 'Infeasible'
  | 'NodeAffinity'
  | 'NodeName'
  | 'NodePorts'
  | 'PodFeatureUnsupported'
  | 'PodOSNotSupported'
  | 'PodOSSelectorNodeLabelDoesNotMatch'
  | 'SupplementalGroupsPolicyNotSupported'
  | 'SysctlForbidden'
  | 'TaintToleration'
  | 'UnexpectedAdmissionError';

/** Why a node does not take a pod, as its status tells. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /** The same for people: what it asks for, and who has it. */
  readonly cause?: string;
  /** Of a resize that waits for room: what there is too little of, as the reason of a refused pod. */
  readonly lack?: RefusalReason;
}

/** A resource that a pod requests more of than is left; cpu in millicores, the others in whole units. */
export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
  /** The pods that hold the resource, largest amount first. */
  readonly holders: readonly { readonly pod: string; readonly amount: number }[];
}

/** The number of holders that are named. */
const NAMED_HOLDERS = 3;

const plural = (amount: string, one: string): string => `${amount} ${one}${amount === '1' ? '' : 's'}`;

const KIB = 1024;
const UNITS = ['Ki', 'Mi', 'Gi', 'Ti'] as const;

/** Bytes in the largest unit that leaves a number of some size: `512Mi`, `1.5Gi`. */
function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length, Math.max(0, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(KIB))));
  const unit = power === 0 ? '' : (UNITS[power - 1] ?? '');
  return `${Number((bytes / KIB ** power).toFixed(1))}${unit}`;
}

function amountOf(resource: string, amount: number): string {
  if (resource === 'cpu') return `${amount / 1000}`;
  const isBytes = resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');
  return isBytes ? bytesText(amount) : `${amount}`;
}

/** `requests 100 CPUs, but the node has 2`, or `requests 1 CPU, but 1.5 of the node's 2 are allocated (1.5 to pod db)`. */
export function shortageCause({ resource, requested, used, capacity, holders }: Shortage): string {
  if (resource === 'pods') return `the node allows ${plural(`${capacity}`, 'pod')} and already has ${used}`;
  const [amount, all] = [amountOf(resource, requested), amountOf(resource, capacity)];
  const asked = resource === 'cpu' ? plural(amount, 'CPU') : `${amount} of ${resource}`;
  if (requested > capacity) return `requests ${asked}, but the node has ${all}`;
  return `requests ${asked}, but ${amountOf(resource, used)} of the node's ${all} are allocated${holdersText(resource, holders)}`;
}

/** ` to pod db`, or ` (1 to pod db, 0.5 to pod web)`. */
function holdersText(resource: string, holders: Shortage['holders']): string {
  const [first, ...others] = holders;
  if (first === undefined) return '';
  if (others.length === 0) return ` to pod ${first.pod}`;
  const named = holders.slice(0, NAMED_HOLDERS).map(({ pod, amount }) => `${amountOf(resource, amount)} to pod ${pod}`);
  const rest = holders.length - named.length;
  return ` (${[...named, ...(rest > 0 ? [`the rest to ${plural(`${rest}`, 'other pod')}`] : [])].join(', ')})`;
}

/** `host port 8080/TCP is in use by pod web-node`. */
export function portCause({ port, protocol }: HostPort, { pod }: { readonly pod: string }): string {
  return `host port ${port}/${protocol} is in use by pod ${pod}`;
}
