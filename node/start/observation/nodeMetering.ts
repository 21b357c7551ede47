/** Creates the metrics of a node that serves its API. Imported lazily, because other nodes have none. */
import { readFileSync } from 'node:fs';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { withCallTiming } from '../../../cri/client/timedCri.ts';
import { type Hierarchy, readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import { parseBootTime } from '../../../host/usage/hostFacts.ts';
import { type NodeMetrics, nodeMetrics } from '../../../kubelet-api/metrics/agent/nodeMetrics.ts';
import type { FlightRecorder } from '../../../recording/flightRecorder.ts';
import type { NodeConfig } from '../../config/nodeConfig.ts';
import type { NodeApiServer } from '../../serve/serveNodeApi.ts';
import { ownVersion } from '../ownVersion.ts';
import type { NodeObservers } from './nodeObservers.ts';

export interface NodeMetering {
  readonly metrics: NodeMetrics;
  /** Observers that update the metrics. The type allows only kinds of observers that `combineObservers` supports. */
  readonly observers: Pick<NodeObservers, keyof NodeMetrics['observers']>;
  /** Wraps a runtime so that its calls are counted. */
  withCallMetrics(cri: Cri): Cri;
  /** Starts to observe an agent. Must be called before the agent starts. */
  start(agent: NodeAgent, sources: MetricSources): void;
}

interface MetricSources {
  /** The flight recorder. Undefined if nothing is recorded. */
  readonly flightRecorder: Pick<FlightRecorder, 'progress'> | undefined;
  readonly api: () => NodeApiServer | undefined;
}

export async function createNodeMetering(
  config: NodeConfig,
  onError: NonNullable<NodeParts['onError']>,
): Promise<NodeMetering> {
  const metrics = nodeMetrics({
    clock: systemClock,
    isInCluster: config.cluster !== undefined,
    gates: config.featureGates,
    managerPolicies: {
      assignsCpus: config.resourceManagers.cpuPolicy !== undefined,
      choosesNumaNodes: config.resourceManagers.topology !== undefined,
    },
    bootedAt: () => {
      const bootTime = parseBootTime(readFileSync('/proc/stat', 'utf8'));
      return bootTime === undefined ? undefined : bootTime / 1_000;
    },
    onError: (error) => onError('metrics', error),
  });
  const { memoryQos } = config.resources;
  const cgroupVersion = toCgroupVersion(await readHierarchies());
  return {
    metrics,
    observers: metrics.observers,
    withCallMetrics: (cri) => withCallTiming(cri, () => systemClock.monotonic(), metrics.onRuntimeCall),
    start: (agent, { flightRecorder, api }) => {
      const { kubeletVersion: kubelet = '', platform } = ownVersion();
      metrics.start(agent, {
        nodeName: config.nodeName,
        cgroupVersion,
        // Cgroup v1 cannot protect memory, so tiered protection is off on such hosts.
        memoryQos: memoryQos && { isTiered: memoryQos.isTiered && cgroupVersion === 2 },
        version: { kubelet, platform },
        recorder: flightRecorder?.progress,
        sessions: () => api()?.view()?.sessions ?? [],
      });
    },
  };
}

/**
 * Returns 1 if any controller uses cgroup v1, and 2 otherwise. The kubelet determines the version in the same way
 * (`IsCgroup2UnifiedMode`).
 */
const toCgroupVersion = (hierarchies: readonly Hierarchy[]): 1 | 2 =>
  hierarchies.some(({ version, controllers }) => version === 'v1' && controllers.length > 0) ? 1 : 2;
