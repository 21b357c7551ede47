/** What a node is told once, with defaults for what a program does not care about. */
import { join } from 'node:path';
import { ownerMark } from '../../cri/config/labels.ts';
import type { CgroupFacts, NodeDescription } from '../../cri/nodeDescription.ts';
import type { ImageVerification } from '../../kubernetes/images/imageVerification.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { NodeInput } from '../../machines/node/context.ts';
import type { HostAddresses } from '../feeds/addresses.ts';
import type { LogPolicy } from '../services/containers/logs.ts';
import { type SourceParts, sourcePlaces } from '../sources/sources.ts';

/** What `createNode` finds out by itself: from the rest, from the store, from the disk. */
type Derived =
  | 'owner'
  | 'podDirectory'
  | 'hostIps'
  | 'allocatable'
  | 'logCheckMs'
  | 'cluster'
  | 'statuses'
  | 'allocations'
  | 'probed'
  | 'containerEnds'
  | 'left'
  | 'logged'
  | 'foreign';
type Facts = Omit<NodeDescription, Derived>;
type Settings = Omit<NodeInput, Derived>;
type Needed = 'nodeName' | 'rootDir' | 'runtimeEndpoint' | 'capacity';

/** What a node is told once. What may be absent is as on a node with nothing special. */
export interface NodeAgentConfig
  extends Pick<Facts & Settings, Needed>,
    Partial<Omit<Facts & Settings, Needed>>,
    Pick<SourceParts, 'staticPodPath' | 'fileCheckMs' | 'manifestUrl' | 'isLenient'> {
  readonly hostIps?: HostAddresses;
  /** The addresses of pods on a node to which no cluster assigns any, such as `10.1.0.0/24`. */
  readonly podCidr?: string;
  /** What of the capacity pods may take; absent: all of it. */
  readonly allocatable?: Capacity;
  /** The names of further sources, whose pods come through `tell` or a feed of one's own. */
  readonly sources?: readonly string[];
  /** When the logs of containers are rotated, and how often they are looked at; absent: as a kubelet does. */
  readonly logs?: LogPolicy & { readonly checkMs?: number };
  /** Which images that are there a pod has to prove its right to; absent: those that the node has pulled. */
  readonly imageVerification?: ImageVerification;
  /** The pods of others that have a directory below the root are this agent's from now on. */
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

/** As a kubelet has them (C7); slots for a machine of two cores. */
const defaults = {
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

/** The configuration with all that was left out, and what follows from it. */
export function completeConfig(config: NodeAgentConfig) {
  const { nodeName, rootDir, capacity, logs } = config;
  return {
    ...defaults,
    podLogsDir: join(rootDir, 'logs'),
    allocatable: capacity,
    ...withoutUndefined(config),
    sources: [...sourcePlaces(config).keys(), ...(config.sources ?? [])],
    owner: ownerMark(rootDir, nodeName),
    podDirectory: (uid: string) => join(rootDir, 'pods', uid),
    ...(logs?.checkMs === undefined ? {} : { logCheckMs: logs.checkMs }),
  };
}

/** What is there and undefined would take the place of its default. */
export function withoutUndefined<T extends object>(config: T): T {
  // Only properties that may be absent are undefined.
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as T;
}
