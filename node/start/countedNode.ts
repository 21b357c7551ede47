/** Counts what a node does, where somebody can ask for that: loaded for those that serve their API. */
import { readFileSync } from 'node:fs';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../actors/node/nodeParts.ts';
import { systemClock } from '../../base/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { timedCri } from '../../cri/client/timedCri.ts';
import { type Hierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { parseBootTime } from '../../host/usage/hostFacts.ts';
import { type NodeMetrics, nodeMetrics } from '../../kubelet-api/metrics/agent/nodeMetrics.ts';
import type { FlightRecorder } from '../../recording/flightRecorder.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import type { NodeServing } from '../serve/serving.ts';
import type { Onlookers } from './onlookers.ts';
import { ownVersion } from './version.ts';

/** Who counts. */
export interface CountedNode {
  readonly metrics: NodeMetrics;
  /** Listeners that count. A kind that `onlookersOf` does not combine does not compile here. */
  readonly onlookers: Pick<Onlookers, 'answers' | 'moves' | 'decisions' | 'serviceActions'>;
  /** The runtime, with its calls counted. */
  timed(cri: Cri): Cri;
  /** To be called before the node starts. */
  begin(agent: NodeAgent, others: { readonly flight: Flight; readonly served: () => NodeServing | undefined }): void;
}

type Flight = Pick<FlightRecorder, 'progress'> | undefined;

export async function countedNode(
  config: NodeConfig,
  onError: NonNullable<NodeParts['onError']>,
): Promise<CountedNode> {
  const metrics = nodeMetrics({
    clock: systemClock,
    isInCluster: config.cluster !== undefined,
    gates: config.gates,
    bootedAt: () => {
      const bootedAt = parseBootTime(readFileSync('/proc/stat', 'utf8'));
      return bootedAt === undefined ? undefined : bootedAt / 1_000;
    },
    onError: (error) => onError('metrics', error),
  });
  const cgroupVersion = versionOf(await readHierarchies());
  const { answers, moves, decisions, serviceActions } = metrics.onlookers;
  return {
    metrics,
    onlookers: { answers, moves, decisions, serviceActions },
    timed: (cri) => timedCri(cri, () => systemClock.monotonic(), metrics.runtimeCall),
    begin: (agent, { flight, served }) => {
      const { kubeletVersion: kubelet = '', platform } = ownVersion();
      metrics.begin(agent, {
        nodeName: config.nodeName,
        cgroupVersion,
        version: { kubelet, platform },
        recorder: flight?.progress,
        sessions: () => served()?.view()?.sessions ?? [],
      });
    },
  };
}

/** A host that still has controllers on v1 is one of v1 to a kubelet (`IsCgroup2UnifiedMode`). */
const versionOf = (hierarchies: readonly Hierarchy[]): 1 | 2 =>
  hierarchies.some(({ version, controllers }) => version === 'v1' && controllers.length > 0) ? 1 : 2;
