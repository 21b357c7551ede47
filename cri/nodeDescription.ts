import type { ResourceList } from '../kubernetes/api/schema/scalars.ts';
import type { CpuSet } from '../kubernetes/cpus/cpuSet.ts';
import type { ContainerEdits } from '../kubernetes/devices/devices.ts';
import { EPHEMERAL_STORAGE } from '../kubernetes/resources/allocatable.ts';
import type { CgroupRules } from '../kubernetes/resources/cgroupLimits.ts';
import type { Capacity } from '../kubernetes/resources/requests.ts';

export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** Properties of cgroups that are determined by the configuration and the kernel. */
export interface CgroupFacts extends CgroupRules {
  /** Whether pods and QoS classes have their own cgroups. */
  readonly perQos: boolean;
  /** Version of the hierarchy with the cpu and memory controllers. */
  readonly version: 'v1' | 'v2';
  /** Whether the kernel accounts for swap per cgroup. */
  readonly countsSwap: boolean;
  /**
   * Amount of the node's swap, in bytes, that Burstable pods may use in total (LimitedSwap). Undefined if containers
   * must not swap.
   */
  readonly swapBytes?: number;
  /** Whether the OOM killer terminates the whole container rather than a single process (`memory.oom.group`). */
  readonly killsWhole: boolean;
}

/** Properties of the node from which the CRI configurations of pods are built. */
export interface NodeDescription {
  readonly nodeName: string;
  /** Absolute path of the agent's root directory. */
  readonly rootDir: string;
  /** Absolute path of the directory for pod logs. */
  readonly podLogsDir: string;
  /** Value of the owner annotation on sandboxes (see `ownerAnnotation`). */
  readonly owner: string;
  /** Socket of the runtime (`unix:///…`), or `simulated` for the simulated runtime in this process. */
  readonly runtimeEndpoint: string;
  /** Cgroup that contains the cgroups of all pods, e.g. `/statelet`. Empty for the root cgroup. */
  readonly cgroupRoot: string;
  readonly cgroupDriver: 'cgroupfs' | 'systemd';
  readonly cgroups: CgroupFacts;
  /** IP addresses of the node, with the primary one first. */
  readonly hostIps: readonly string[];
  /** DNS configuration for pods with the DNS policy Default. */
  readonly resolvConf: ResolvConf;
  /** Re-reads `resolvConf` for each pod (C20). Undefined if it cannot change. */
  readonly readResolvConf?: () => Promise<ResolvConf>;
  /** IP addresses of the cluster's DNS servers. Empty if there are none. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Total resources of the node. */
  readonly capacity: Capacity;
  /** Resources of the node that are available to pods. */
  readonly allocatable: Capacity;
  /** Whether the agent may lower oom_score_adj below its parent's value (CAP_SYS_RESOURCE). */
  readonly canLowerOomScoreAdj: boolean;
  /** Whether containers without a seccomp profile get the runtime's default profile. */
  readonly seccompDefault: boolean;
  /** Paths to mask in containers on this host's hardware, in addition to the paths that are always masked. */
  readonly maskedPaths?: readonly string[];
  /** Maximum number of pods with user namespaces, and the number of IDs per pod. Undefined for the defaults. */
  readonly userNamespaces?: { readonly pods: number; readonly idsPerPod?: number };
  /** Whether a tmpfs can be mounted with `noswap`. Undefined means false. */
  readonly tmpfsNoswap?: boolean;
  /** Returns the CPUs on which a container runs. Undefined if the node does not assign CPUs. */
  readonly cpusOf?: (podUid: string, container: string) => CpuSet | undefined;
  /**
   * Returns the NUMA nodes from which a container may use memory, or an empty set if it may use the memory of any NUMA
   * node. Undefined if the agent does not assign NUMA nodes.
   */
  readonly memoryNodesOf?: (podUid: string, container: string) => CpuSet;
  /** Returns the edits that a container's devices require. Undefined if the node has no device plugins. */
  readonly editsOf?: (podUid: string, container: string) => ContainerEdits;
  /** Returns `<root>/pods/<uid>`. */
  readonly podDirectory: (uid: string) => string;
}

/** Returns the node with its current resolv.conf. Rejects if the file cannot be read. */
export const withCurrentResolvConf = async (node: NodeDescription): Promise<NodeDescription> =>
  node.readResolvConf ? { ...node, resolvConf: await node.readResolvConf() } : node;

/**
 * Returns the allocatable resources as quantities by resource name. A resourceFieldRef to a limit that the container
 * does not set resolves to the allocatable quantity (C21).
 */
export function toAllocatableResources({
  allocatable: { cpuMillis, memoryBytes, extra },
}: NodeDescription): ResourceList {
  const ephemeralStorage = extra?.[EPHEMERAL_STORAGE];
  return {
    cpu: `${cpuMillis}m`,
    memory: String(memoryBytes),
    ...(ephemeralStorage === undefined ? {} : { [EPHEMERAL_STORAGE]: String(ephemeralStorage) }),
  };
}
