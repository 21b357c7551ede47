/** Tells a story to a node, and says what it broke. */

import type { InspectionEvent } from 'xstate';
import { formatExplanation } from '../../../show/explain/formatExplanation.ts';
import type { MakeCluster } from '../cluster/simulatedCluster.ts';
import { MANIFEST_URL } from '../host/manifestPlace.ts';
import type { Invariant, Violation } from '../invariants/invariant.ts';
import { InvariantViolated } from '../invariants/invariant.ts';
import type { FaultPlan } from '../run/outside.ts';
import { Simulation } from '../simulateNode.ts';
import type { Story } from './story.ts';

/** How long a node may take to be as it is wanted once faults have ended: a back-off, a grace, a time limit of a call. */
const SETTLES_MS = 10 * 60_000;

/** By then whoever looks about now and then has looked again, and forgotten what is gone. */
const LOOKS_AGAIN_MS = 70_000;

/** What came of a story. */
export interface Outcome {
  readonly violation?: Violation;
  /** How the node explained its pods when something was violated. */
  readonly explanations?: readonly string[];
  readonly steps: number;
  /** How many calls it made to the outside. */
  readonly calls: number;
  readonly elapsed: number;
  readonly simulation: Simulation;
}

export interface PlayOptions {
  readonly invariants: readonly Invariant[];
  readonly records?: boolean;
  /** Whether what was recorded of each agent is played again, and compared with it. */
  readonly replays?: boolean;
  readonly traces?: boolean;
  /** Sees every inspection event of xstate. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Whether it is enough that the node settles: what is left of it is not held against a new agent. */
  readonly isBrief?: boolean;
  /** What becomes of calls of which the story says nothing. */
  readonly faults?: FaultPlan;
  /** Makes the cluster that the node belongs to; absent: it belongs to none. */
  readonly cluster?: MakeCluster | undefined;
}

export async function play(story: Story, options: PlayOptions): Promise<Outcome> {
  const { seed, faults } = story;
  const { isBrief = false, ...given } = options;
  const fates = new Map(faults.map(({ call, fate }) => [call, fate]));
  const simulation = new Simulation({
    ...given,
    overtakes: story.overtakes ?? false,
    cgroups: story.cgroups,
    objects: story.objects,
    seed,
    faults: (call, index, at) => fates.get(index) ?? options.faults?.(call, index, at),
    config: { startSlots: 2, crashLoop: { baseMs: 2_000, maxMs: 20_000 }, ...sourcesOf(story) },
  });
  const told = () => ({
    steps: simulation.steps,
    calls: simulation.calls,
    elapsed: simulation.elapsed,
    simulation,
  });
  try {
    await simulation.host.open();
    // What the first agent breaks at once is told as well.
    await simulation.startAgent();
    const checkReplay = async () => options.replays && simulation.checkReplay();
    await tell(simulation, story, checkReplay);
    if (!isBrief) await holdAgainstNew(simulation);
    await checkReplay();
    return told();
  } catch (error) {
    if (!(error instanceof InvariantViolated)) throw error;
    return { violation: error.violation, explanations: explanationsOf(simulation), ...told() };
  } finally {
    simulation.kill({ cutsCalls: true });
  }
}

/** Whether there is a URL that lists manifests; a story that has been shortened says that it had one. */
export const asksUrl = ({ moments, hasUrl }: Story): boolean =>
  hasUrl ?? moments.some(({ deed }) => deed.kind === 'url' || (deed.kind === 'apply' && deed.by === 'url'));

const sourcesOf = (story: Story) =>
  asksUrl(story) ? { manifestUrl: { url: MANIFEST_URL, headers: [], everyMs: 20_000 } } : {};

const explanationsOf = (simulation: Simulation): string[] =>
  simulation.pods().flatMap(({ metadata }) => {
    const explanation = simulation.explain(metadata.uid);
    return explanation ? [formatExplanation(explanation)] : [];
  });

/** `checkReplay` is done wherever the actors of an agent may be no more thereafter; one that is killed is looked at then. */
async function tell(
  simulation: Simulation,
  { moments, lastsMs }: Story,
  checkReplay: () => Promise<unknown>,
): Promise<void> {
  const ordered = moments.toSorted((a, b) => a.at - b.at);
  for (const { at, deed } of ordered) {
    await simulation.advance(Math.max(0, at - simulation.elapsed));
    if (deed.kind === 'stopAgent') await checkReplay();
    simulation.perform(deed);
  }
  await simulation.advance(Math.max(0, lastsMs - simulation.elapsed));
  simulation.endFaults();
  await simulation.startAgent();
  await simulation.settle(SETTLES_MS);
  await checkReplay();
  for (const pod of [...simulation.deeds.wanted.keys()]) simulation.remove(pod);
  await simulation.settle(SETTLES_MS);
  await checkReplay();
}

/** Holds what an agent has become against what a new one makes of the same host. */
async function holdAgainstNew(simulation: Simulation): Promise<void> {
  await simulation.advance(LOOKS_AGAIN_MS);
  simulation.check({ isAtRest: true });
  simulation.kill({ cutsCalls: true });
  await simulation.startAgent();
  await simulation.settle(SETTLES_MS);
}
