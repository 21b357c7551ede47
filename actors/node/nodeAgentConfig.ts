/** Defines the configuration of a node and its defaults. */
import { join } from 'node:path';
import { ownerAnnotation } from '../../cri/config/labels.ts';
import type { CgroupFacts, NodeDescription } from '../../cri/nodeDescription.ts';
import type { ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { CpuManagerInput, MemoryInput, NodeInput } from '../../machines/node/context.ts';
import type { ShutdownInput } from '../../machines/shutdown/context.ts';
import type { HostAddresses } from '../feeds/addresses.ts';
import type { LogPolicy } from '../services/containers/logs.ts';
import { type SourceDependencies, sourceLocations } from '../sources/sources.ts';

/** Fields that `createNode` derives from the other fields, the store, and the disk. */
type DerivedField =
  | 'owner'
  | 'podDirectory'
  | 'hostIps'
  | 'allocatable'
  | 'logCheckMs'
  | 'cluster'
  | 'cpus'
  | 'cpusOf'
  | 'memory'
  | 'memoryNodesOf'
  | 'shutdown'
  | 'devices'
  | 'editsOf'
  | 'statuses'
  | 'allocations'
  | 'probed'
  | 'containerEnds'
  | 'left'
  | 'logged'
  | 'foreign';
type HostFields = Omit<NodeDescription, DerivedField>;
type AgentSettings = Omit<NodeInput, DerivedField>;
type RequiredField = 'nodeName' | 'rootDir' | 'runtimeEndpoint' | 'capacity';

/** The configuration of the CPU manager. The CPU assignments are in a separate state file. */
export type CpuManagerConfig = Omit<CpuManagerInput, 'assignments'>;

/** The configuration of the memory manager. The memory assignments are in a separate state file. */
export type MemoryManagerConfig = Omit<MemoryInput, 'assignments'>;

/** The fixed configuration of a node. Optional fields have defaults (see `completeConfig`). */
export interface NodeAgentConfig
  extends Pick<HostFields & AgentSettings, RequiredField>,
    Partial<Omit<HostFields & AgentSettings, RequiredField>>,
    Pick<SourceDependencies, 'staticPodPath' | 'fileCheckMs' | 'manifestUrl' | 'isLenient'> {
  readonly hostIps?: HostAddresses;
  /** The node's pod CIDR, e.g. `10.1.0.0/24`, used if no cluster assigns one to the node. */
  readonly podCidr?: string;
  /** Resources available to pods. Defaults to the capacity. */
  readonly allocatable?: Capacity;
  /** Names of additional sources, whose pods arrive through `send` or a custom feed. */
  readonly sources?: readonly string[];
  /**
   * Log rotation settings, and the interval at which logs are checked for rotation, in milliseconds. Defaults to the
   * kubelet's settings.
   */
  readonly logs?: LogPolicy & { readonly checkMs?: number };
  /**
   * Images that a pod may only use with its own credentials, even if they are present on the node. Defaults to the
   * images that the node has pulled.
   */
  readonly imageVerification?: ImageVerification;
  /** Undefined unless the CPU manager has the static policy. */
  readonly cpuManager?: CpuManagerConfig;
  /** Undefined unless the memory manager has the Static policy. */
  readonly memoryManager?: MemoryManagerConfig;
  /**
   * Grace periods of the pod priority groups during a shutdown of the host. Undefined if the node does not delay the
   * shutdown.
   */
  readonly shutdown?: Pick<ShutdownInput, 'periods'>;
  /** The directory of device plugins and their sockets. Undefined if the node has no device plugins. */
  readonly devicePluginDir?: string;
  /** Whether container statuses contain the drivers' messages about device health. Defaults to true. */
  readonly reportsHealthMessages?: boolean;
  /** Whether to take over the pods that have a directory below the root directory but belong to other agents. */
  readonly takesOver?: boolean;
}

/** The facts of a host on which pods have no cgroups except those that the runtime creates. */
export const noCgroups: CgroupFacts = {
  perQos: false,
  version: 'v2',
  countsSwap: false,
  killsWhole: true,
  cfsQuota: true,
  cfsPeriod: 100_000,
  podPids: -1,
  pageSizes: [],
};

/** The kubelet's defaults (C7), with slots for a machine with two cores. */
const defaultConfig = {
  cgroupRoot: '',
  cgroupDriver: 'cgroupfs' as const,
  cgroups: noCgroups,
  hostIps: [] as HostAddresses,
  resolvConf: { servers: [], searches: [], options: [] },
  clusterDns: [],
  clusterDomain: '',
  canLowerOomScoreAdj: false,
  seccompDefault: false,
  startSlots: 4,
  pullSlots: 1,
  crashLoop: { baseMs: 10_000, maxMs: 300_000 },
};

/** Returns the configuration with defaults and derived fields. */
export function completeConfig(config: NodeAgentConfig) {
  const { nodeName, rootDir, capacity, logs } = config;
  return {
    ...defaultConfig,
    podLogsDir: join(rootDir, 'logs'),
    allocatable: capacity,
    ...withoutUndefined(config),
    sources: [...sourceLocations(config).keys(), ...(config.sources ?? [])],
    owner: ownerAnnotation(rootDir, nodeName),
    podDirectory: (uid: string) => join(rootDir, 'pods', uid),
    ...(logs?.checkMs === undefined ? {} : { logCheckMs: logs.checkMs }),
  };
}

/** Removes undefined properties, because they would override defaults. */
export function withoutUndefined<T extends object>(config: T): T {
  // Safe cast: only optional properties are undefined.
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as T;
}
