/** What a state says of itself, for people: waiting is always visible. A state without `waitsFor` rests. */
export interface StateMeta {
  /** In words, what must happen for it to go on. */
  readonly waitsFor?: string;
  /** Which moment of the actor ends the wait. */
  readonly until?: 'retryAt' | 'stopBy' | 'pullBy' | 'deadline' | 'dueAt';
  /** How long the wait lasts from its beginning, in milliseconds, where it is always the same. */
  readonly afterMs?: number;
}

/**
 * What each atomic state is, for people and for colours: exactly one of these, the tags of its parents included. `working`
 * has asked and has no answer yet, `waiting` for a turn, a slot or a moment, `retrying` after a failure.
 */
export const STATE_TAGS = ['steady', 'working', 'waiting', 'retrying', 'done', 'failed', 'broken'] as const;

export type StateTag = (typeof STATE_TAGS)[number];

/** Whether a container that the runtime shows in this state has no process any more. */
export const hasEnded = (state: string): boolean => state === 'exited';

/** A state's value as one text, dotted from the outside in: `launching.creating`. */
export function statePath(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([state, inner]) => `${state}.${statePath(inner)}`)
    .join(' ');
}
