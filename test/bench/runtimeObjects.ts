import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { Cri } from '../../cri/client/calls.ts';
import { noAbort } from '../e2e/support/containerd.ts';
import type { AgentPlace } from './agentProcess.ts';
import { preciseNow } from './statistics.ts';
import type { RunningPod } from './watcher.ts';

const options = { signal: noAbort };
const LIMIT_MS = 120_000;

const containerInfo = z.object({
  pid: z.number(),
  sandboxID: z.string(),
  runtimeSpec: z.object({
    linux: z.object({ namespaces: z.array(z.object({ type: z.string(), path: z.optional(z.string()) })) }),
  }),
});
const sandboxInfo = z.pick(containerInfo, { runtimeSpec: true });

/** Everything that exists of a pod in the runtime and on disk. */
export interface PodTraces {
  readonly sandboxId: string;
  /** Paths of its network namespace and of its directory, which contains the volumes. */
  readonly paths: readonly string[];
}

/** Returns the PID of a container's process on the host. */
export async function processOf(cri: Cri, containerId: string): Promise<number> {
  return (await inspect(cri, containerId)).pid;
}

/** Returns the time at which a container was started according to the runtime, in milliseconds since the epoch. */
export async function startedAt(cri: Cri, containerId: string): Promise<number> {
  const { status } = await cri.containerStatus({ containerId, verbose: false }, options);
  return Number(status?.startedAt ?? 0n) / 1e6;
}

/** Returns everything of the agent's pod that must be removed with it. */
export async function tracesOf(cri: Cri, place: AgentPlace, { uid, containerId }: RunningPod): Promise<PodTraces> {
  const { sandboxID: sandboxId } = await inspect(cri, containerId);
  const { info } = await cri.podSandboxStatus({ podSandboxId: sandboxId, verbose: true }, options);
  const { runtimeSpec } = sandboxInfo.parse(JSON.parse(info.info ?? '{}'));
  const network = runtimeSpec.linux.namespaces.find(({ type }) => type === 'network')?.path;
  if (network === undefined) throw new Error(`the sandbox ${sandboxId} has no network namespace`);
  const paths = [network, join(place.rootDir, 'pods', uid)];
  for (const path of paths) if (!existsSync(path)) throw new Error(`there is no ${path}`);
  return { sandboxId, paths };
}

/** Waits until nothing is left of the pods. Returns that time in milliseconds since the epoch. */
export async function whenGone(cri: Cri, pods: readonly PodTraces[]): Promise<number> {
  const limit = preciseNow() + LIMIT_MS;
  for (;;) {
    // The files on disk are removed last and are cheap to check. Query the runtime only once they are gone.
    while (pods.some(({ paths }) => paths.some((path) => existsSync(path)))) {
      if (preciseNow() > limit) throw new Error('a pod does not go');
      await pause(1);
    }
    const at = preciseNow();
    if ((await remaining(cri, new Set(pods.map(({ sandboxId }) => sandboxId)))) === 0) return at;
  }
}

async function remaining(cri: Cri, sandboxIds: ReadonlySet<string>): Promise<number> {
  const [{ items }, { containers }] = await Promise.all([
    cri.listPodSandbox({ filter: undefined }, options),
    cri.listContainers({ filter: undefined }, options),
  ]);
  const sandboxes = items.filter(({ id }) => sandboxIds.has(id));
  return sandboxes.length + containers.filter(({ podSandboxId }) => sandboxIds.has(podSandboxId)).length;
}

async function inspect(cri: Cri, containerId: string): Promise<z.output<typeof containerInfo>> {
  const { info } = await cri.containerStatus({ containerId, verbose: true }, options);
  return containerInfo.parse(JSON.parse(info.info ?? '{}'));
}
