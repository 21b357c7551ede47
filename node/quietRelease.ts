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

/** What is done to V8's heap. */
interface Heap {
  /** From now on the room for young objects may grow where it is too small for what is at work. Idempotent. */
  makeRoom(): void;
  /** Gives back what is free, also of that room, which stays as it is from then on. */
  release(): void;
}

interface ReleaseParts {
  readonly clock: Clock;
  readonly heap?: Heap;
  /** What the process has of the machine's memory, in bytes. */
  readonly memory?: () => number;
}

/**
 * Gives back what a burst of changes left behind, once they are over, and what else has made memory grow: V8 itself would
 * wait for the next burst. As long as a burst lasts there is room for it: in the mebibyte that an idle agent needs, V8
 * would collect several times for each pod that starts, find most objects still in use, and move them to the old ones.
 * `subscribe` tells of each change; the answer ends it.
 */
export function releaseWhenQuiet(
  subscribe: (onChange: () => void) => () => void,
  { clock, heap = ownHeap(clock), memory = () => process.memoryUsage.rss() }: ReleaseParts,
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
    heap.release();
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
  const unsubscribe = subscribe(() => {
    heap.makeRoom();
    changed();
  });
  return () => {
    unsubscribe();
    for (const timer of [due, looking]) clock.clearTimeout(timer);
  };
}

/** So long after the start V8's flags stay as they are: cli/compileCache.mjs keeps compiled code by them. Until then it may grow. */
const FLAGS_STAY_MS = 15_000;

/** V8's own, whose collector is used at its most thorough. */
export function ownHeap(clock: Pick<Clock, 'monotonic'>, setFlag = setFlagsFromString): Heap {
  setFlag('--expose-gc');
  // The flag makes `gc` known to contexts that are made after it.
  const collect: (options: { type: 'major'; flavor: 'last-resort' }) => void = runInNewContext('gc');
  const began = clock.monotonic();
  let factor: number | undefined;
  const growBy = (next: number) => {
    if (next === factor || clock.monotonic() - began <= FLAGS_STAY_MS) return;
    factor = next;
    setFlag(`--semi-space-growth-factor=${factor}`);
  };
  return {
    makeRoom: () => growBy(2),
    release: () => {
      growBy(1);
      collect({ type: 'major', flavor: 'last-resort' });
    },
  };
}
