/** Collects the usage statistics of the node and its pods. All servers of the node's API share these statistics. */
import { waitOnce } from '../../actors/alarm.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import { type Clock, systemJitter } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { readAgentCgroup } from '../../host/cgroup/agentCgroup.ts';
import { hostCgroupfs } from '../../host/cgroup/cgroupfs.ts';
import { readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { findPodCgroups, sharedCgroupPath } from '../../host/cgroup/usage/findPodCgroups.ts';
import { createUsageReader } from '../../host/cgroup/usage/readUsage.ts';
import { createLayout } from '../../host/pods/layout.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import { Collector } from '../../stats/node/collector.ts';
import { createHostFacts } from '../../stats/node/hostFacts.ts';
import { ResourceMeter } from '../../stats/node/resourceMeter.ts';
import { StatsProvider } from '../../stats/node/statsProvider.ts';
import { countTrees } from '../../stats/pods/countTrees.ts';
import { LogUsages } from '../../stats/pods/logUsages.ts';
import { VolumeUsage } from '../../stats/pods/volumeUsage.ts';
import { withReducedTimeouts } from '../../stats/withReducedTimeouts.ts';
import { volumePlugins } from '../../volume/plugins/plugins.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

export interface NodeStatsDependencies {
  readonly config: NodeConfig;
  readonly agent: Pick<NodeAgent, 'pods' | 'subscribe'>;
  readonly cri: Cri;
  readonly clock: Clock;
  /** The parent of the pods' cgroups. Undefined if pods have no cgroups. */
  readonly cgroupLocation?: CgroupLocation | undefined;
  /** Called after each measurement of a volume, with its duration in milliseconds. */
  readonly onVolumeMeasured?: ((ms: number) => void) | undefined;
  /** Aborting this signal aborts all measurements. */
  readonly signal: AbortSignal;
}

export interface NodeStats {
  readonly collector: Collector;
  readonly provider: StatsProvider;
  readonly logUsages: LogUsages;
  readonly resourceMeter: ResourceMeter;
}

/** Creates the collectors of usage statistics. They measure only on request. */
export async function createNodeStats(dependencies: NodeStatsDependencies): Promise<NodeStats> {
  const { config, agent, clock, cgroupLocation, signal } = dependencies;
  const cri = withReducedTimeouts(dependencies.cri, clock);
  const hierarchies = await readHierarchies().catch(() => []);
  const commonOptions = { clock, signal, pods: agent.pods };
  const collector = new Collector({
    ...commonOptions,
    cri,
    readUsage: createUsageReader({ hierarchies, now: () => clock.now() }),
    findCgroups: cgroupLocation && (() => findPodCgroups({ location: cgroupLocation, hierarchies })),
    findSharedCgroup: cgroupLocation && (() => sharedCgroupPath(cgroupLocation)),
    findAgentCgroup: readAgentCgroup,
    procfs: hostCgroupfs,
  });
  const layout = createLayout({ rootDir: config.rootDirectory, podLogsDir: config.podLogsDirectory });
  const volumes = new VolumeUsage({
    ...commonOptions,
    layout,
    measure: countTrees,
    onMeasured: dependencies.onVolumeMeasured,
    jitter: systemJitter,
    periodMs: config.volumeStatsMs,
    findPlugin: (volume) => volumePlugins.find(({ supportsVolume }) => supportsVolume(volume))?.name,
  });
  const unsubscribe = agent.subscribe(({ uid, removed, pod }) => {
    if (removed || pod.metadata.deletionTimestamp) volumes.abortPod(uid);
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
  const hostFacts = createHostFacts(hierarchies);
  const provider = new StatsProvider({
    ...commonOptions,
    nodeName: config.nodeName,
    collector,
    cri,
    layout,
    volumes,
    hostFacts,
    rootDirectory: config.rootDirectory,
    wait: (ms, signal) => waitOnce(clock.now() + ms, clock, signal),
  });
  const { rootDirectory } = config;
  const resourceMeter = new ResourceMeter({ collector, provider, cri, hostFacts, rootDirectory, clock });
  return { collector, provider, resourceMeter, logUsages: new LogUsages({ ...commonOptions, layout }) };
}
