/**
 * Spreads bursts of work over turns of the event loop. A thousand containers can receive a thousand responses at once.
 * If all of them took effect in one turn, every probe, request and lease renewal would have to wait.
 */

export interface TurnLimiter {
  /**
   * Returns undefined if the caller may start immediately, otherwise a promise that resolves when the caller may start.
   * Waiting callers start in the order of their calls, and no later caller overtakes them.
   */
  acquire(): Promise<void> | undefined;
}

interface TurnLimiterOptions {
  /** Returns a time in milliseconds that never decreases. */
  readonly monotonic: () => number;
  /** Resolves after all other callbacks of the event loop have run. */
  readonly yieldToEventLoop: () => Promise<void>;
  /**
   * Maximum number of callers that may start in a turn. Any further callers wait. By default, only the time per turn is
   * limited.
   */
  readonly maxPerTurn?: number | undefined;
}

/**
 * Time budget of a turn in milliseconds. No more callers start once it is used up, but the caller that uses it up may
 * exceed it.
 */
const MAX_TURN_MS = 10;

export function createTurnLimiter({
  monotonic,
  yieldToEventLoop,
  maxPerTurn = Number.POSITIVE_INFINITY,
}: TurnLimiterOptions): TurnLimiter {
  const waitingCallers: (() => void)[] = [];
  /** Time until which callers may start in the current turn. Undefined if no caller has started in this turn. */
  let turnDeadline: number | undefined;
  let startedCallerCount = 0;
  /** Whether waiting callers are being started. Later callers must not overtake them. */
  let isReleasing = false;
  const startTurn = () => {
    turnDeadline = monotonic() + MAX_TURN_MS;
    startedCallerCount = 0;
    void yieldToEventLoop().then(releaseCallers);
  };
  const canStartMore = () => startedCallerCount < maxPerTurn && monotonic() < (turnDeadline ?? 0);
  const releaseCallers = async () => {
    turnDeadline = undefined;
    if (waitingCallers.length === 0) return;
    startTurn();
    isReleasing = true;
    while (waitingCallers.length > 0 && canStartMore()) {
      startedCallerCount += 1;
      waitingCallers.shift()?.();
      // Let the caller run up to its next `await`, so that its run time counts towards the turn.
      await Promise.resolve();
    }
    isReleasing = false;
  };
  return {
    acquire: () => {
      if (turnDeadline === undefined) startTurn();
      if (waitingCallers.length === 0 && !isReleasing && canStartMore()) {
        startedCallerCount += 1;
        return undefined;
      }
      return new Promise((resolve) => waitingCallers.push(resolve));
    },
  };
}
