/** Whether pods are on their way: what can wait gives way to them on a node that is busy with that. */
import type { Clock } from './clock.ts';
import type { RootActor } from './rootActor.ts';

/** Starts that were seen to make no progress for so long are none that anything gives way to. */
const STALLED_MS = 2_000;

/** Tells whether slots of the start limiter are held and change hands, as far as one look after the other shows. */
export function podsStarting(root: Pick<RootActor, 'getSnapshot'>, clock: Pick<Clock, 'monotonic'>): () => boolean {
  let held: readonly unknown[] = [];
  let since = Number.NEGATIVE_INFINITY;
  return () => {
    const now = root.getSnapshot().children.startLimiter?.getSnapshot().context.held ?? [];
    // A limiter makes a new list when a slot is taken or given back.
    if (now !== held) [held, since] = [now, clock.monotonic()];
    return held.length > 0 && clock.monotonic() - since < STALLED_MS;
  };
}
