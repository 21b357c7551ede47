import { join } from 'node:path';
import type { Cri } from '../../cri/client/calls.ts';
import { startTestContainerd } from '../e2e/support/containerd.ts';
import { type AgentOptions, type AgentPlace, type AgentProcess, agentPlace, startAgent } from './agentProcess.ts';
import { type Kind, nodeName, prepareManifests, removeManifests } from './manifests.ts';
import { type RawPods, rawPods } from './rawPods.ts';
import { type PodTraces, tracesOf, whenGone } from './runtimeObjects.ts';
import type { RunningPod } from './watcher.ts';

/** What is measured: a private containerd, and on it the agent and the bare calls by turns. */
export interface BenchNode {
  readonly cri: Cri;
  readonly place: AgentPlace;
  readonly raw: RawPods;
  /** Ends the containerd with all its pods. */
  end(): Promise<void>;
}

export async function startBenchNode(): Promise<BenchNode> {
  const { directory, containerd, cri, end } = await startTestContainerd();
  const { endpoint, cgroupParent: cgroupRoot } = containerd;
  const place = await agentPlace(join(directory, 'agent'), { endpoint, cgroupRoot });
  return { cri, place, raw: await rawPods(cri, { directory: join(directory, 'raw'), cgroupRoot }), end };
}

/** Runs `use` with a daemon over the place, which is ended whatever becomes of it. */
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

/** So many names of pods that no other measurement has. */
export const namesFor = (what: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${what}-${index}`);

/** The pod's name on the node. */
export const fullNameOf = (name: string): string => `${name}-${nodeName}`;

/** Lets the agent run pods; `addedAt` is when their manifests came (milliseconds since the epoch). */
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

/** Takes the manifests away; gives how long it took until nothing was left of the pods, in milliseconds. */
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
