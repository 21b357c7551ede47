/** Whether pods are on their way: what can wait gives way to them on a node that is busy with that. */
import type { Clock } from './clock.ts';
import type { RootActor } from './rootActor.ts';

/** So long after the last start began or ended those that are left do not get on, and nothing gives way to them. */
const STALLED_MS = 2_000;

/** Tells whether slots of the start limiter are held, and pass on. */
export function podsStarting(root: Pick<RootActor, 'getSnapshot'>, clock: Pick<Clock, 'monotonic'>): () => boolean {
  let held: readonly unknown[] = [];
  let since = Number.NEGATIVE_INFINITY;
  return () => {
    const now = root.getSnapshot().children.startLimiter?.getSnapshot().context.held ?? [];
    // A limiter makes a new list of each slot that is taken or given back.
    if (now !== held) [held, since] = [now, clock.monotonic()];
    return held.length > 0 && clock.monotonic() - since < STALLED_MS;
  };
}
