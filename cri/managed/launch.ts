import { readFile, writeFile } from 'node:fs/promises';
import { NodeFailure } from '../../base/failure.ts';
import { startLimit } from '../../base/limit.ts';
import { mayRun, type RunningProcess } from '../../host/runningProcess.ts';
import type { Cri } from '../calls.ts';
import { containerdConfig } from './config.ts';
import { type Lease, leases, releaseLeases } from './halfMade.ts';
import { cniPluginDirectory, mayLowerOomScore } from './host.ts';
import { pauseImage } from './images.ts';
import type { Layout } from './layout.ts';
import { netNamespaces, removeNetNamespaces } from './leftNetworks.ts';
import { endTask, lostTasks, tasks } from './leftTasks.ts';
import { endProcess, findContainerd, killProcess, type Pause, spawnContainerd } from './process.ts';
import { becomeReady } from './ready.ts';

interface LaunchInput {
  readonly layout: Layout;
  readonly cri: Cri;
  readonly snapshotter: 'overlayfs' | 'native';
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string) => void;
}

export interface Launched {
  readonly containerd: RunningProcess;
  /** Whether it ran already. */
  readonly attached: boolean;
}

const readyLimitMs = 30_000;
const attachLimitMs = 5000;
const patienceMs = 5000;

/** Attaches to the containerd that runs, when it answers and is configured as we would; else starts it (again). */
export async function launch(input: LaunchInput): Promise<Launched> {
  const { layout, pause, signal, onProgress } = input;
  const tell = (error: Error) => {
    signal.throwIfAborted();
    onProgress(error.message);
  };
  const config = await wantedConfig(input);
  const running = await findContainerd(layout);
  if (running !== undefined) {
    const isSame = (await readFile(layout.config, 'utf8').catch(() => '')) === config;
    const isReady = await answers(input, running);
    if (isSame && isReady) return { containerd: running, attached: true };
    onProgress('restarting containerd; its pods keep running');
    await (isReady ? endProcess(running, patienceMs, pause) : killProcess(running, pause));
  }
  onProgress('starting a private containerd');
  await writeFile(layout.config, config);
  // Those of now: as soon as it runs it gives further ones.
  const [held, before, namespaces] = await Promise.all([leases(layout), tasks(layout), netNamespaces(layout)]);
  const containerd = await spawnContainerd(layout);
  await waitFor(input, containerd, readyLimitMs).catch((cause: unknown) => giveUp(input, containerd, cause));
  if (before.length > 0) await endLost(input, before).catch(tell);
  if (held.length > 0) {
    await releaseUnused(input, held).then((failures) => failures.forEach(onProgress), tell);
  }
  if (namespaces.length > 0) await removeUnused(input, namespaces).catch(tell);
  return { containerd, attached: false };
}

async function removeUnused({ cri, signal }: LaunchInput, namespaces: readonly string[]): Promise<void> {
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal });
  await removeNetNamespaces(namespaces, { cri, signal, sandboxes: items.map(({ id }) => id) });
}

async function endLost({ layout, cri, signal }: LaunchInput, before: readonly string[]): Promise<void> {
  const [{ items: sandboxes }, { containers }] = await Promise.all([
    cri.listPodSandbox({ filter: undefined }, { signal }),
    cri.listContainers({ filter: undefined }, { signal }),
  ]);
  for (const id of lostTasks(before, { sandboxes, containers })) await endTask(layout, id, signal);
}

async function releaseUnused({ layout, cri, signal }: LaunchInput, held: readonly Lease[]): Promise<readonly string[]> {
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal });
  const cniPlugins = await cniPluginDirectory();
  const sandboxes = items.map(({ id }) => id);
  return releaseLeases(held, { sandboxes, layout, signal, ...(cniPlugins === undefined ? {} : { cniPlugins }) });
}

async function wantedConfig({ layout, snapshotter }: LaunchInput): Promise<string> {
  const cniPlugins = (await cniPluginDirectory()) ?? '';
  const mayLower = await mayLowerOomScore();
  return containerdConfig({ layout, sandboxImage: pauseImage, snapshotter, cniPlugins, mayLowerOomScore: mayLower });
}

async function answers(input: LaunchInput, containerd: RunningProcess): Promise<boolean> {
  return waitFor(input, containerd, attachLimitMs).then(
    () => true,
    () => {
      input.signal.throwIfAborted();
      return false;
    },
  );
}

function waitFor(
  { layout, cri, pause, signal }: LaunchInput,
  containerd: RunningProcess,
  limitMs: number,
): Promise<void> {
  const limit = startLimit(limitMs);
  const ending = AbortSignal.any([signal, limit.signal]);
  return becomeReady({ layout, cri, pause, signal: ending, lives: () => mayRun(containerd) }).finally(limit.end);
}

/**
 * What we started and cannot use must not stay. It is killed: a containerd that is asked to end while it loads the shims
 * that it finds takes them for dead, and ends their containers.
 */
async function giveUp(
  { layout, pause, signal }: LaunchInput,
  containerd: RunningProcess,
  cause: unknown,
): Promise<never> {
  await killProcess(containerd, pause);
  signal.throwIfAborted();
  const log = (await readFile(layout.log, 'utf8')).trimEnd().split('\n').slice(-5).join('\n');
  throw new NodeFailure('RuntimeUnavailable', `containerd did not become ready; last lines of ${layout.log}:\n${log}`, {
    cause,
  });
}
