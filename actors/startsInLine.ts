/** Whether more starts are due than there are slots for them: what can wait gives way to them. */
import type { Clock } from '../base/clock.ts';
import type { RootActor } from './node/rootActor.ts';

/** Starts that were seen to make no progress for so long are none that anything gives way to. */
const STALLED_MS = 2_000;

/**
 * Tells whether starts wait for a slot of the start limiter while slots change hands, and from then on until all slots
 * are free: as far as one look after the other shows.
 */
export function startsInLine(root: Pick<RootActor, 'getSnapshot'>, clock: Pick<Clock, 'monotonic'>): () => boolean {
  let held: readonly unknown[] = [];
  let since = Number.NEGATIVE_INFINITY;
  let isInLine = false;
  return () => {
    const limiter = root.getSnapshot().children.startLimiter?.getSnapshot().context;
    if (limiter === undefined) return false;
    // A limiter makes a new list when a slot is taken or given back.
    if (limiter.held !== held) [held, since] = [limiter.held, clock.monotonic()];
    // The last of many have their slots when they wait no more, and yet have to start.
    isInLine = limiter.queue.length > 0 || (isInLine && held.length > 0);
    return isInLine && clock.monotonic() - since < STALLED_MS;
  };
}
