/** The options of a simulation. */
import type { InspectionEvent } from 'xstate';
import type { NodeAgentConfig } from '../../actors/node/nodeAgentConfig.ts';
import type { ObjectSettings } from '../../actors/objects/clusterObjects.ts';
import type { DiskLayout } from '../../kubernetes/eviction/layout.ts';
import type { ClusterFactory } from './cluster/simulatedCluster.ts';
import type { CgroupAccess } from './host/hostCgroups.ts';
import type { Invariant } from './invariants/invariant.ts';
import type { FaultPlan } from './run/gate.ts';

/** The fields of the configuration that only the simulated host sets. */
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
  /** The seed of all random decisions, a whole number from 0 to 2³² - 1. */
  readonly seed: number;
  /** The plan for faults of the calls to the outside. If undefined, only faults of the host make calls fail. */
  readonly faults?: FaultPlan | undefined;
  /** The invariants to check after each step. By default, only a node that never comes to rest is a violation. */
  readonly invariants?: readonly Invariant[];
  /**
   * Changes to the default configuration, which is that of a node with 64 cores and room for 500 pods. The name and
   * paths of the node cannot be changed.
   */
  readonly config?: Partial<Omit<NodeAgentConfig, Fixed>>;
  /** Whether to record everything that is sent to the actors, for `recording`. */
  readonly records?: boolean;
  /** Whether to replay the recording of each agent when it dies, and to compare the result. Implies `records`. */
  readonly replays?: boolean;
  /** Whether to compute a digest of everything that happens. */
  readonly traces?: boolean;
  /** Receives every inspection event of XState. */
  readonly inspect?: (event: InspectionEvent) => void;
  /**
   * Whether calls to the disk and the kernel may overtake each other. Otherwise they return in the order of the calls.
   */
  readonly overtakes?: boolean;
  /**
   * The agent's access to the cgroups of its host. By default (`writable`), it creates and limits those of its pods.
   */
  readonly cgroups?: CgroupAccess | undefined;
  /** The layout of the host's file systems. Default: `single`. */
  readonly diskLayout?: DiskLayout | undefined;
  /** Creates the cluster of the node, e.g. `simulatedCluster`. Undefined if the node belongs to none. */
  readonly cluster?: ClusterFactory | undefined;
  /** Strategy for detecting changes of ConfigMaps and Secrets. Default: `Watch`. */
  readonly objects?: ObjectSettings['strategy'] | undefined;
}
