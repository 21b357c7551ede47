/** The conditions in a pod's status. */

/** One condition. */
export interface Condition {
  readonly type: string;
  readonly isTrue: boolean;
  /** Its reason and message; empty where it has none. */
  readonly why: string;
  /** When it changed. */
  readonly at: number | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The conditions of a status; what is none is left out. */
export function conditionsOf(status: unknown): Condition[] {
  const all = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return all.filter(isObject).map(({ type, status: is, reason, message, lastTransitionTime }) => {
    const at = Date.parse(textOf(lastTransitionTime));
    const why = [textOf(reason), textOf(message)].filter((each) => each !== '').join(': ');
    return { type: textOf(type), isTrue: is === 'True', why, at: Number.isNaN(at) ? undefined : at };
  });
}
