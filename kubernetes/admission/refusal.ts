/**
 * Reasons for refusing a pod. The pod's status uses the kubelet's wording, while the explanations for users are more
 * specific.
 */
import { isHugePages } from '../api/validation/resources/resourceNames.ts';

export interface HostPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** Empty if the port is bound on all addresses of the node. */
  readonly hostIp: string;
}

/** Reason for a refusal. The type is closed because the handling of a refused resize depends on the reason. */
export type RefusalReason =
  | `OutOf${string}`
  | 'AppArmor'
  | 'Deferred'
  | 'Evicted'
  | 'Infeasible'
  | 'NodeAffinity'
  | 'NodeName'
  | 'NodePorts'
  | 'NodeShutdown'
  | 'PodFeatureUnsupported'
  | 'PodOSNotSupported'
  | 'PodOSSelectorNodeLabelDoesNotMatch'
  | 'SMTAlignmentError'
  | 'SupplementalGroupsPolicyNotSupported'
  | 'SysctlForbidden'
  | 'TaintToleration'
  | 'TopologyAffinityError'
  | 'UnexpectedAdmissionError';

/** Refusal of a pod, as reported in its status. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /** Explanation for users. It may name the requested resource and the pods that use it. */
  readonly cause?: string;
  /** Why a deferred resize was rejected. Undefined for other refusals. */
  readonly rejectionReason?: RefusalReason;
}

/** Shortage of a resource. The amounts are in millicores for CPU and in whole units for other resources. */
export interface Shortage {
  readonly resource: string;
  readonly requestedAmount: number;
  readonly usedAmount: number;
  readonly capacity: number;
  /** The pods that use the resource, sorted by amount in descending order. */
  readonly holders: readonly { readonly pod: string; readonly amount: number }[];
}

/** Maximum number of pods that an explanation names. */
const MAX_NAMED_HOLDERS = 3;

const pluralize = (amount: string, noun: string): string => `${amount} ${noun}${amount === '1' ? '' : 's'}`;

const KIB = 1024;
const UNITS = ['Ki', 'Mi', 'Gi', 'Ti'] as const;

/** Formats a number of bytes in the largest unit that yields a value of at least 1, e.g. `512Mi` or `1.5Gi`. */
function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length, Math.max(0, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(KIB))));
  const unit = power === 0 ? '' : (UNITS[power - 1] ?? '');
  return `${Number((bytes / KIB ** power).toFixed(1))}${unit}`;
}

function formatAmount(resource: string, amount: number): string {
  if (resource === 'cpu') return `${amount / 1000}`;
  const isBytes = resource === 'memory' || resource === 'ephemeral-storage' || isHugePages(resource);
  return isBytes ? formatBytes(amount) : `${amount}`;
}

/**
 * Explains a shortage, e.g. `requests 100 CPUs, but the node has 2` or `requests 1 CPU, but 1.5 of the node's 2 are
 * allocated (1.5 to pod db)`.
 */
export function shortageCause({ resource, requestedAmount, usedAmount, capacity, holders }: Shortage): string {
  if (resource === 'pods') return `the node allows ${pluralize(`${capacity}`, 'pod')} and already has ${usedAmount}`;
  const [amount, total] = [formatAmount(resource, requestedAmount), formatAmount(resource, capacity)];
  const requestedText = resource === 'cpu' ? pluralize(amount, 'CPU') : `${amount} of ${resource}`;
  if (requestedAmount > capacity) return `requests ${requestedText}, but the node has ${total}`;
  return `requests ${requestedText}, but ${formatAmount(resource, usedAmount)} of the node's ${total} are allocated${formatHolders(resource, holders)}`;
}

/** Lists the pods that use a resource, e.g. ` to pod db` or ` (1 to pod db, 0.5 to pod web)`. */
function formatHolders(resource: string, holders: Shortage['holders']): string {
  const [first, ...otherHolders] = holders;
  if (first === undefined) return '';
  if (otherHolders.length === 0) return ` to pod ${first.pod}`;
  const namedHolders = holders
    .slice(0, MAX_NAMED_HOLDERS)
    .map(({ pod, amount }) => `${formatAmount(resource, amount)} to pod ${pod}`);
  const omittedCount = holders.length - namedHolders.length;
  return ` (${[...namedHolders, ...(omittedCount > 0 ? [`the rest to ${pluralize(`${omittedCount}`, 'other pod')}`] : [])].join(', ')})`;
}

/** Explains a port conflict, e.g. `host port 8080/TCP is in use by pod web-node`. */
export function portCause({ port, protocol }: HostPort, { pod }: { readonly pod: string }): string {
  return `host port ${port}/${protocol} is in use by pod ${pod}`;
}
