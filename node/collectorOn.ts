/** The collector of what this host's node uses: made when somebody asks it for the first time, and shared by all who do. */
import type { Clock } from '../actors/clock.ts';
import type { NodeAgent } from '../actors/nodeAgent.ts';
import type { Cri } from '../cri/calls.ts';
import { hostCgroupfs } from '../host/cgroup/cgroupfs.ts';
import { readHierarchies } from '../host/cgroup/hierarchies.ts';
import { findPodCgroups } from '../host/cgroup/usage/podCgroupsFound.ts';
import { usageReader } from '../host/cgroup/usage/readUsage.ts';
import { Collector } from '../stats/collector.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { askCgroupDriver } from './hostConfig.ts';

interface CollectorOnParts {
  readonly config: Pick<NodeConfig, 'cgroupRoot' | 'cgroupDriver'>;
  readonly agent: Pick<NodeAgent, 'pods'>;
  readonly cri: Cri;
  readonly clock: Clock;
  /** Ends all that is underway. */
  readonly signal: AbortSignal;
}

export type GetCollector = () => Promise<Collector>;

export function collectorOn(parts: CollectorOnParts): GetCollector {
  let made: Promise<Collector> | undefined;
  return () => {
    made ??= makeCollector(parts).catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

async function makeCollector({ config, agent, cri, clock, signal }: CollectorOnParts): Promise<Collector> {
  const [hierarchies, cgroupDriver] = await Promise.all([readHierarchies(), askCgroupDriver(cri, config.cgroupDriver)]);
  const place = { cgroupRoot: config.cgroupRoot ?? '', cgroupDriver };
  return new Collector({
    ...{ cri, clock, signal, pods: agent.pods, procfs: hostCgroupfs },
    readUsage: usageReader({ hierarchies, now: () => clock.now() }),
    findCgroups: () => findPodCgroups({ place, hierarchies }),
  });
}
