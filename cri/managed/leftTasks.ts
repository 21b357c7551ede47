/**
 * What a start leaves that was cut off by the end of containerd: its shim, a `runc` that has yet to make the container,
 * its bundle. A containerd that is started again takes no notice of them.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Container, type PodSandbox, PodSandboxState } from '../generated/runtime.ts';
import { killContainer } from './cgroups.ts';
import { type Layout, NAMESPACE } from './layout.ts';
import { mountsBelow } from './mounts.ts';
import { findShims, killShim } from './process.ts';
import { run } from './program.ts';

/** The ids of the sandboxes and containers that have a shim or a bundle now. */
export async function tasks(layout: Layout): Promise<readonly string[]> {
  const bundles = await readdir(layout.bundles).catch(() => []);
  const shims = await findShims(layout);
  return [...new Set([...bundles, ...shims.map(({ sandboxId }) => sandboxId)])];
}

/** What the runtime knows. */
interface Known {
  readonly sandboxes: readonly Pick<PodSandbox, 'id' | 'state'>[];
  readonly containers: readonly Pick<Container, 'id' | 'podSandboxId'>[];
}

/**
 * Those of these tasks that nobody will ever end: the runtime does not know them, or takes a sandbox for dead in which
 * there is no container.
 */
export function lostTasks(held: readonly string[], { sandboxes, containers }: Known): readonly string[] {
  const needed = new Set(containers.flatMap(({ id, podSandboxId }) => [id, podSandboxId]));
  const ready = sandboxes.filter(({ state }) => state === PodSandboxState.SANDBOX_READY);
  for (const { id } of ready) needed.add(id);
  return held.filter((id) => !needed.has(id));
}

/** Ends the processes of a task, and removes what is left of it; a sandbox goes with its shim. */
export async function endTask(layout: Layout, id: string, signal: AbortSignal): Promise<void> {
  for (const shim of await findShims(layout)) if (shim.sandboxId === id) await killShim(shim);
  await killContainer(layout, id);
  const runcRoot = join(layout.runcRoot, NAMESPACE);
  // What was half made has nothing to delete.
  await run('runc', ['--root', runcRoot, 'delete', '--force', id], { signal }).catch(() => signal.throwIfAborted());
  await removeShimSocket(layout, id);
  const bundle = join(layout.bundles, id);
  for (const point of mountsBelow(bundle, await readFile('/proc/self/mountinfo', 'utf8'))) {
    // containerd may have been faster.
    await run('umount', [point], { signal }).catch(() => signal.throwIfAborted());
  }
  const rests = [bundle, join(layout.root, 'io.containerd.runtime.v2.task', NAMESPACE, id), join(runcRoot, id)];
  // Never below a mount: that would be a container's file system.
  if (mountsBelow(bundle, await readFile('/proc/self/mountinfo', 'utf8')).length > 0) return;
  await Promise.all(rests.map((path) => rm(path, { recursive: true, force: true })));
}

/** The shims' sockets lie in one directory of all containerds of a host, under names that only their makers can tell. */
export async function removeShimSocket({ socket }: Layout, id: string): Promise<void> {
  const name = createHash('sha256')
    .update(join(socket, NAMESPACE, id))
    .digest('hex');
  await rm(join('/run/containerd/s', name), { force: true });
}
