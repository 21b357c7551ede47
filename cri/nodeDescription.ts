import type { ResourceList } from '../kubernetes/api/schema/scalars.ts';
import { DISK } from '../kubernetes/resources/allocatable.ts';
import type { CgroupRules } from '../kubernetes/resources/cgroupLimits.ts';
import type { Capacity } from '../kubernetes/resources/requests.ts';

/** A resolver's configuration, as /etc/resolv.conf has it. */
export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** What the configuration and the kernel say of cgroups. */
export interface CgroupFacts extends CgroupRules {
  /** Whether pods and their QoS classes have cgroups of their own. */
  readonly perQos: boolean;
  /** Of the hierarchy that cpu and memory are in. */
  readonly version: 'v1' | 'v2';
  /** Whether the kernel counts swap for each cgroup. */
  readonly countsSwap: boolean;
  /** The node's swap, where Burstable pods may have a share of it (LimitedSwap); absent: nobody swaps. */
  readonly swapBytes?: number;
  /** Whether the end of one process for memory is the end of its whole container. */
  readonly killsWhole: boolean;
}

/** What must be known of the node to say to its runtime what a pod is. */
export interface NodeDescription {
  readonly nodeName: string;
  /** Absolute. */
  readonly rootDir: string;
  /** Absolute. */
  readonly podLogsDir: string;
  /** Whose sandboxes they are, as `ownerMark` writes it. */
  readonly owner: string;
  /** Of the runtime, as `unix:///…`; `simulated` for one within this process. */
  readonly runtimeEndpoint: string;
  /** The cgroup that the pods' tree is in, such as `/statelet`; empty for the root. */
  readonly cgroupRoot: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  readonly cgroups: CgroupFacts;
  /** The node's addresses, the primary first. */
  readonly hostIps: readonly string[];
  /** What pods resolve with under the DNS policy Default. */
  readonly resolvConf: ResolvConf;
  /** Reads that again, for each pod (C20); absent: it does not change. */
  readonly readResolvConf?: () => Promise<ResolvConf>;
  /** Addresses of the cluster's DNS; empty when it has none. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Of the whole node. */
  readonly capacity: Capacity;
  /** What of it the pods may take. */
  readonly allocatable: Capacity;
  /** Whether a process may be made less likely to be killed for memory than its parent (CAP_SYS_RESOURCE). */
  readonly canLowerOomScoreAdj: boolean;
  /** Whether containers that name no seccomp profile get the runtime's. */
  readonly seccompDefault: boolean;
  /** What of this host's hardware containers do not see, beside what is hidden on every host; absent: nothing. */
  readonly maskedPaths?: readonly string[];
  /** How many pods can have users of their own, and how many users each; absent: as many as a node has by default. */
  readonly userNamespaces?: { readonly pods: number; readonly idsPerPod?: number };
  /** `<root>/pods/<uid>` */
  readonly podDirectory: (uid: string) => string;
}

/** The node with the resolver that it has now; rejects with what the host says when its file cannot be read. */
export const withResolver = async (node: NodeDescription): Promise<NodeDescription> =>
  node.readResolvConf ? { ...node, resolvConf: await node.readResolvConf() } : node;

/** What the node can give its pods, as quantities by resource: what stands in for limits that are not set (C21). */
export function allocatableOf({ allocatable: { cpuMillis, memoryBytes, extra } }: NodeDescription): ResourceList {
  const disk = extra?.[DISK];
  return {
    cpu: `${cpuMillis}m`,
    memory: String(memoryBytes),
    ...(disk === undefined ? {} : { [DISK]: String(disk) }),
  };
}
