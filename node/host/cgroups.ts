/** What the host's kernel and the configuration say of cgroups, and the cgroups that the node makes of it. */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createAlarm } from '../../actors/alarm.ts';
import { type AgentPlace, podsOfAgent } from '../../actors/store/leftOnDisk.ts';
import { systemClock } from '../../base/clock.ts';
import type { CgroupFacts, NodeDescription } from '../../cri/nodeDescription.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import { type Hierarchy, hierarchyOf } from '../../host/cgroup/hierarchies.ts';
import { PodCgroups } from '../../host/cgroup/podCgroups.ts';
import { callSystemd } from '../../host/cgroup/systemd.ts';
import { parseMeminfoBytes } from '../../host/usage/hostFacts.ts';
import type { Machine } from '../../host/usage/machine.ts';
import { subtractReserved } from '../../kubernetes/resources/allocatable.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import { formatPageSize, PIDS } from '../../kubernetes/resources/cgroupLimits.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import type { NodeResources } from '../config/nodeResources.ts';

const PAGES = '/sys/kernel/mm/hugepages';

/** What containers are told of cgroups, beside their own limits (C25). */
export async function cgroupFacts(config: NodeResources, hierarchies: readonly Hierarchy[]): Promise<CgroupFacts> {
  const memory = hierarchyOf(hierarchies, 'memory');
  const version = memory?.version ?? 'v1';
  const pages = await readdir(PAGES).catch(() => []);
  return {
    perQos: config.cgroupsPerQos,
    version,
    countsSwap: memory !== undefined && (await exists(await swapFile(memory))),
    ...(config.limitedSwap ? { swapBytes: swapCapacity(await readFile('/proc/meminfo', 'utf8')) } : {}),
    killsWhole: version === 'v2' && config.singleProcessOomKill !== true,
    cfsQuota: config.cpuCfsQuota,
    cfsPeriod: config.cpuCfsQuotaPeriodMs * 1_000,
    podPids: config.podPidsLimit,
    pageSizes: pages.flatMap((name) => {
      const [, kilobytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
      return kilobytes === undefined ? [] : [formatPageSize(Number(kilobytes) * 1024)];
    }),
  };
}

/** Whether any pod of the node has swap. */
export const mayPodsSwap = ({ version, countsSwap, swapBytes }: CgroupFacts): boolean =>
  version === 'v2' && countsSwap && swapBytes !== undefined;

/** Bytes of all swap that the host has, by the text of its `meminfo`. */
export const swapCapacity = (meminfo: string): number => parseMeminfoBytes(meminfo, 'SwapTotal') ?? 0;

/** The root of v2 has no such file: one's own cgroup shows whether the kernel has it. */
async function swapFile({ root, version }: Hierarchy): Promise<string> {
  if (version === 'v1') return join(root, 'memory.memsw.limit_in_bytes');
  const [, own = ''] = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8')) ?? [];
  return join(root, own, 'memory.swap.max');
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** The capacity of the node, which is that of the whole machine, whatever this process may use of it. */
export const capacityOf = (
  { maxPods, podsPerCore }: Pick<NodeConfig, 'maxPods' | 'podsPerCore'>,
  { cpuCount, memoryBytes }: Machine,
): Capacity => ({
  cpuMillis: cpuCount * 1_000,
  memoryBytes,
  pods: podsPerCore > 0 ? Math.min(maxPods, podsPerCore * cpuCount) : maxPods,
});

/** How many processes the kernel takes: what all pods may have without those that are reserved. */
export async function processRoom(): Promise<number | undefined> {
  const read = async (name: string) => Number(await readFile(`/proc/sys/kernel/${name}`, 'utf8'));
  const room = await Promise.all([read('pid_max'), read('threads-max')]).catch(() => []);
  return room.length > 0 ? Math.min(...room) : undefined;
}

/** The cgroups of the node's pods; undefined where the configuration leaves them to the runtime. */
export function ownCgroups(given: {
  readonly config: NodeConfig;
  readonly node: CgroupLocation & AgentPlace & Pick<NodeDescription, 'cgroups' | 'capacity'>;
  readonly hierarchies: readonly Hierarchy[];
  /** How many processes the node takes in all, if that is known. */
  readonly pids: number | undefined;
  readonly logger: Logger;
}): Cgroups | undefined {
  const { config, node, hierarchies, pids, logger } = given;
  if (!node.cgroups.perQos) return undefined;
  const { enforcesAllocatable, reserved } = config.resources;
  const capacity = { ...node.capacity, extra: pids === undefined ? {} : { [PIDS]: pids } };
  return new PodCgroups({
    place: node,
    rules: node.cgroups,
    enforced: enforcesAllocatable ? subtractReserved(capacity, reserved) : capacity,
    hierarchies,
    systemd: callSystemd,
    ownPods: () => podsOfAgent(node),
    wait: (ms, signal) => createAlarm(systemClock, signal).wait(systemClock.now() + ms),
    onWarning: (message) => logger.warn(message),
  });
}
