import { join } from 'node:path';
import type { Cri } from '../../cri/client/calls.ts';
import { startTestContainerd } from '../e2e/support/containerd.ts';
import { type AgentOptions, type AgentPlace, type AgentProcess, agentPlace, startAgent } from './agentProcess.ts';
import { type Kind, nodeName, prepareManifests, removeManifests } from './manifests.ts';
import { type RawPods, rawPods } from './rawPods.ts';
import { type PodTraces, tracesOf, whenGone } from './runtimeObjects.ts';
import type { RunningPod } from './watcher.ts';

/** A private containerd on which the agent and the bare calls are measured alternately. */
export interface BenchNode {
  readonly cri: Cri;
  readonly place: AgentPlace;
  readonly raw: RawPods;
  /** Stops containerd and all its pods. */
  end(): Promise<void>;
}

export async function startBenchNode(): Promise<BenchNode> {
  const { directory, containerd, cri, end } = await startTestContainerd();
  const { endpoint, cgroupParent: cgroupRoot } = containerd;
  const place = await agentPlace(join(directory, 'agent'), { endpoint, cgroupRoot });
  return { cri, place, raw: await rawPods(cri, { directory: join(directory, 'raw'), cgroupRoot }), end };
}

/** Calls `use` with a daemon in the given place, and stops the daemon in any case. */
export async function withAgent<T>(
  place: AgentPlace,
  use: (agent: AgentProcess) => Promise<T>,
  options?: AgentOptions,
): Promise<T> {
  const agent = startAgent(place, options);
  try {
    await agent.watcher.running([]);
    return await use(agent);
  } finally {
    await agent.end('SIGTERM');
  }
}

/** Returns `count` pod names that no other measurement uses. */
export const namesFor = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${what}-${index}`);

/** Returns the pod's name on the node. */
export const fullNameOf = (name: string): string => `${name}-${nodeName}`;

/**
 * Waits until the agent runs new pods. `addedAt` is the time at which their manifests were added, in milliseconds since
 * the epoch.
 */
export async function runPods(
  place: AgentPlace,
  { watcher }: Pick<AgentProcess, 'watcher'>,
  names: readonly string[],
  kind?: Kind,
): Promise<{ addedAt: number; pods: RunningPod[] }> {
  const manifests = await prepareManifests(names, place.manifests, kind);
  const addedAt = await manifests.add();
  const all = await watcher.running(names.map(fullNameOf));
  return { addedAt, pods: names.flatMap((name) => all.get(fullNameOf(name)) ?? []) };
}

/** Removes the manifests and returns the time until nothing was left of the pods, in milliseconds. */
export async function endPods(
  { cri, place }: BenchNode,
  names: readonly string[],
  pods: readonly RunningPod[],
): Promise<number> {
  const traces: PodTraces[] = [];
  for (const pod of pods) traces.push(await tracesOf(cri, place, pod));
  const removedAt = await removeManifests(names, place.manifests);
  return (await whenGone(cri, traces)) - removedAt;
}
