/** Whole nodes in simulation: for tests of pods, of what watches a node, and of what is built on one. */

/** All that has to hold of a node, after every step. */
export { invariants } from './simulation/invariants/all.ts';
export { type Invariant, InvariantViolated, type Violation } from './simulation/invariants/invariant.ts';
export type { SimulationOptions } from './simulation/options.ts';
/** What becomes of a call to the outside. */
export type { Fate, FaultPlan, OutsideCall } from './simulation/outside.ts';
/** What `createReplay` of the package plays. */
export type { Recording } from './simulation/recording.ts';
/** A node in one process, on a clock that jumps. */
export { Simulation, simulateNode } from './simulation/simulateNode.ts';
/** What happens to a node, as data: drawn from a seed, told, and made as short as what it breaks allows. */
export { drawnStory, type StorySize } from './simulation/stories/drawnStory.ts';
export { type Found, foundText, whatItBreaks } from './simulation/stories/found.ts';
export type { Manifest } from './simulation/stories/manifests.ts';
export { type Outcome, play } from './simulation/stories/play.ts';
export type { Deed, Fault, Moment, Story } from './simulation/stories/story.ts';
