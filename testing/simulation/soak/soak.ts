/** Plays random stories on simulated nodes until a time limit or the first broken invariant. */
import { randomInt } from 'node:crypto';
import { printableText } from '../../../base/text/printable.ts';
import { type ClusterFactory, simulatedCluster } from '../cluster/simulatedCluster.ts';
import { untilAborted } from '../faults/untilAborted.ts';
import { type Invariant, InvariantViolated } from '../invariants/invariant.ts';
import { invariants as all } from '../invariants/invariants.ts';
import { nextSeed } from '../random.ts';
import { play } from '../stories/play.ts';
import { storyOfAnySize } from '../stories/random/randomStory.ts';
import { clusterStory } from '../stories/scenarios/clusterStory.ts';
import type { Story } from '../stories/story.ts';
import { type BrokenStory, Findings } from './findings.ts';

const MINUTE = 60_000;
const REPORT_INTERVAL_MS = 10_000;

/**
 * Every this many stories, the recordings of a story are replayed. With this interval, stories of all sizes are among
 * them.
 */
export const REPLAYS_EVERY = 21;

interface SoakProgress {
  stories: number;
  replayed: number;
  steps: number;
  /** Milliseconds of node time. */
  lived: number;
}

interface SoakRun {
  /** Undefined if the nodes belong to no cluster. */
  readonly cluster: ClusterFactory | undefined;
  readonly invariants: readonly Invariant[];
  readonly first: number;
  readonly isOver: () => boolean;
  readonly soFar: SoakProgress;
  readonly report: (end: string) => void;
}

/** A story that failed with an error. */
interface FailedStory {
  readonly story: Story;
  readonly error: unknown;
}

export interface SoakOptions {
  readonly minutes: number;
  /** The seed of the first story. Each further story has the next seed. */
  readonly seed?: number;
  /** Whether the nodes belong to a cluster. The stories of such nodes are different. */
  readonly inCluster?: boolean;
  /** Default: all invariants. */
  readonly invariants?: readonly Invariant[];
  /** The directory for findings. */
  readonly directory?: string;
  /** Stops the soak immediately, even in the middle of a story. */
  readonly signal?: AbortSignal;
}

/** Plays stories until the time is over, and returns whether all invariants held. */
export async function soak(options: SoakOptions): Promise<boolean> {
  const { minutes, seed: first = randomInt(2 ** 31), invariants = all, directory = '.', signal } = options;
  const startedAt = performance.now();
  const soFar: SoakProgress = { stories: 0, replayed: 0, steps: 0, lived: 0 };
  const report = (end: string) => console.log(`${progress(soFar, startedAt)}${end}`);
  console.log(`seeds from ${first}`);
  const isOver = () => signal?.aborted === true || performance.now() >= startedAt + minutes * MINUTE;
  const broken = await Promise.race([
    untilAborted(signal),
    firstBroken({ cluster: clusterOf(options), invariants, first, isOver, soFar, report }),
  ]);
  const stopped = () => (signal?.aborted ? `, stopped by ${signal.reason}` : '');
  if (broken === undefined) {
    const summary =
      soFar.stories === 0
        ? 'no story told'
        : `no violation with seeds ${first} to ${nextSeed(first, soFar.stories - 1)}`;
    report(`, ${summary}${stopped()}`);
    return true;
  }
  const findings = new Findings(directory, signal);
  const { seed } = broken.story;
  if ('error' in broken) {
    await findings.showError(`seed ${seed}`, broken.story, broken.error);
    report(`, the simulation could not go on with seed ${seed}`);
    return false;
  }
  console.log(
    printableText(`seed ${seed}: ${new InvariantViolated(broken.violation).message}\nmaking the story shorter …\n`),
  );
  await findings.show(broken);
  report(`, an invariant was broken with seed ${seed}${stopped()}`);
  return false;
}

const clusterOf = ({ inCluster = false }: SoakOptions) => (inCluster ? simulatedCluster : undefined);

/** Plays stories sequentially and returns the first that breaks an invariant or fails. */
async function firstBroken({
  cluster,
  invariants,
  first,
  isOver,
  soFar,
  report,
}: SoakRun): Promise<BrokenStory | FailedStory | undefined> {
  let reportedAt = performance.now();
  for (let seed = first; !isOver(); seed = nextSeed(seed)) {
    const story = cluster ? clusterStory(seed) : storyOfAnySize(seed);
    const options = { cluster, invariants, replays: soFar.stories % REPLAYS_EVERY === 0 };
    const outcome = await play(story, options).catch((error: unknown) => ({ error }));
    if ('error' in outcome) return { story, error: outcome.error };
    const { steps, elapsed, violation } = outcome;
    soFar.stories += 1;
    soFar.replayed += options.replays ? 1 : 0;
    soFar.steps += steps;
    soFar.lived += elapsed;
    if (violation !== undefined) return { story, options, violation };
    // The result has been reported if the soak was stopped during the story.
    if (isOver() || performance.now() - reportedAt < REPORT_INTERVAL_MS) continue;
    reportedAt = performance.now();
    report('');
  }
  return undefined;
}

function progress({ stories, replayed, steps, lived }: SoakProgress, startedAt: number): string {
  const rate = Math.round((steps * 1_000) / (performance.now() - startedAt));
  const hours = (lived / 3_600_000).toFixed(1);
  return `${stories} stories, ${replayed} of them replayed, ${steps} steps, ${rate} a second, ${hours} hours of node time`;
}
