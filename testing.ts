/**
 * Whole nodes in simulation, and an API server: for tests of pods, of what watches or speaks with them, and of what is
 * built on them.
 */
// The first import, so that an old Node.js gets one sentence instead of an error deep in a module.
import './host/nodeVersion.ts';

import { systemClock, type TimerClock } from './base/clock.ts';
import { ApiServer } from './testing/apiserver/apiServer.ts';
import type { SimulationOptions } from './testing/simulation/options.ts';
import type { SimulatedNode } from './testing/simulation/simulatedNode.ts';
import { simulateNode as simulate } from './testing/simulation/simulateNode.ts';

/** Starts a node in one process, on a clock that jumps. */
export const simulateNode: (options: SimulationOptions) => Promise<SimulatedNode> = simulate;

/**
 * Starts an API server for tests, as that of an empty Kubernetes 1.36 cluster: in memory, and for clients of all kinds once
 * it is served. Time is the system's, unless another clock is given, such as a `SimulatedClock` of the package.
 */
export const startApiServer = ({ clock = systemClock }: { readonly clock?: TimerClock } = {}): Promise<ApiServer> =>
  ApiServer.start(clock);

export { RequestFailed, type WatchedEvent } from './testing/apiserver/apiServer.ts';
/** What a fault is asked about: a request by what it wants to do. */
export type { Attributes, PathAttributes, ResourceAttributes } from './testing/apiserver/authorization/attributes.ts';
/** What users of it may do. */
export type { Grant } from './testing/apiserver/authorization/grants.ts';
/** What goes wrong with requests to it. */
export {
  ConnectionCut,
  type Fault as ApiFault,
  type FaultRule as ApiFaultRule,
  type Faults as ApiFaults,
} from './testing/apiserver/faults.ts';
/** Requests in memory, and what they are answered. */
export type { ApiResponse as Answer, ApiRequest, User } from './testing/apiserver/request.ts';
export type { ServeApiOptions, ServedApi } from './testing/apiserver/serving/servedApi.ts';
/** The cluster that a simulated node may belong to, over the same API server in memory. */
export { type ClusterFactory as MakeCluster, simulatedCluster } from './testing/simulation/cluster/simulatedCluster.ts';
/** All that has to hold of a node, after every step. */
export { invariants } from './testing/simulation/invariants/invariants.ts';
export { type Invariant, InvariantViolated, type Violation } from './testing/simulation/invariants/invariant.ts';
/** What becomes of a call to the outside. */
export type { CallFault as Fate, FaultPlan, OutsideCall } from './testing/simulation/run/gate.ts';
/** What `createReplay` of the package plays. */
export type { Recording } from './testing/simulation/run/recording.ts';
/** What happens to a node, as data: drawn from a seed, told, and made as short as what it breaks allows. */
export { clusterStory } from './testing/simulation/stories/clusterStory.ts';
export { randomStory as drawnStory } from './testing/simulation/stories/randomStory.ts';
export { type Finding as Found, formatFinding as foundText, findViolation as whatItBreaks } from './testing/simulation/stories/finding.ts';
export type { Manifest } from './testing/simulation/stories/manifests.ts';
export type { Action as Deed, StoryFault as Fault, TimedAction as Moment, Story, StorySize } from './testing/simulation/stories/story.ts';
export type { ApiServer, SimulatedNode, SimulationOptions, TimerClock };
