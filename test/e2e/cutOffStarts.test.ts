/** Leftovers of a pod start that is interrupted because a private containerd is killed. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';
import { type PodSandbox, PodSandboxState } from '../../cri/generated/runtime.ts';
import { findShims } from '../../cri/managed/containerd/process.ts';
import { CRI_NAMESPACE, layoutOf } from '../../cri/managed/layout.ts';
import { findHierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { noAbort, type TestContainerd, withContainerd } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { execIn, runRawPod } from './support/rawPod.ts';
import { processesIn } from './support/traces.ts';

jest.setTimeout(120_000);

const execute = promisify(execFile);

const idle = ['sleep', '1000000'];

/**
 * Kills containerd while the runtime creates a sandbox. Returns the ID of the sandbox, and the shims that exist then.
 */
async function interruptStart(
  { containerd, cri, directory }: Pick<TestContainerd, 'containerd' | 'cri' | 'directory'>,
  cgroupParent: string,
) {
  const { runcRoot, bundles } = layoutOf(directory);
  const names = async () => readdir(join(runcRoot, CRI_NAMESPACE)).catch((): string[] => []);
  const before = await names();
  const start = runRawPod(cri, { name: 'cut', cgroupParent, command: idle }).catch(() => undefined);
  let createdId: string | undefined;
  while (createdId === undefined) {
    await pause(1);
    createdId = (await names()).find((each) => !before.includes(each));
  }
  process.kill(containerd.pid, 'SIGKILL');
  await start;
  await eventually('containerd has ended', async () => !(await containerd.isAlive()));
  expect(await readdir(bundles)).toContain(createdId);
  return { id: createdId, shims: await findShims(layoutOf(directory)) };
}

/**
 * Whether the start had completed before it could be interrupted, as can happen on a busy host. If so, removes the
 * sandbox.
 */
async function removeIfStarted({ cri }: TestContainerd, podSandboxId: string): Promise<boolean> {
  const { items } = await cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  const isReady = ({ id, state }: PodSandbox) => id === podSandboxId && state === PodSandboxState.SANDBOX_READY;
  if (!items.some(isReady)) return false;
  await cri.stopPodSandbox({ podSandboxId }, { signal: noAbort });
  await cri.removePodSandbox({ podSandboxId }, { signal: noAbort });
  return true;
}

test('the shim, processes and bundle of an interrupted start are removed at the next start, and other pods continue to run', async () => {
  await withContainerd(async (node) => {
    const { cgroupParent } = node.containerd;
    const layout = layoutOf(node.directory);
    const { sandboxId, containerId } = await runRawPod(node.cri, { name: 'web', cgroupParent, command: idle });
    let { containerd } = node;
    let cut: Awaited<ReturnType<typeof interruptStart>>;
    do {
      cut = await interruptStart({ ...node, containerd }, `${cgroupParent}/pod-cut`);
      expect(cut.shims.map((shim) => shim.sandboxId).sort()).toEqual([sandboxId, cut.id].sort());
      containerd = await node.again();
    } while (await removeIfStarted(node, cut.id));
    expect((await findShims(layout)).map((shim) => shim.sandboxId)).toEqual([sandboxId]);
    expect((await readdir(layout.bundles)).sort()).toEqual([sandboxId, containerId].sort());
    expect((await readdir(join(layout.runcRoot, CRI_NAMESPACE))).sort()).toEqual([sandboxId, containerId].sort());
    await eventually('its processes have ended', async () => {
      return (await processesIn(`${cgroupParent}/pod-cut`)).length === 0;
    });
    expect((await execIn(node.cri, containerId, 'true')).exitCode).toBe(0);
  });
});

describe('the network of a sandbox whose creation was interrupted', () => {
  const networkResources = async ({ directory }: TestContainerd) => {
    const { netNamespaces, bridge } = layoutOf(directory);
    const [namespaces, cables] = await Promise.all([readdir(netNamespaces), readdir(`/sys/class/net/${bridge}/brif`)]);
    return { namespaces: namespaces.sort(), cables: cables.sort() };
  };

  const killContainerd = async ({ containerd }: TestContainerd) => {
    process.kill(containerd.pid, 'SIGKILL');
    await eventually('containerd has ended', async () => !(await containerd.isAlive()));
  };

  /** Runs `story` beside a running pod, and expects that only the network of this pod is left afterwards. */
  async function withOtherPod(story: (node: TestContainerd) => Promise<void>): Promise<void> {
    await withContainerd(async (node) => {
      const { cgroupParent, podCidr } = node.containerd;
      const { containerId } = await runRawPod(node.cri, { name: 'web', cgroupParent, command: idle });
      const before = await networkResources(node);
      expect(before).toEqual({ namespaces: [expect.any(String)], cables: [expect.any(String)] });
      await story(node);
      await eventually('only that of the pod is left', async () =>
        isDeepStrictEqual(await networkResources(node), before),
      );
      const gateway = podCidr.replace(/0\/24$/, '1');
      expect((await execIn(node.cri, containerId, 'ping', '-c1', '-W2', gateway)).exitCode).toBe(0);
    });
  }

  test('is removed with the sandbox if containerd knows of it', async () => {
    await withOtherPod(async (node) => {
      const { cgroupParent } = node.containerd;
      const start = runRawPod(node.cri, { name: 'cut', cgroupParent, command: idle }).catch(() => undefined);
      while ((await networkResources(node)).cables.length === 1) await pause(1);
      await killContainerd(node);
      await start;
      await node.again();
      const { items } = await node.cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
      for (const { id: podSandboxId } of items.filter(({ metadata }) => metadata?.name === 'cut')) {
        await node.cri.stopPodSandbox({ podSandboxId }, { signal: noAbort });
        await node.cri.removePodSandbox({ podSandboxId }, { signal: noAbort });
      }
    });
  });

  test('is removed at the next start if no sandbox uses it', async () => {
    await withOtherPod(async (node) => {
      const { netNamespaces, bridge } = layoutOf(node.directory);
      await killContainerd(node);
      const file = join(netNamespaces, 'cni-lost');
      await writeFile(file, '');
      await execute('unshare', [`--net=${file}`, 'true']);
      const cable = `lost${process.pid}`;
      const inside = spawn('nsenter', [`--net=${file}`, 'sh', '-c', 'echo inside; exec sleep 1000']);
      // The process is in the network namespace of the host until it prints this.
      await once(inside.stdout, 'data');
      await execute('ip', ['link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(inside.pid)]);
      await execute('ip', ['link', 'set', cable, 'master', bridge]);
      inside.kill('SIGKILL');
      await once(inside, 'exit');
      expect((await networkResources(node)).cables).toContain(cable);
      await node.again();
    });
  });
});

test('a stopped containerd leaves no process in its cgroup, whoever started the process', async () => {
  const stranger = spawn('sleep', ['1000']);
  const end = once(stranger, 'exit');
  await withContainerd(async ({ containerd }) => {
    const root = findHierarchy(await readHierarchies(), 'cpu')?.root ?? '';
    const left = join(root, containerd.cgroupParent, 'pod-cut', 'left');
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'cgroup.procs'), String(stranger.pid));
    await containerd.stop(noAbort);
    expect(await readdir(join(root, containerd.cgroupParent)).catch(() => 'gone')).toBe('gone');
  });
  expect(await Promise.race([end, pause(5_000, 'still there', { ref: false })])).toEqual([null, 'SIGKILL']);
});
