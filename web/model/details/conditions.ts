import { isObject } from '../../../base/values/isObject.ts';
/** Reads the conditions in a pod's status. */

export interface Condition {
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  /** Whether the condition's status is that of a healthy pod. */
  readonly isHealthy: boolean;
  /** The reason and the message. Empty if the condition has neither. */
  readonly explanation: string;
  /** Time of the last transition. */
  readonly at: number | undefined;
}

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Conditions whose status is `False` in a healthy pod. */
const UNHEALTHY_IF_TRUE: ReadonlySet<string> = new Set(['DisruptionTarget', 'PodResizePending', 'PodResizeInProgress']);

/** Returns the conditions in a pod's status. Malformed entries are omitted. */
export function conditionsOf(status: unknown): Condition[] {
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.filter(isObject).map(({ type, status: conditionStatus, reason, message, lastTransitionTime }) => {
    const at = Date.parse(textOrEmpty(lastTransitionTime));
    const explanation = [textOrEmpty(reason), textOrEmpty(message)].filter((each) => each !== '').join(': ');
    return {
      type: textOrEmpty(type),
      status: textOrEmpty(conditionStatus) || 'Unknown',
      isHealthy: conditionStatus === (UNHEALTHY_IF_TRUE.has(textOrEmpty(type)) ? 'False' : 'True'),
      explanation,
      at: Number.isNaN(at) ? undefined : at,
    };
  });
}
