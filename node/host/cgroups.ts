/** Detects the cgroup features of the host, and manages the cgroups of the node's pods. */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createAlarm } from '../../actors/alarm.ts';
import { type AgentIdentity, podsOfAgent } from '../../actors/store/leftOnDisk.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { CgroupFacts, NodeDescription } from '../../cri/nodeDescription.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import { findHierarchy, type Hierarchy } from '../../host/cgroup/hierarchies.ts';
import { PodCgroups } from '../../host/cgroup/podCgroups.ts';
import { callSystemd } from '../../host/cgroup/systemd.ts';
import { parseMeminfoBytes } from '../../host/usage/hostFacts.ts';
import type { MachineInfo } from '../../host/usage/machine.ts';
import { subtractReserved } from '../../kubernetes/resources/allocatable.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import { formatPageSize, PIDS } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { NodeResources } from '../config/compile/nodeResources.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

const HUGEPAGES_PATH = '/sys/kernel/mm/hugepages';

/** Reads the facts about cgroups that apply to all containers (C25). */
export async function readCgroupFacts(config: NodeResources, hierarchies: readonly Hierarchy[]): Promise<CgroupFacts> {
  const memory = findHierarchy(hierarchies, 'memory');
  const version = memory?.version ?? 'v1';
  const hugePageDirectories = await readdir(HUGEPAGES_PATH).catch(() => []);
  return {
    perQos: config.cgroupsPerQos,
    version,
    countsSwap: memory !== undefined && (await pathExists(await findSwapAccountingFile(memory))),
    ...(config.limitedSwap ? { swapBytes: swapCapacity(await readFile('/proc/meminfo', 'utf8')) } : {}),
    killsWhole: version === 'v2' && config.singleProcessOomKill !== true,
    cfsQuota: config.cpuCfsQuota,
    cfsPeriod: config.cpuCfsQuotaPeriodMs * 1_000,
    podPids: config.podPidsLimit,
    pageSizes: hugePageDirectories.flatMap((name) => {
      const [, kilobytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
      return kilobytes === undefined ? [] : [formatPageSize(Number(kilobytes) * 1024)];
    }),
  };
}

/** Whether pods may use swap, which requires `LimitedSwap`, cgroup v2 and a kernel that accounts for swap. */
export const canPodsSwap = ({ version, countsSwap, swapBytes }: CgroupFacts): boolean =>
  version === 'v2' && countsSwap && swapBytes !== undefined;

/** Returns the size of the host's swap in bytes. `meminfo` is the content of /proc/meminfo. */
export const swapCapacity = (meminfo: string): number => parseMeminfoBytes(meminfo, 'SwapTotal') ?? 0;

/**
 * Returns the path of a file that exists only if the kernel accounts for swap. On cgroup v2, this is a file of the
 * agent's own cgroup, because the root cgroup does not have it.
 */
async function findSwapAccountingFile({ root, version }: Hierarchy): Promise<string> {
  if (version === 'v1') return join(root, 'memory.memsw.limit_in_bytes');
  const [, own = ''] = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8')) ?? [];
  return join(root, own, 'memory.swap.max');
}

const pathExists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Returns the capacity of the whole machine, regardless of the limits of the agent's own process. */
export const machineCapacity = (
  { maxPods, podsPerCore }: Pick<NodeConfig, 'maxPods' | 'podsPerCore'>,
  { cpuCount, memoryBytes }: MachineInfo,
): Capacity => ({
  cpuMillis: cpuCount * 1_000,
  memoryBytes,
  pods: podsPerCore > 0 ? Math.min(maxPods, podsPerCore * cpuCount) : maxPods,
});

/**
 * Returns the kernel's limit on the number of processes, which is also the node's PID capacity. Returns undefined if it
 * cannot be read.
 */
export async function readMaxProcesses(): Promise<number | undefined> {
  const readLimit = async (name: string) => Number(await readFile(`/proc/sys/kernel/${name}`, 'utf8'));
  const limits = await Promise.all([readLimit('pid_max'), readLimit('threads-max')]).catch(() => []);
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

/** Creates the manager of the pods' cgroups, or returns undefined if the configuration leaves them to the runtime. */
export function createPodCgroups({
  config,
  node,
  hierarchies,
  maxProcesses,
  logger,
}: {
  readonly config: NodeConfig;
  readonly node: CgroupLocation & AgentIdentity & Pick<NodeDescription, 'cgroups' | 'capacity'>;
  readonly hierarchies: readonly Hierarchy[];
  /** Maximum number of processes of the host. Undefined if unknown. */
  readonly maxProcesses: number | undefined;
  readonly logger: Logger;
}): Cgroups | undefined {
  if (!node.cgroups.perQos) return undefined;
  const { enforcesAllocatable, reservedResources } = config.resources;
  const nodeCapacity = { ...node.capacity, extra: maxProcesses === undefined ? {} : { [PIDS]: maxProcesses } };
  return new PodCgroups({
    parentCgroup: node,
    rules: node.cgroups,
    enforcedLimits: enforcesAllocatable ? subtractReserved(nodeCapacity, reservedResources) : nodeCapacity,
    hierarchies,
    systemd: callSystemd,
    listOwnPods: () => podsOfAgent(node),
    wait: (ms, signal) => createAlarm(systemClock, signal).waitUntil(systemClock.now() + ms),
    onWarning: (message) => logger.warn(message),
  });
}
