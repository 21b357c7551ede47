/**
 * Spreads bursts of work over turns of the event loop. A thousand containers can have a thousand responses at once. If all of
 * them took effect in one turn, every probe, request and lease renewal would have to wait.
 */

export interface Turns {
  /**
   * Returns undefined if the caller may start at once, otherwise a promise that resolves when it may. Waiting callers start in
   * the order of their calls, and no later caller overtakes them.
   */
  next(): Promise<void> | undefined;
}

interface TurnsOptions {
  /** Returns a time in milliseconds that never goes back. */
  readonly monotonic: () => number;
  /** Resolves after all other callbacks of the event loop have run. */
  readonly nextTurn: () => Promise<void>;
  /** Maximum number of callers that may start in a turn before the others wait. By default only their time is limited. */
  readonly maxPerTurn?: number | undefined;
}

/** Time after which no more callers start in a turn, in milliseconds. The last one may take longer. */
const SHARE_MS = 10;
/** Maximum number of waiting callers that start in one turn. */
const MAX_RELEASED = 8;

export function createTurns({ monotonic, nextTurn, maxPerTurn = Number.POSITIVE_INFINITY }: TurnsOptions): Turns {
  const waiting: (() => void)[] = [];
  /** Time until which callers may start in the current turn. Undefined if none has started in it. */
  let until: number | undefined;
  let startedInTurn = 0;
  const startTurn = (shareMs: number) => {
    until = monotonic() + shareMs;
    startedInTurn = 0;
    void nextTurn().then(release);
  };
  const release = () => {
    until = undefined;
    if (waiting.length === 0) return;
    // A share of 0 keeps later calls of this turn from overtaking the callers released now.
    startTurn(0);
    for (const start of waiting.splice(0, MAX_RELEASED)) start();
  };
  return {
    next: () => {
      if (until === undefined) startTurn(SHARE_MS);
      if (waiting.length === 0 && startedInTurn < maxPerTurn && monotonic() < (until ?? 0)) {
        startedInTurn += 1;
        return undefined;
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
