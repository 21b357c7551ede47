import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../actors/clock.ts';

/** How long nothing may have changed before memory is given back; where something always changes it is after so long. */
const QUIET_MS = 3_000;
const LATEST_MS = 30_000;
/** How seldom that is done at most while memory has not grown much since. */
const SELDOM_MS = 60_000;
const MUCH = 16 * 2 ** 20;
/** How often it is looked whether memory has grown by something that changes nothing, as a log that is read. */
const LOOK_MS = 10_000;

interface ReleaseParts {
  readonly clock: Clock;
  readonly release?: () => void;
  /** What the process has of the machine's memory, in bytes. */
  readonly memory?: () => number;
}

/**
 * Gives back what a burst of changes left behind, once they are over, and what else has made memory grow: V8 itself would
 * wait for the next burst.
 * `subscribe` tells of each change; the answer ends it.
 */
export function releaseWhenQuiet(
  subscribe: (onChange: () => void) => () => void,
  { clock, release = collector(), memory = () => process.memoryUsage.rss() }: ReleaseParts,
): () => void {
  let [due, looking] = [undefined as unknown, undefined as unknown];
  /** The first change that nothing was given back after. */
  let since: number | undefined;
  let [earliest, before] = [0, 0];
  const act = () => {
    const wait = earliest - clock.monotonic();
    if (wait > 0 && memory() - before < MUCH) {
      due = clock.setTimeout(act, wait);
      return;
    }
    [due, since] = [undefined, undefined];
    release();
    [earliest, before] = [clock.monotonic() + SELDOM_MS, memory()];
  };
  const changed = () => {
    clock.clearTimeout(due);
    const now = clock.monotonic();
    since ??= now;
    due = clock.setTimeout(act, Math.max(0, Math.min(QUIET_MS, since + LATEST_MS - now)));
  };
  const look = () => {
    if (due === undefined && memory() - before >= MUCH) changed();
    looking = clock.setTimeout(look, LOOK_MS);
  };
  looking = clock.setTimeout(look, LOOK_MS);
  const unsubscribe = subscribe(changed);
  return () => {
    unsubscribe();
    for (const timer of [due, looking]) clock.clearTimeout(timer);
  };
}

/** V8's own collector, at its most thorough. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  // The flag makes `gc` known to contexts that are made after it.
  const collect: (options: { type: 'major'; flavor: 'last-resort' }) => void = runInNewContext('gc');
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
