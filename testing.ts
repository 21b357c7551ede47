/** Whole nodes in simulation: for tests of pods, of what watches a node, and of what is built on one. */
import type { SimulationOptions } from './simulation/options.ts';
import type { SimulatedNode } from './simulation/simulatedNode.ts';
import { simulateNode as simulate } from './simulation/simulateNode.ts';

/** Starts a node in one process, on a clock that jumps. */
export const simulateNode: (options: SimulationOptions) => Promise<SimulatedNode> = simulate;

/** All that has to hold of a node, after every step. */
export { invariants } from './simulation/invariants/all.ts';
export { type Invariant, InvariantViolated, type Violation } from './simulation/invariants/invariant.ts';
/** What becomes of a call to the outside. */
export type { Fate, FaultPlan, OutsideCall } from './simulation/outside.ts';
/** What `createReplay` of the package plays. */
export type { Recording } from './simulation/recording.ts';
/** What happens to a node, as data: drawn from a seed, told, and made as short as what it breaks allows. */
export { drawnStory } from './simulation/stories/drawnStory.ts';
export { type Found, foundText, whatItBreaks } from './simulation/stories/found.ts';
export type { Manifest } from './simulation/stories/manifests.ts';
export type { Deed, Fault, Moment, Story, StorySize } from './simulation/stories/story.ts';
export type { SimulatedNode, SimulationOptions };
