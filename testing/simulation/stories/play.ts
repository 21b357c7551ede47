/** Plays a story on a simulated node and reports the invariant that it violates. */

import type { InspectionEvent } from 'xstate';
import { formatExplanation } from '../../../show/explain/formatExplanation.ts';
import type { ClusterFactory } from '../cluster/simulatedCluster.ts';
import { simulatedCpuManager, simulatedMemoryManager, simulatedTopologyManager } from '../host/cpuTopologies.ts';
import { MANIFEST_URL } from '../host/manifestSources.ts';
import type { Invariant, Violation } from '../invariants/invariant.ts';
import { InvariantViolated } from '../invariants/invariant.ts';
import type { FaultPlan } from '../run/gate.ts';
import { DEVICE_PLUGIN_DIR } from '../run/nodeConfig.ts';
import { Simulation } from '../simulateNode.ts';
import type { Story } from './story.ts';

/**
 * Maximum time for a node to settle after faults have ended, in milliseconds. It covers a back-off, a grace period and
 * the timeout of a call.
 */
const SETTLE_TIMEOUT_MS = 10 * 60_000;

/**
 * Time in milliseconds after which the periodic tasks of the node have run again and have forgotten removed objects.
 */
const CLEANUP_MS = 70_000;

export interface Outcome {
  readonly violation?: Violation;
  /** Explanations of the pods at the time of the violation. */
  readonly explanations?: readonly string[];
  readonly steps: number;
  /** Number of calls to the outside. */
  readonly calls: number;
  readonly elapsed: number;
  readonly simulation: Simulation;
}

export interface PlayOptions {
  readonly invariants: readonly Invariant[];
  readonly records?: boolean;
  /** Whether to replay the recording of each agent and compare the result. */
  readonly replays?: boolean;
  readonly traces?: boolean;
  /** Receives every inspection event of XState. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Whether to skip the comparison with a new agent after the node has settled. */
  readonly isBrief?: boolean;
  /** Faults of the calls for which the story has none. */
  readonly faults?: FaultPlan;
  /** Creates the cluster of the node. Undefined if the node belongs to none. */
  readonly cluster?: ClusterFactory | undefined;
}

/** Hard thresholds at a tenth of each resource, and a soft threshold for memory. */
const EVICTION = {
  thresholds: [
    { signal: 'memory.available', value: '10%', graceMs: 0 },
    { signal: 'nodefs.available', value: '10%', graceMs: 0 },
    { signal: 'nodefs.inodesFree', value: '10%', graceMs: 0 },
    { signal: 'imagefs.available', value: '10%', graceMs: 0 },
    { signal: 'imagefs.inodesFree', value: '10%', graceMs: 0 },
    { signal: 'pid.available', value: '10%', graceMs: 0 },
    { signal: 'memory.available', value: '20%', graceMs: 20_000 },
  ],
  transitionMs: 30_000,
  maxPodGraceSeconds: 5,
  enforcesStorageLimits: true,
} as const;

/** Grace periods of two priority groups. */
const SHUTDOWN = {
  periods: [
    { priority: 0, graceSeconds: 15 },
    { priority: 2_000_000_000, graceSeconds: 10 },
  ],
} as const;

export async function play(story: Story, options: PlayOptions): Promise<Outcome> {
  const { seed } = story;
  const { isBrief = false, ...rest } = options;
  const faults = new Map(story.faults.map(({ call, fault }) => [call, fault]));
  const simulation = new Simulation({
    ...rest,
    overtakes: story.overtakes ?? false,
    cgroups: story.cgroups,
    diskLayout: story.diskLayout,
    objects: story.objects,
    seed,
    faults: (call, index, at) => faults.get(index) ?? options.faults?.(call, index, at),
    config: {
      startSlots: 2,
      crashLoop: { baseMs: 2_000, maxMs: 20_000 },
      ...(story.machine === undefined ? {} : { cpuManager: simulatedCpuManager(story.machine) }),
      ...(story.machine && story.assignsMemory ? { memoryManager: simulatedMemoryManager(story.machine) } : {}),
      ...topologyOf(story),
      ...(story.hasPlugin ? { devicePluginDir: DEVICE_PLUGIN_DIR } : {}),
      ...(story.evicts ? { eviction: EVICTION } : {}),
      ...(story.followsShutdown ? { shutdown: SHUTDOWN } : {}),
      ...sourcesOf(story),
    },
  });
  const result = () => ({
    steps: simulation.steps,
    calls: simulation.calls,
    elapsed: simulation.elapsed,
    simulation,
  });
  try {
    await simulation.host.open();
    // Inside the try block, because the first agent may violate an invariant immediately.
    await simulation.startAgent();
    const checkReplay = async () => options.replays && simulation.checkReplay();
    await performActions(simulation, story, checkReplay);
    if (!isBrief) await compareWithNewAgent(simulation);
    await checkReplay();
    return result();
  } catch (error) {
    if (!(error instanceof InvariantViolated)) throw error;
    return { violation: error.violation, explanations: explanationsOf(simulation), ...result() };
  } finally {
    simulation.kill({ cutsCalls: true });
  }
}

/**
 * Whether the node reads manifests from a URL. A shrunk story states this explicitly, because it may have lost the
 * action that needs the URL.
 */
export const needsUrl = ({ actions, hasUrl }: Story): boolean =>
  hasUrl ?? actions.some(({ action }) => action.kind === 'url' || (action.kind === 'apply' && action.by === 'url'));

const topologyOf = ({ machine, topology }: Story) =>
  machine && topology ? { topologyManager: simulatedTopologyManager(machine, topology.policy, topology.isPerPod) } : {};

const sourcesOf = (story: Story) =>
  needsUrl(story) ? { manifestUrl: { url: MANIFEST_URL, headers: [], everyMs: 20_000 } } : {};

const explanationsOf = (simulation: Simulation): string[] =>
  simulation.pods().flatMap(({ metadata }) => {
    const explanation = simulation.explain(metadata.uid);
    return explanation ? [formatExplanation(explanation)] : [];
  });

/**
 * Runs the actions of a story. `checkReplay` is called whenever the actors of an agent may be gone afterwards. A killed
 * agent is checked when it is killed.
 */
async function performActions(
  simulation: Simulation,
  { actions, lastsMs }: Story,
  checkReplay: () => Promise<unknown>,
): Promise<void> {
  const ordered = actions.toSorted((a, b) => a.at - b.at);
  for (const { at, action } of ordered) {
    await simulation.advance(Math.max(0, at - simulation.elapsed));
    if (action.kind === 'stopAgent') await checkReplay();
    simulation.perform(action);
  }
  await simulation.advance(Math.max(0, lastsMs - simulation.elapsed));
  simulation.endFaults();
  await simulation.startAgent();
  await simulation.settle(SETTLE_TIMEOUT_MS);
  await checkReplay();
  for (const pod of [...simulation.actionLog.wanted.keys()]) simulation.remove(pod);
  await simulation.settle(SETTLE_TIMEOUT_MS);
  await checkReplay();
}

/** Checks that a new agent on the same host settles to the same state. */
async function compareWithNewAgent(simulation: Simulation): Promise<void> {
  await simulation.advance(CLEANUP_MS);
  simulation.check({ isAtRest: true });
  simulation.kill({ cutsCalls: true });
  await simulation.startAgent();
  await simulation.settle(SETTLE_TIMEOUT_MS);
}
