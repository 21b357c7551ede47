/** What a state says of itself, for people: waiting is always visible. A state without `waitsFor` rests. */
export interface StateMeta {
  /** In words, what must happen for it to go on. */
  readonly waitsFor?: string;
  /** Which moment of the actor ends the wait. */
  readonly until?: 'retryAt' | 'stopBy' | 'pullBy' | 'deadline' | 'dueAt';
  /** How long the wait lasts from its beginning, in milliseconds, where it is always the same. */
  readonly afterMs?: number;
}

/** Whether a container that the runtime shows in this state has no process any more. */
export const hasEnded = (state: string): boolean => state === 'exited';

/** A state's value as one text, dotted from the outside in: `launching.creating`. */
export function statePath(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([state, inner]) => `${state}.${statePath(inner)}`)
    .join(' ');
}
