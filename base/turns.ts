/**
 * Shares of the event loop. A thousand containers can have a thousand answers at once; if all of them took effect in one turn
 * of the event loop, no probe, request or renewal of the lease would have its turn meanwhile.
 */

export interface Turns {
  /**
   * Returns undefined if what is about to be done may be done at once, otherwise a promise that resolves when it may. What
   * waits is let in in its order, and nothing overtakes it.
   */
  next(): Promise<void> | undefined;
}

interface TurnsOptions {
  /** Milliseconds since some moment. */
  readonly monotonic: () => number;
  /** Resolves when everything else that waits for the event loop has had its turn. */
  readonly nextTurn: () => Promise<void>;
}

/** Time after which a turn lets nothing more in, in milliseconds. What it has let in by then may take longer. */
const SHARE_MS = 10;
/** Maximum number of things that waited and are let in in one turn. */
const RELEASED = 8;

export function createTurns({ monotonic, nextTurn }: TurnsOptions): Turns {
  const waiting: (() => void)[] = [];
  /** When the share of the present turn is used up. Undefined if nothing has been let in in the present turn. */
  let until: number | undefined;
  const begin = (shareMs: number) => {
    until = monotonic() + shareMs;
    void nextTurn().then(release);
  };
  const release = () => {
    until = undefined;
    if (waiting.length === 0) return;
    // Otherwise a call in this turn would overtake the ones that are released now.
    begin(0);
    for (const letIn of waiting.splice(0, RELEASED)) letIn();
  };
  return {
    next: () => {
      if (until === undefined) begin(SHARE_MS);
      if (waiting.length === 0 && monotonic() < (until ?? 0)) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
