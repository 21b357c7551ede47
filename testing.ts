/**
 * Simulated nodes and an API server, for testing pods, programs that communicate with the nodes or the API server, and
 * libraries used by such programs.
 */
// Must be the first import, so that users of an old Node.js see a one-sentence error instead of a failure inside a
// module.
import './host/nodeVersion.ts';

import { systemClock, type TimerClock } from './base/time/clock.ts';
import { ApiServer } from './testing/apiserver/apiServer.ts';
import type { SimulationOptions } from './testing/simulation/options.ts';
import type { SimulatedNode } from './testing/simulation/simulatedNode.ts';
import { simulateNode as simulate } from './testing/simulation/simulateNode.ts';

/** Starts a simulated node in this process. Its clock does not wait but jumps ahead to the next timer. */
export const simulateNode: (options: SimulationOptions) => Promise<SimulatedNode> = simulate;

/**
 * Starts the API server of an empty Kubernetes 1.36 cluster for tests. It handles requests in memory and, after `serve`
 * has been called, requests from other processes. Uses the system clock by default. Pass e.g. this package's
 * `SimulatedClock` to use a different one.
 */
export const startApiServer = ({ clock = systemClock }: { readonly clock?: TimerClock } = {}): Promise<ApiServer> =>
  ApiServer.start(clock);

export { RequestFailed, type WatchedEvent } from './testing/apiserver/apiServer.ts';
/** Attributes of a request that a fault rule can match. */
export type { Attributes, PathAttributes, ResourceAttributes } from './testing/apiserver/authorization/attributes.ts';
/** Additional permissions of users and groups. */
export type { Grant } from './testing/apiserver/authorization/grants.ts';
/** Faults that can be injected into the API server. */
export {
  ConnectionCut,
  type Fault as ApiFault,
  type FaultRule as ApiFaultRule,
  type Faults as ApiFaults,
} from './testing/apiserver/faults.ts';
/** Requests that are passed to the API server in memory, and their responses. */
export type { ApiRequest, ApiResponse, User } from './testing/apiserver/requests/request.ts';
export type { ServeApiOptions, ServedApi } from './testing/apiserver/serving/servedApi.ts';
/** The cluster of a simulated node, with the same in-memory API server that `startApiServer` starts. */
export { type ClusterFactory, simulatedCluster } from './testing/simulation/cluster/simulatedCluster.ts';
export { type Invariant, InvariantViolated, type Violation } from './testing/simulation/invariants/invariant.ts';
/** Invariants that are checked after every step of a simulated node. */
export { invariants } from './testing/simulation/invariants/invariants.ts';
/**
 * Faults that are injected into a simulated node's calls to the runtime, the disk and other targets outside the agent.
 */
export type { CallFault, FaultPlan, OutsideCall } from './testing/simulation/run/gate.ts';
/** The input of this package's `createReplay`. */
export type { Recording } from './testing/simulation/run/recording.ts';
export { type Finding, findViolation, formatFinding } from './testing/simulation/stories/findings/finding.ts';
export type { Manifest } from './testing/simulation/stories/manifests.ts';
export { randomStory } from './testing/simulation/stories/random/randomStory.ts';
/**
 * Stories, i.e. test plans for a node as plain data. They are generated from a seed, executed, and shrunk if they break
 * an invariant.
 */
export { clusterStory } from './testing/simulation/stories/scenarios/clusterStory.ts';
export type { Action, Story, StoryFault, StorySize, TimedAction } from './testing/simulation/stories/story.ts';
export type { ApiServer, SimulatedNode, SimulationOptions, TimerClock };
