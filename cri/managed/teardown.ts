import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cri } from '../calls.ts';
import { podCgroups, removeCgroups } from './cgroups.ts';
import { type Layout, NAMESPACE } from './layout.ts';
import { removeShimSocket } from './leftTasks.ts';
import { unmountAll } from './mounts.ts';
import { removeNetwork } from './network.ts';
import { endProcess, findContainerd, findShims, killShim, type Pause } from './process.ts';
import { run } from './program.ts';

interface TeardownInput {
  readonly layout: Layout;
  /** Gives a connection to the containerd; it is closed here. */
  readonly connect: () => Cri;
  readonly signal: AbortSignal;
  readonly pause: Pause;
}

/**
 * Ends a private containerd with all pods that it still has, and removes what it left on the host. What it cannot do
 * itself any more (it is killed, or hangs) is done without it. Its images and its log stay in its directory.
 */
export async function tearDown({ layout, connect, signal, pause }: TeardownInput): Promise<void> {
  const cgroups = await podCgroups(layout);
  const ids = await readdir(join(layout.runcRoot, NAMESPACE)).catch(() => []);
  const running = await findContainerd(layout);
  if (running !== undefined) {
    await removeSandboxes(connect(), signal).catch(() => signal.throwIfAborted());
    await endProcess(running, 5_000, pause);
  }
  await removeContainers(layout, signal);
  await Promise.all(ids.map((id) => removeShimSocket(layout, id)));
  await unmountAll(layout, signal);
  await removeNetwork(layout, signal);
  await removeCgroups(layout.cgroupParent, cgroups, pause);
  // What shows that the directory is one of ours stays: the next start wants to see it.
  const left = [layout.state, layout.socket, `${layout.socket}.ttrpc`, layout.pidFile, layout.shortDirectory];
  await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })));
}

/** In order: containerd takes each pod's network down with it. */
async function removeSandboxes(cri: Cri, signal: AbortSignal): Promise<void> {
  try {
    const { items } = await cri.listPodSandbox({ filter: undefined }, { signal, timeoutMs: 5000 });
    const waiting = items.map(({ id }) => id);
    const remove = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        await cri.stopPodSandbox({ podSandboxId: id }, { signal, timeoutMs: 15_000 });
        await cri.removePodSandbox({ podSandboxId: id }, { signal, timeoutMs: 15_000 });
      }
    };
    await Promise.all([remove(), remove(), remove()]);
  } finally {
    cri.close();
  }
}

/** The containers that outlived their containerd: first they, as their shims would leave them to run, then the shims. */
async function removeContainers(layout: Layout, signal: AbortSignal): Promise<void> {
  const root = join(layout.runcRoot, NAMESPACE);
  const ids = await readdir(root).catch(() => []);
  // A container that was half made has nothing to delete.
  const remove = (id: string) => run('runc', ['--root', root, 'delete', '--force', id], { signal }).catch(() => {});
  for (const id of ids) await remove(id);
  for (const shim of await findShims(layout)) await killShim(shim);
}
