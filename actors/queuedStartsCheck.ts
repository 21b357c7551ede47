import type { Clock } from '../base/time/clock.ts';
import type { RootActor } from './node/rootActor.ts';

/**
 * Queued pod starts that make no progress for this long are considered stalled. Other work then no longer yields to
 * them.
 */
const STALLED_MS = 2_000;

/**
 * Returns a function that reports whether pod starts are queued, so less urgent work can yield to them. Once any start
 * has been queued, the function returns true until all slots are free, because the last starts are still in progress
 * when the queue is empty. It returns false if the occupied slots have not changed for `STALLED_MS`, which it checks
 * whenever it is called.
 */
export function createQueuedStartsCheck(
  root: Pick<RootActor, 'getSnapshot'>,
  clock: Pick<Clock, 'monotonic'>,
): () => boolean {
  let usedSlots: readonly unknown[] = [];
  let lastProgressAt = Number.NEGATIVE_INFINITY;
  let hasQueue = false;
  return () => {
    const limiter = root.getSnapshot().children.startLimiter?.getSnapshot().context;
    if (limiter === undefined) return false;
    // A different list means progress, because the limiter creates a new list whenever a slot is acquired or released.
    if (limiter.heldSlots !== usedSlots) [usedSlots, lastProgressAt] = [limiter.heldSlots, clock.monotonic()];
    // When the queue becomes empty, the last starts have their slots but are still in progress.
    hasQueue = limiter.queue.length > 0 || (hasQueue && usedSlots.length > 0);
    return hasQueue && clock.monotonic() - lastProgressAt < STALLED_MS;
  };
}
