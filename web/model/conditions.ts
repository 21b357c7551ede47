/** The conditions in a pod's status. */

export interface Condition {
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  /** Whether the condition has the status that a healthy pod has. */
  readonly isWell: boolean;
  /** Reason and message. Empty if the condition has neither. */
  readonly why: string;
  /** Time of the last transition. */
  readonly at: number | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Conditions whose status is `False` in a healthy pod. */
const BAD: ReadonlySet<string> = new Set(['DisruptionTarget', 'PodResizePending', 'PodResizeInProgress']);

/** Returns the conditions of a status. Malformed entries are omitted. */
export function conditionsOf(status: unknown): Condition[] {
  const all = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return all.filter(isObject).map(({ type, status: is, reason, message, lastTransitionTime }) => {
    const at = Date.parse(textOf(lastTransitionTime));
    const why = [textOf(reason), textOf(message)].filter((each) => each !== '').join(': ');
    return {
      type: textOf(type),
      status: textOf(is) || 'Unknown',
      isWell: is === (BAD.has(textOf(type)) ? 'False' : 'True'),
      why,
      at: Number.isNaN(at) ? undefined : at,
    };
  });
}
