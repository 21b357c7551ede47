import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../../../base/time/clock.ts';

/** Time in milliseconds without changes to the node's pods after which memory is released. */
const QUIET_PERIOD_MS = 3_000;
/**
 * Maximum time in milliseconds for which continuing changes can delay a release. It is also the minimum time between a
 * release and one that is scheduled only because memory usage has grown.
 */
const MAX_WAIT_MS = 30_000;
/**
 * Minimum interval in milliseconds between two releases, unless memory usage has grown by `SIGNIFICANT_GROWTH_BYTES`
 * since the last release.
 */
const MIN_INTERVAL_MS = 60_000;
/** Growth of memory usage in bytes that overrides the minimum interval. */
const SIGNIFICANT_GROWTH_BYTES = 16 * 2 ** 20;
/**
 * Interval in milliseconds at which memory usage is checked for growth that is not due to changes, e.g. because a log
 * is being read.
 */
const CHECK_INTERVAL_MS = 10_000;

interface ManagedHeap {
  /** Lets V8's young generation grow during a burst of work. Idempotent. */
  growYoungSpace(): void;
  /** Returns free memory to the host, and fixes the size of the young generation. */
  release(): void;
}

interface MemoryReleaseDependencies {
  readonly clock: Clock;
  readonly heap?: ManagedHeap;
  /** Returns the resident memory of this process, in bytes. */
  readonly memory?: () => number;
}

/**
 * Returns memory to the host after each burst of changes, and whenever memory usage has grown for another reason. V8 on
 * its own would wait for the next burst. During a burst, the young generation may grow. With the 1 MiB that suffices
 * for an idle agent, V8 would run several garbage collections for each starting pod and promote most objects.
 * `subscribe` calls its listener on each change. Returns a function that stops the releases.
 */
export function releaseWhenQuiet(
  subscribe: (onChange: () => void) => () => void,
  { clock, heap = v8Heap(clock), memory = residentMemory }: MemoryReleaseDependencies,
): () => void {
  let releaseTimer: unknown;
  let checkTimer: unknown;
  let firstChangeAt: number | undefined;
  let lastReleaseAt = Number.NEGATIVE_INFINITY;
  let bytesAfterRelease = memory();
  const hasGrownSignificantly = () => memory() - bytesAfterRelease >= SIGNIFICANT_GROWTH_BYTES;
  const release = () => {
    const waitMs = lastReleaseAt + MIN_INTERVAL_MS - clock.monotonic();
    if (waitMs > 0 && !hasGrownSignificantly()) {
      releaseTimer = clock.setTimeout(release, Math.min(waitMs, CHECK_INTERVAL_MS));
      return;
    }
    releaseTimer = undefined;
    firstChangeAt = undefined;
    heap.release();
    lastReleaseAt = clock.monotonic();
    bytesAfterRelease = memory();
  };
  const scheduleRelease = () => {
    clock.clearTimeout(releaseTimer);
    const now = clock.monotonic();
    firstChangeAt ??= now;
    releaseTimer = clock.setTimeout(release, Math.max(0, Math.min(QUIET_PERIOD_MS, firstChangeAt + MAX_WAIT_MS - now)));
  };
  const checkGrowth = () => {
    const isReleaseDue = releaseTimer === undefined && clock.monotonic() - lastReleaseAt >= MAX_WAIT_MS;
    if (isReleaseDue && hasGrownSignificantly()) scheduleRelease();
    checkTimer = clock.setTimeout(checkGrowth, CHECK_INTERVAL_MS);
  };
  checkTimer = clock.setTimeout(checkGrowth, CHECK_INTERVAL_MS);
  const unsubscribe = subscribe(() => {
    heap.growYoungSpace();
    scheduleRelease();
  });
  return () => {
    unsubscribe();
    for (const timer of [releaseTimer, checkTimer]) clock.clearTimeout(timer);
  };
}

/**
 * Returns the resident memory in bytes, or 0 if it cannot be read, e.g. because the process has run out of file
 * descriptors.
 */
function residentMemory(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

/**
 * Time in milliseconds after the start of the process during which V8's flags must not change, because
 * cli/compileCache.mjs stores compiled code under these flags. Until that time has passed, the young generation may
 * grow.
 */
const FIXED_FLAGS_MS = 15_000;

/**
 * Amount of off-heap memory in bytes whose allocation makes V8 start an incremental garbage collection. It must exceed
 * the 64 MiB of growth that V8 tolerates before it starts one.
 */
const PRESSURE_BYTES = 100 * 2 ** 20;

interface HeapControls {
  setFlag(flag: string): void;
  /** Starts a garbage collection that runs in many short steps. */
  startCollection(): void;
}

/** Returns an interface to V8's heap that is implemented with V8's flags and `startCollection`. */
export function v8Heap(
  clock: Pick<Clock, 'monotonic'>,
  { setFlag, startCollection }: HeapControls = { setFlag: setFlagsFromString, startCollection: allocateUnused },
): ManagedHeap {
  const startedAt = clock.monotonic();
  let growthFactor: number | undefined;
  const growYoungSpaceBy = (next: number) => {
    if (next === growthFactor || clock.monotonic() - startedAt <= FIXED_FLAGS_MS) return;
    growthFactor = next;
    setFlag(`--semi-space-growth-factor=${growthFactor}`);
  };
  return {
    growYoungSpace: () => growYoungSpaceBy(2),
    release: () => {
      growYoungSpaceBy(1);
      startCollection();
    },
  };
}

/**
 * Makes V8 start an incremental garbage collection by allocating memory outside the heap, because V8 has no function
 * for that. The kernel never backs this memory with pages, because nothing writes to it. V8 then collects garbage in
 * steps of at most a few milliseconds, and its memory reducer compacts the heap some seconds later. The `gc` function,
 * by contrast, would collect garbage immediately and block the process, for 150 to 500 ms on a node with a thousand
 * containers.
 */
function allocateUnused(): void {
  try {
    new ArrayBuffer(PRESSURE_BYTES);
  } catch {
    // Ignore a failed allocation, which means that the host grants no more address space. The next burst of work will
    // trigger a garbage collection anyway.
  }
}
