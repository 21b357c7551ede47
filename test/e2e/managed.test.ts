import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { ContainerStatusRequest } from '../../cri/generated/runtime.ts';
import { startManagedContainerd } from '../../cri/managed/containerd/containerd.ts';
import { noAbort, type TestContainerd, withContainerd } from './support/containerd.ts';
import { freePort } from './support/freePort.ts';
import { execIn, runRawPod } from './support/rawPod.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(60_000);

/** Starts a pod that listens on a hostPort. Returns everything that the pod and its containerd have on the host. */
async function busyNode({ containerd, cri, directory }: TestContainerd) {
  const hostPort = await freePort();
  const command = ['sh', '-c', `mkdir /www && echo served > /www/index.html && httpd -h /www && exec sleep 1000`];
  const cgroupParent = `${containerd.cgroupParent}/pod-web`;
  const pod = await runRawPod(cri, { name: 'web', command, cgroupParent, hostPort });
  return { pod, hostPort, marks: await marksOf(directory) };
}

async function stateOf({ cri }: TestContainerd, containerId: string) {
  const { status } = await cri.containerStatus(ContainerStatusRequest.fromPartial({ containerId }), {
    signal: noAbort,
  });
  return status?.state;
}

const running = 1;

describe('a private containerd', () => {
  test('beside another one has pods that reach each other only within their own network, and leaves nothing behind', async () => {
    const marks = await withContainerd((left) =>
      withContainerd(async (right) => {
        expect(left.containerd.podCidr).not.toBe(right.containerd.podCidr);
        const client = await runRawPod(left.cri, {
          name: 'client',
          command: ['sleep', '1000'],
          cgroupParent: left.containerd.cgroupParent,
        });
        const [here, there] = await Promise.all([busyNode(left), busyNode(right)]);
        expect((await execIn(left.cri, client.containerId, 'ping', '-c1', '-W2', here.pod.ip)).exitCode).toBe(0);
        const page = await execIn(left.cri, client.containerId, 'wget', '-qO-', `http://${here.pod.ip}`);
        expect(page.out).toBe('served\n');
        expect(await (await fetch(`http://127.0.0.1:${there.hostPort}`)).text()).toBe('served\n');
        const during = await traces(here.marks);
        for (const kind of [
          /^process \d+: /,
          /of a pod/,
          / overlay /,
          /nsfs/,
          /^cgroup /,
          /inet /,
          /^link veth/,
          /DNAT/,
          /MASQUERADE/,
        ]) {
          expect(during).toContainEqual(expect.stringMatching(kind));
        }
        return [here.marks, there.marks];
      }),
    );
    for (const mark of marks) expect(await traces(mark)).toEqual([]);
  });

  test('does not interrupt its pods when it is killed and restarted', async () => {
    await withContainerd(async (node) => {
      const { pod } = await busyNode(node);
      const { pid } = node.containerd;
      process.kill(pid, 'SIGKILL');
      const again = await node.again();
      expect(again).toMatchObject({ wasRunning: false, podCidr: node.containerd.podCidr });
      expect(again.pid).not.toBe(pid);
      expect(await stateOf(node, pod.containerId)).toBe(running);
      const next = await runRawPod(node.cri, {
        name: 'next',
        command: ['sleep', '60'],
        cgroupParent: again.cgroupParent,
      });
      expect((await execIn(node.cri, next.containerId, 'ping', '-c1', '-W2', pod.ip)).exitCode).toBe(0);
    });
  });

  test('does not interrupt its pods when it is restarted with a different configuration', async () => {
    await withContainerd(async (node) => {
      const { pod } = await busyNode(node);
      await appendFile(join(node.directory, 'config.toml'), '# of another version\n');
      expect(await node.again()).toMatchObject({ wasRunning: false });
      expect(await stateOf(node, pod.containerId)).toBe(running);
    });
  });

  test('leaves nothing behind when it is stopped after it was killed', async () => {
    const marks = await withContainerd(async (node) => {
      const busy = await busyNode(node);
      process.kill(node.containerd.pid, 'SIGKILL');
      return busy.marks;
    });
    expect(await traces(marks)).toEqual([]);
  });

  test('survives its killed parent process, and the next one attaches to it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'statelet-node-'));
    const script = join(import.meta.dirname, 'support', 'killedParent.ts');
    const parent = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed] = await once(parent.stdout, 'data');
    const pid = Number(String(printed));
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    // Without its pid file, containerd is found by its command line.
    await rm(join(directory, 'containerd.pid'));
    const next = await startManagedContainerd({ directory, signal: noAbort, pause: (ms) => pause(ms) });
    try {
      expect(next).toMatchObject({ wasRunning: true, pid });
      const session = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')[3];
      expect(session).toBe(String(pid));
    } finally {
      await next.stop(noAbort);
      await next.stop(noAbort);
      await rm(directory, { recursive: true, force: true });
    }
    await expect(readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).resolves.toBe('');
  });

  test('has its socket elsewhere if the path of its directory is too long for a socket', async () => {
    const base = await mkdtemp(join(tmpdir(), 'statelet-node-'));
    const directory = join(base, 'd'.repeat(100));
    await mkdir(directory);
    const containerd = await startManagedContainerd({ directory, signal: noAbort, pause: (ms) => pause(ms) });
    await containerd.stop(noAbort);
    await rm(base, { recursive: true, force: true });
    expect(containerd.endpoint.length).toBeLessThan(100);
    await expect(readFile(containerd.endpoint.replace('unix://', ''))).rejects.toThrow('ENOENT');
  });
});
