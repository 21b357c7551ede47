import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../base/clock.ts';

/** How long nothing may have changed before memory is given back. */
const QUIET_MS = 3_000;
/** It is given back so long after a change where others always follow, and after the last time where nothing changes. */
const LATEST_MS = 30_000;
/** How seldom that is done at most while memory has not grown much since. */
const SELDOM_MS = 60_000;
const MUCH = 16 * 2 ** 20;
/** How often it is looked whether memory has grown by something that changes nothing, as a log that is read does. */
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
  { clock, heap = ownHeap(clock), memory = residentMemory }: ReleaseParts,
): () => void {
  let [due, looking] = [undefined as unknown, undefined as unknown];
  /** The first change that nothing was given back after. */
  let since: number | undefined;
  /** When it was given back last, and how much there was afterwards. */
  let [last, before] = [Number.NEGATIVE_INFINITY, memory()];
  const hasGrownMuch = () => memory() - before >= MUCH;
  const act = () => {
    const wait = last + SELDOM_MS - clock.monotonic();
    if (wait > 0 && !hasGrownMuch()) {
      due = clock.setTimeout(act, Math.min(wait, LOOK_MS));
      return;
    }
    [due, since] = [undefined, undefined];
    heap.release();
    [last, before] = [clock.monotonic(), memory()];
  };
  const changed = () => {
    clock.clearTimeout(due);
    const now = clock.monotonic();
    since ??= now;
    due = clock.setTimeout(act, Math.max(0, Math.min(QUIET_MS, since + LATEST_MS - now)));
  };
  const look = () => {
    if (due === undefined && clock.monotonic() - last >= LATEST_MS && hasGrownMuch()) changed();
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

/** 0 where it cannot be read, as without a free file descriptor. */
function residentMemory(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
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
