/** Whether more pods and containers are to be started than can be at once: what can wait gives way to them. */
import type { Clock } from './clock.ts';
import type { RootActor } from './rootActor.ts';

/** Starts that were seen to make no progress for so long are none that anything gives way to. */
const STALLED_MS = 2_000;

/** Tells whether any wait for a slot of the start limiter while slots change hands, as far as one look after the other shows. */
export function startsInLine(root: Pick<RootActor, 'getSnapshot'>, clock: Pick<Clock, 'monotonic'>): () => boolean {
  let held: readonly unknown[] = [];
  let since = Number.NEGATIVE_INFINITY;
  return () => {
    const limiter = root.getSnapshot().children.startLimiter?.getSnapshot().context;
    if (limiter === undefined) return false;
    // A limiter makes a new list when a slot is taken or given back.
    if (limiter.held !== held) [held, since] = [limiter.held, clock.monotonic()];
    return limiter.queue.length > 0 && clock.monotonic() - since < STALLED_MS;
  };
}
