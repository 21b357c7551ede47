/** What a simulation is made with. */
import type { InspectionEvent } from 'xstate';
import type { NodeAgentConfig } from '../../actors/node/nodeAgentConfig.ts';
import type { ObjectSettings } from '../../actors/objects/clusterObjects.ts';
import type { MakeCluster } from './cluster/simulatedCluster.ts';
import type { CgroupsHere } from './host/hostCgroups.ts';
import type { Invariant } from './invariants/invariant.ts';
import type { FaultPlan } from './run/outside.ts';

/** What the simulated host is made for. */
type Fixed =
  | 'nodeName'
  | 'rootDir'
  | 'podLogsDir'
  | 'runtimeEndpoint'
  | 'staticPodPath'
  | 'hostIps'
  | 'cgroups'
  | 'sinks';

export interface SimulationOptions {
  /** Decides everything that is left to chance: a whole number from 0 to 2³² - 1. */
  readonly seed: number;
  /** What becomes of the calls to the outside; absent: what was asked for. */
  readonly faults?: FaultPlan | undefined;
  /** What is checked after each step; absent: only that the node comes to rest. */
  readonly invariants?: readonly Invariant[];
  /** What is to differ from a node of 64 cores with room for 500 pods; who it is, and where it lives, is fixed. */
  readonly config?: Partial<Omit<NodeAgentConfig, Fixed>>;
  /** Whether all that enters the actors is kept, for `recording`. */
  readonly records?: boolean;
  /** Whether what was recorded of each agent, which is then kept too, is played again when it dies, and compared with it. */
  readonly replays?: boolean;
  /** Whether a digest is made of all that happens. */
  readonly traces?: boolean;
  /** Sees every inspection event of xstate. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Whether calls to the disk and the kernel overtake each other, which at other times are answered as they come. */
  readonly overtakes?: boolean;
  /** What the agent can do with the cgroups of its host; absent: make and limit those of its pods. */
  readonly cgroups?: CgroupsHere | undefined;
  /** Makes the cluster that the node belongs to, as `simulatedCluster` does; absent: it belongs to none. */
  readonly cluster?: MakeCluster | undefined;
  /** How it keeps what its pods name of that cluster up to date; absent: it watches that. */
  readonly objects?: ObjectSettings['strategy'] | undefined;
}
