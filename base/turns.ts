/**
 * Spreads bursts of work over turns of the event loop. A thousand containers can receive a thousand responses at once.
 * If all of them took effect in one turn, every probe, request and lease renewal would have to wait.
 */

export interface Turns {
  /**
   * Returns undefined if the caller may start at once, otherwise a promise that resolves when the caller may start.
   * Waiting callers start in the order of their calls, and no later caller overtakes them.
   */
  next(): Promise<void> | undefined;
}

interface TurnsOptions {
  /** Returns a time in milliseconds that never goes back. */
  readonly monotonic: () => number;
  /** Resolves after all other callbacks of the event loop have run. */
  readonly nextTurn: () => Promise<void>;
  /**
   * Maximum number of callers that may start in a turn before the others wait. By default, only the time per turn is
   * limited.
   */
  readonly maxPerTurn?: number | undefined;
}

/**
 * Time after which no more callers start in a turn, in milliseconds. The last caller of a turn may exceed this time.
 */
const SHARE_MS = 10;

export function createTurns({ monotonic, nextTurn, maxPerTurn = Number.POSITIVE_INFINITY }: TurnsOptions): Turns {
  const waiting: (() => void)[] = [];
  /** Time until which callers may start in the current turn. Undefined if none has started in it. */
  let until: number | undefined;
  let startedInTurn = 0;
  /** Whether waiting callers are being started, in which case later callers must not overtake them. */
  let isReleasing = false;
  const startTurn = () => {
    until = monotonic() + SHARE_MS;
    startedInTurn = 0;
    void nextTurn().then(release);
  };
  const hasShare = () => startedInTurn < maxPerTurn && monotonic() < (until ?? 0);
  const release = async () => {
    until = undefined;
    if (waiting.length === 0) return;
    startTurn();
    isReleasing = true;
    while (waiting.length > 0 && hasShare()) {
      startedInTurn += 1;
      waiting.shift()?.();
      // Resolves once the caller has run up to its next wait, so that its time counts.
      await Promise.resolve();
    }
    isReleasing = false;
  };
  return {
    next: () => {
      if (until === undefined) startTurn();
      if (waiting.length === 0 && !isReleasing && hasShare()) {
        startedInTurn += 1;
        return undefined;
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
