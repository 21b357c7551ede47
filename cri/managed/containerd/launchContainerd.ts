import { readFile, writeFile } from 'node:fs/promises';
import { NodeFailure } from '../../../base/failure.ts';
import { startTimeLimit } from '../../../base/time/timeLimit.ts';
import { mayBeRunning, type RunningProcess } from '../../../host/runningProcess.ts';
import type { Cri } from '../../client/calls.ts';
import { canLowerOomScore, findCniPluginDirectory } from '../host.ts';
import { PAUSE_IMAGE } from '../images/images.ts';
import type { Layout } from '../layout.ts';
import { listNetNamespaces, removeNetNamespaces } from '../network/netNamespaces.ts';
import { containerdConfig } from './config.ts';
import { type Lease, listLeases, releaseLeases } from './halfMade.ts';
import { listTasks, lostTasks, removeTask } from './leftTasks.ts';
import { findContainerd, killProcess, type Pause, spawnContainerd, terminateProcess } from './process.ts';
import { waitUntilReady } from './waitUntilReady.ts';

interface LaunchInput {
  readonly layout: Layout;
  readonly cri: Cri;
  readonly snapshotter: 'overlayfs' | 'native';
  readonly pause: Pause;
  readonly signal: AbortSignal;
  readonly onProgress: (step: string) => void;
}

export interface LaunchResult {
  readonly containerd: RunningProcess;
  /** Whether containerd was already running. */
  readonly wasRunning: boolean;
}

const READY_TIMEOUT_MS = 30_000;
const ATTACH_TIMEOUT_MS = 5000;
const STOP_TIMEOUT_MS = 5000;

/**
 * Attaches to a running containerd if it responds and has the expected configuration. Otherwise starts or restarts it.
 */
export async function launchContainerd(input: LaunchInput): Promise<LaunchResult> {
  const { layout, pause, signal, onProgress } = input;
  const reportError = (error: Error) => {
    signal.throwIfAborted();
    onProgress(error.message);
  };
  const config = await buildConfig(input);
  const runningContainerd = await findContainerd(layout);
  if (runningContainerd !== undefined) {
    const hasSameConfig = (await readFile(layout.config, 'utf8').catch(() => '')) === config;
    const isReady = await isResponsive(input, runningContainerd);
    if (hasSameConfig && isReady) return { containerd: runningContainerd, wasRunning: true };
    onProgress('restarting containerd; its pods keep running');
    await (isReady
      ? terminateProcess(runningContainerd, STOP_TIMEOUT_MS, pause)
      : killProcess(runningContainerd, pause));
  }
  onProgress('starting a private containerd');
  await writeFile(layout.config, config);
  // Read the existing resources before the start, because a running containerd creates further leases, tasks and
  // namespaces.
  const [allocatedLeases, tasksBefore, namespaces] = await Promise.all([
    listLeases(layout),
    listTasks(layout),
    listNetNamespaces(layout),
  ]);
  const containerd = await spawnContainerd(layout);
  await waitUntilReadyOrTimeout(input, containerd, READY_TIMEOUT_MS).catch((cause: unknown) =>
    abandonLaunch(input, containerd, cause),
  );
  if (tasksBefore.length > 0) await removeLostTasks(input, tasksBefore).catch(reportError);
  if (allocatedLeases.length > 0) {
    await releaseUnusedLeases(input, allocatedLeases).then((failures) => failures.forEach(onProgress), reportError);
  }
  if (namespaces.length > 0) await removeUnusedNamespaces(input, namespaces).catch(reportError);
  return { containerd, wasRunning: false };
}

async function removeUnusedNamespaces({ cri, signal }: LaunchInput, namespaces: readonly string[]): Promise<void> {
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal });
  await removeNetNamespaces(namespaces, { cri, signal, sandboxes: items.map(({ id }) => id) });
}

async function removeLostTasks({ layout, cri, signal }: LaunchInput, tasksBefore: readonly string[]): Promise<void> {
  const [{ items: sandboxes }, { containers }] = await Promise.all([
    cri.listPodSandbox({ filter: undefined }, { signal }),
    cri.listContainers({ filter: undefined }, { signal }),
  ]);
  for (const id of lostTasks(tasksBefore, { sandboxes, containers })) await removeTask(layout, id, signal);
}

async function releaseUnusedLeases(
  { layout, cri, signal }: LaunchInput,
  allocatedLeases: readonly Lease[],
): Promise<readonly string[]> {
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal });
  const cniPluginDirectory = await findCniPluginDirectory();
  const sandboxes = items.map(({ id }) => id);
  return releaseLeases(allocatedLeases, {
    sandboxes,
    layout,
    signal,
    ...(cniPluginDirectory === undefined ? {} : { cniPlugins: cniPluginDirectory }),
  });
}

async function buildConfig({ layout, snapshotter }: LaunchInput): Promise<string> {
  const cniPluginDirectory = (await findCniPluginDirectory()) ?? '';
  const canLowerScore = await canLowerOomScore();
  return containerdConfig({
    layout,
    sandboxImage: PAUSE_IMAGE,
    snapshotter,
    cniPlugins: cniPluginDirectory,
    canLowerOomScore: canLowerScore,
  });
}

async function isResponsive(input: LaunchInput, containerd: RunningProcess): Promise<boolean> {
  return waitUntilReadyOrTimeout(input, containerd, ATTACH_TIMEOUT_MS).then(
    () => true,
    () => {
      input.signal.throwIfAborted();
      return false;
    },
  );
}

function waitUntilReadyOrTimeout(
  { layout, cri, pause, signal }: LaunchInput,
  containerd: RunningProcess,
  timeoutMs: number,
): Promise<void> {
  const limit = startTimeLimit(timeoutMs);
  const anySignal = AbortSignal.any([signal, limit.signal]);
  return waitUntilReady({ layout, cri, pause, signal: anySignal, isAlive: () => mayBeRunning(containerd) }).finally(
    limit.clear,
  );
}

/**
 * Kills a containerd that did not become ready, and throws. It is killed rather than stopped, because a containerd that
 * receives SIGTERM while it loads existing shims considers them dead and terminates their containers.
 */
async function abandonLaunch(
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
