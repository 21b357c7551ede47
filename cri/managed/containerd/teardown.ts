import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cri } from '../../client/calls.ts';
import { listPodCgroups, removeCgroups } from '../cgroups.ts';
import { CRI_NAMESPACE, type Layout } from '../layout.ts';
import { unmountAll } from '../mounts.ts';
import { removeNetwork } from '../network/network.ts';
import { run } from '../program.ts';
import { removeShimSocket } from './leftTasks.ts';
import { findContainerd, findShims, killShim, type Pause, terminateProcess } from './process.ts';

interface TeardownInput {
  readonly layout: Layout;
  /** Opens a connection to containerd. `tearDown` closes it. */
  readonly connect: () => Cri;
  readonly signal: AbortSignal;
  readonly pause: Pause;
}

/**
 * Terminates a private containerd with its remaining pods and removes its resources from the host. If containerd is
 * dead or hangs, the resources are removed without the CRI. The images and the log remain in the directory of the
 * containerd.
 */
export async function tearDown({ layout, connect, signal, pause }: TeardownInput): Promise<void> {
  const cgroups = await listPodCgroups(layout);
  const ids = await readdir(join(layout.runcRoot, CRI_NAMESPACE)).catch(() => []);
  const runningContainerd = await findContainerd(layout);
  if (runningContainerd !== undefined) {
    await removeSandboxes(connect(), signal).catch(() => signal.throwIfAborted());
    await terminateProcess(runningContainerd, 5_000, pause);
  }
  await removeContainers(layout, signal);
  await Promise.all(ids.map((id) => removeShimSocket(layout, id)));
  await unmountAll(layout, signal);
  await removeNetwork(layout, signal);
  await removeCgroups(layout.cgroupParent, cgroups, pause);
  // Do not remove the files that identify the directory as belonging to a private containerd, because the next start
  // needs them.
  const leftoverPaths = [layout.state, layout.socket, `${layout.socket}.ttrpc`, layout.pidFile, layout.shortDirectory];
  await Promise.all(leftoverPaths.map((path) => rm(path, { recursive: true, force: true })));
}

/** Stops and removes the sandboxes through the CRI, so that containerd removes the network of each pod. */
async function removeSandboxes(cri: Cri, signal: AbortSignal): Promise<void> {
  try {
    const { items } = await cri.listPodSandbox({ filter: undefined }, { signal, timeoutMs: 5000 });
    const remainingIds = items.map(({ id }) => id);
    const removeNext = async () => {
      for (let id = remainingIds.pop(); id !== undefined; id = remainingIds.pop()) {
        await cri.stopPodSandbox({ podSandboxId: id }, { signal, timeoutMs: 15_000 });
        await cri.removePodSandbox({ podSandboxId: id }, { signal, timeoutMs: 15_000 });
      }
    };
    await Promise.all([removeNext(), removeNext(), removeNext()]);
  } finally {
    cri.close();
  }
}

/**
 * Removes containers whose containerd is gone, and then their shims. In the opposite order, the containers would keep
 * running.
 */
async function removeContainers(layout: Layout, signal: AbortSignal): Promise<void> {
  const runcRoot = join(layout.runcRoot, CRI_NAMESPACE);
  const ids = await readdir(runcRoot).catch(() => []);
  // Ignore a failure, because the command fails if runc has not created the container.
  const removeContainer = (id: string) =>
    run('runc', ['--root', runcRoot, 'delete', '--force', id], { signal }).catch(() => {});
  for (const id of ids) await removeContainer(id);
  for (const shim of await findShims(layout)) await killShim(shim);
}
