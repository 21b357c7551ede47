import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../actors/clock.ts';

/** How long nothing may have changed before memory is given back, and how seldom that is done at most. */
const QUIET_MS = 5_000;
const SELDOM_MS = 60_000;

/**
 * Gives back what a burst of changes left behind, once they are over: V8 itself would wait for the next burst.
 * `subscribe` tells of each change; the answer ends it.
 */
export function releaseWhenQuiet(
  subscribe: (onChange: () => void) => () => void,
  { clock, release = collector() }: { clock: Clock; release?: () => void },
): () => void {
  let due: unknown;
  let earliest = 0;
  const unsubscribe = subscribe(() => {
    clock.clearTimeout(due);
    const wait = Math.max(QUIET_MS, earliest - clock.now());
    due = clock.setTimeout(() => {
      earliest = clock.now() + SELDOM_MS;
      release();
    }, wait);
  });
  return () => {
    unsubscribe();
    clock.clearTimeout(due);
  };
}

/** V8's own collector, at its most thorough. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  // The flag makes `gc` known to contexts that are made after it.
  const collect: (options: { type: 'major'; flavor: 'last-resort' }) => void = runInNewContext('gc');
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
