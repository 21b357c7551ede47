/** The conditions in a pod's status. */

/** One condition. */
export interface Condition {
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  /** It is as it is of a pod that is well. */
  readonly isWell: boolean;
  /** Its reason and message; empty where it has none. */
  readonly why: string;
  /** When it changed. */
  readonly at: number | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What is not well where they are true. */
const BAD: ReadonlySet<string> = new Set(['DisruptionTarget', 'PodResizePending', 'PodResizeInProgress']);

/** The conditions of a status; what is none is left out. */
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
