/** What the host's kernel and the configuration say of cgroups, and the cgroups that the node makes of it. */
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock } from '../actors/clock.ts';
import { createAlarm } from '../actors/feeds/alarm.ts';
import { type Hierarchy, hierarchyOf } from '../cgroup/hierarchies.ts';
import { type PodCgroups, podCgroups } from '../cgroup/podCgroups.ts';
import { callSystemd } from '../cgroup/systemd.ts';
import type { CgroupFacts, NodeFacts } from '../cri/nodeFacts.ts';
import { unreserved } from '../pod/allocatable.ts';
import { pageName } from '../pod/cgroupLimits.ts';
import type { Capacity } from '../pod/claims.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import type { NodeResources } from './config/nodeResources.ts';

const PAGES = '/sys/kernel/mm/hugepages';

export async function cgroupFacts(config: NodeResources, hierarchies: readonly Hierarchy[]): Promise<CgroupFacts> {
  const memory = hierarchyOf(hierarchies, 'memory');
  const version = memory?.version ?? 'v1';
  const pages = await readdir(PAGES).catch(() => []);
  return {
    perQos: config.cgroupsPerQos,
    version,
    countsSwap: memory !== undefined && (await exists(await swapFile(memory))),
    killsWhole: version === 'v2' && config.singleProcessOomKill !== true,
    cfsQuota: config.cpuCfsQuota,
    cfsPeriod: config.cpuCfsQuotaPeriodMs * 1_000,
    podPids: config.podPidsLimit,
    pageSizes: pages.flatMap((name) => {
      const [, kilobytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
      return kilobytes === undefined ? [] : [pageName(Number(kilobytes) * 1024)];
    }),
  };
}

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

/** What the node has in all. */
export const capacityOf = (
  { maxPods, podsPerCore }: Pick<NodeConfig, 'maxPods' | 'podsPerCore'>,
  { cpuCount, memoryCapacityBytes }: Pick<NodeFacts, 'cpuCount' | 'memoryCapacityBytes'>,
): Capacity => ({
  cpuMillis: cpuCount * 1_000,
  memoryBytes: memoryCapacityBytes,
  pods: podsPerCore > 0 ? Math.min(maxPods, podsPerCore * cpuCount) : maxPods,
});

/** The cgroups of the node's pods; undefined where the configuration leaves them to the runtime. */
export function ownCgroups(given: {
  readonly config: NodeConfig;
  readonly node: NodeFacts;
  readonly hierarchies: readonly Hierarchy[];
  readonly logger: Logger;
}): PodCgroups | undefined {
  const { config, node, hierarchies, logger } = given;
  if (!node.cgroups.perQos) return undefined;
  const { enforcesAllocatable, reserved } = config.resources;
  const capacity = capacityOf(config, node);
  const cgroups = podCgroups({
    place: node,
    rules: node.cgroups,
    enforced: enforcesAllocatable ? unreserved(capacity, reserved) : capacity,
    hierarchies,
    systemd: callSystemd,
    wait: (ms, signal) => createAlarm(systemClock, signal).wait(systemClock.now() + ms),
    onTrouble: (error) =>
      logger.warn(
        `the cgroups of pods stay as the runtime makes them: ${error instanceof Error ? error.message : error}`,
      ),
  });
  // What fails here the first pod tries again, and tells.
  cgroups.begin().catch(() => {});
  return cgroups;
}
