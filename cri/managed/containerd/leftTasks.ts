/**
 * Removes the remains of tasks whose start was interrupted because containerd was killed. A task may leave a shim, a
 * `runc` process that has not created the container yet, and a bundle. A restarted containerd ignores all of them.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Container, type PodSandbox, PodSandboxState } from '../../generated/runtime.ts';
import { killContainer } from '../cgroups.ts';
import { CRI_NAMESPACE, type Layout } from '../layout.ts';
import { parseMountPointsBelow } from '../mounts.ts';
import { run } from '../program.ts';
import { findShims, killShim } from './process.ts';

/** Lists the IDs of the sandboxes and containers with a shim or a bundle. */
export async function listTasks(layout: Layout): Promise<readonly string[]> {
  const bundles = await readdir(layout.bundles).catch(() => []);
  const shims = await findShims(layout);
  return [...new Set([...bundles, ...shims.map(({ sandboxId }) => sandboxId)])];
}

/** Sandboxes and containers of which the runtime has a record. */
interface RuntimeObjects {
  readonly sandboxes: readonly Pick<PodSandbox, 'id' | 'state'>[];
  readonly containers: readonly Pick<Container, 'id' | 'podSandboxId'>[];
}

/**
 * Returns the tasks that the runtime will never stop, because it has no record of them, or because it considers the
 * sandbox dead and the sandbox has no container.
 */
export function lostTasks(taskIds: readonly string[], { sandboxes, containers }: RuntimeObjects): readonly string[] {
  const usedIds = new Set(containers.flatMap(({ id, podSandboxId }) => [id, podSandboxId]));
  const readySandboxes = sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY);
  for (const { id } of readySandboxes) usedIds.add(id);
  return taskIds.filter((id) => !usedIds.has(id));
}

/** Kills the processes of a task and removes its leftovers. The shim of a sandbox is killed as well. */
export async function removeTask(layout: Layout, id: string, signal: AbortSignal): Promise<void> {
  for (const shim of await findShims(layout)) if (shim.sandboxId === id) await killShim(shim);
  await killContainer(layout, id);
  const runcRoot = join(layout.runcRoot, CRI_NAMESPACE);
  // Ignore a failure, because the command fails if runc has not created the container.
  await run('runc', ['--root', runcRoot, 'delete', '--force', id], { signal }).catch(() => signal.throwIfAborted());
  await removeShimSocket(layout, id);
  const bundleDirectory = join(layout.bundles, id);
  for (const point of parseMountPointsBelow(bundleDirectory, await readFile('/proc/self/mountinfo', 'utf8'))) {
    // Ignore a failure, because the command fails if containerd has already unmounted the mount point.
    await run('umount', [point], { signal }).catch(() => signal.throwIfAborted());
  }
  const remainingPaths = [
    bundleDirectory,
    join(layout.rootDirectory, 'io.containerd.runtime.v2.task', CRI_NAMESPACE, id),
    join(runcRoot, id),
  ];
  // Do not remove the bundle while anything is mounted in it, because this would delete the files of containers.
  if (parseMountPointsBelow(bundleDirectory, await readFile('/proc/self/mountinfo', 'utf8')).length > 0) return;
  await Promise.all(remainingPaths.map((path) => rm(path, { recursive: true, force: true })));
}

/**
 * Removes the socket of a shim. All containerds of a host share one directory of shim sockets. The name of a shim's
 * socket is a hash of the containerd's socket and the task's ID.
 */
export async function removeShimSocket({ socket }: Layout, id: string): Promise<void> {
  const name = createHash('sha256')
    .update(join(socket, CRI_NAMESPACE, id))
    .digest('hex');
  await rm(join('/run/containerd/s', name), { force: true });
}
