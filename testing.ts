/**
 * Simulated nodes and an API server, for tests of pods, of programs that communicate with them, and of libraries that use
 * them.
 */
// Must be the first import, so that users of an old Node.js see a one-sentence error instead of a failure inside a
// module.
import './host/nodeVersion.ts';

import { systemClock, type TimerClock } from './base/time/clock.ts';
import { ApiServer } from './testing/apiserver/apiServer.ts';
import type { SimulationOptions } from './testing/simulation/options.ts';
import type { SimulatedNode } from './testing/simulation/simulatedNode.ts';
import { simulateNode as simulate } from './testing/simulation/simulateNode.ts';

/** Starts a simulated node in this process, on a clock that jumps from timer to timer. */
export const simulateNode: (options: SimulationOptions) => Promise<SimulatedNode> = simulate;

/**
 * Starts the API server of an empty Kubernetes 1.36 cluster for tests. It handles requests in memory, and from other
 * processes once it is served. Uses the system clock, unless another one is given, e.g. a `SimulatedClock` of the package.
 */
export const startApiServer = ({ clock = systemClock }: { readonly clock?: TimerClock } = {}): Promise<ApiServer> =>
  ApiServer.start(clock);

export { RequestFailed, type WatchedEvent } from './testing/apiserver/apiServer.ts';
/** The attributes of a request, by which a fault rule selects it. */
export type { Attributes, PathAttributes, ResourceAttributes } from './testing/apiserver/authorization/attributes.ts';
/** Additional permissions of users and groups. */
export type { Grant } from './testing/apiserver/authorization/grants.ts';
/** Faults of the API server. */
export {
  ConnectionCut,
  type Fault as ApiFault,
  type FaultRule as ApiFaultRule,
  type Faults as ApiFaults,
} from './testing/apiserver/faults.ts';
/** Requests in memory and their responses. */
export type { ApiRequest, ApiResponse, User } from './testing/apiserver/requests/request.ts';
export type { ServeApiOptions, ServedApi } from './testing/apiserver/serving/servedApi.ts';
/** The cluster of a simulated node, with the same API server in memory. */
export { type ClusterFactory, simulatedCluster } from './testing/simulation/cluster/simulatedCluster.ts';
export { type Invariant, InvariantViolated, type Violation } from './testing/simulation/invariants/invariant.ts';
/** The conditions that must hold after every step of a node. */
export { invariants } from './testing/simulation/invariants/invariants.ts';
/** Faults of the node's calls to the outside. */
export type { CallFault, FaultPlan, OutsideCall } from './testing/simulation/run/gate.ts';
/** The input of `createReplay` of the package. */
export type { Recording } from './testing/simulation/run/recording.ts';
export { type Finding, findViolation, formatFinding } from './testing/simulation/stories/findings/finding.ts';
export type { Manifest } from './testing/simulation/stories/manifests.ts';
export { randomStory } from './testing/simulation/stories/random/randomStory.ts';
/** Stories, i.e. plans for a node as plain data: drawn from a seed, played, and shrunk if they break an invariant. */
export { clusterStory } from './testing/simulation/stories/scenarios/clusterStory.ts';
export type { Action, Story, StoryFault, StorySize, TimedAction } from './testing/simulation/stories/story.ts';
export type { ApiServer, SimulatedNode, SimulationOptions, TimerClock };
