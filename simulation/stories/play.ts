/** Tells a story to a node, and says what it broke. */

import { formatExplanation } from '../../pod/show/formatExplanation.ts';
import type { Invariant, Violation } from '../invariants/invariant.ts';
import { InvariantViolated } from '../invariants/invariant.ts';
import { type Simulation, simulateNode } from '../simulateNode.ts';
import { perform } from './perform.ts';
import type { Story } from './story.ts';

/** How long a node may take to be as it is wanted once faults have ended: a back-off, a grace, a time limit of a call. */
const SETTLES_MS = 10 * 60_000;

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
  readonly traces?: boolean;
}

export async function play(story: Story, options: PlayOptions): Promise<Outcome> {
  const { seed, faults } = story;
  const fates = new Map(faults.map(({ call, fate }) => [call, fate]));
  const simulation = await simulateNode({
    ...{ ...options, seed, faults: (_call, index) => fates.get(index) },
    config: { startSlots: 2, crashLoop: { baseMs: 2_000, maxMs: 20_000 } },
  });
  const told = () => ({
    ...{ steps: simulation.steps, calls: simulation.calls, elapsed: simulation.elapsed, simulation },
  });
  try {
    await tell(simulation, story);
    return told();
  } catch (error) {
    if (!(error instanceof InvariantViolated)) throw error;
    return { violation: error.violation, explanations: explanationsOf(simulation), ...told() };
  } finally {
    simulation.kill({ cutsCalls: true });
  }
}

const explanationsOf = (simulation: Simulation): string[] =>
  simulation.pods().flatMap(({ metadata }) => {
    const explanation = simulation.explain(metadata.uid);
    return explanation ? [formatExplanation(explanation)] : [];
  });

async function tell(simulation: Simulation, { moments, lastsMs }: Story): Promise<void> {
  const ordered = moments.toSorted((a, b) => a.at - b.at);
  for (const { at, deed } of ordered) {
    await simulation.advance(Math.max(0, at - simulation.elapsed));
    perform(simulation, deed);
  }
  await simulation.advance(Math.max(0, lastsMs - simulation.elapsed));
  simulation.endFaults();
  await simulation.startAgent();
  await simulation.settle(SETTLES_MS);
  for (const pod of [...simulation.deeds.wanted.keys()]) perform(simulation, { kind: 'remove', pod });
  await simulation.settle(SETTLES_MS);
}
