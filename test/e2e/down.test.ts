import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { describeContainerdTraces } from '../../cri/managed/containerd/containerd.ts';
import { findContainerd } from '../../cri/managed/containerd/process.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { socketPath } from '../../socket/socketPath.ts';
import { eventually } from './support/eventually.ts';
import { hearing, podManifest, shell, steadily, stubbornly } from './support/manifests.ts';
import { runNode, type UpNode, upNode } from './support/node.ts';
import { startStatelet, statelet } from './support/statelet.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(120_000);

let node: UpNode;

beforeEach(async () => {
  node = await upNode();
});

afterEach(() => node.end());

const down = (...args: string[]) => statelet('down', '--state-dir', node.directory, ...args);

/** Starts a pod with a volume in memory that writes a file when it stops. */
async function writingPod(): Promise<string> {
  const last = join(node.shared, 'last');
  const script = steadily('mkdir -p /tmp; touch /tmp/hears', 'echo ended in order > /shared/last');
  const volumeMounts = [
    { name: 'shared', mountPath: '/shared' },
    { name: 'memory', mountPath: '/memory' },
  ];
  const volumes = [
    { name: 'shared', hostPath: { path: node.shared } },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
  ];
  await node.write(
    'web',
    podManifest('web', [hearing('main', { command: ['sh', '-c', script], volumeMounts })], { volumes }),
  );
  return last;
}

describe('`statelet down`', () => {
  test('terminates all pods of a killed `up` gracefully, lists what it removed, and does nothing when it runs again', async () => {
    const last = await writingPod();
    await node.write('lost', podManifest('lost', [shell('main', 'sleep 1000', { image: 'nowhere.invalid/no:1' })]));
    const up = await node.start();
    await node.running('web');
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGKILL');
    await up.ended;

    const { code, out, err } = await down();
    expect(`${code} ${err}`).toBe('0 ');
    for (const what of [
      /^found the private containerd \(process \d+\)$/m,
      /^found the network /m,
      /^pod web-node terminated$/m,
      /^pod lost-node terminated$/m,
      /^the node has stopped/m,
    ])
      expect(out).toMatch(what);
    expect(existsSync(last)).toBe(true);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
    expect(await readdir(join(node.rootDir, 'pods'))).toEqual([]);

    expect(await down()).toEqual({
      code: 0,
      out: expect.stringMatching(`^no "statelet up" is running for ${node.directory}[;\n]`),
      err: '',
    });
  });

  /** Starts a pod that spends part of its grace period stopping, and writes a file if it could finish. */
  async function slowPod(takes = 'sleep 5'): Promise<string> {
    const script = steadily('mkdir -p /tmp; touch /tmp/hears', `${takes}; echo ended in order > /shared/last`);
    const main = hearing('main', {
      command: ['sh', '-c', script],
      volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    });
    const volumes = [{ name: 'shared', hostPath: { path: node.shared } }];
    await node.write('slow', podManifest('slow', [main], { volumes, terminationGracePeriodSeconds: 60 }));
    return join(node.shared, 'last');
  }

  test('only waits for an `up` that is already draining', async () => {
    const last = await slowPod('until [ -e /shared/now ]; do sleep 0.1; done');
    const up = await node.start();
    await node.running('slow');
    up.kill('SIGTERM');
    await up.says('terminating all pods');
    // A further signal within two seconds of the first one would be ignored.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const waiting = startStatelet(['down', '--state-dir', node.directory]);
    await waiting.says('is already stopping: waiting for it to terminate its pods');
    await writeFile(join(node.shared, 'now'), '');
    expect(await waiting.ended).toBe(0);
    expect(await up.ended).toBe(0);
    expect(existsSync(last)).toBe(true);
  });

  test('terminates the pods of a killed `up` with their own grace periods', async () => {
    const last = await slowPod();
    const up = await node.start();
    await node.running('slow');
    up.kill('SIGKILL');
    await up.ended;
    expect(await down()).toMatchObject({ code: 0, err: '' });
    expect(existsSync(last)).toBe(true);
  });

  test('with --now stops a draining `up` at once, and allows its pods one second', async () => {
    const spec = { terminationGracePeriodSeconds: 1_000 };
    await node.write('stubborn', podManifest('stubborn', [shell('main', stubbornly)], spec));
    const up = await node.start();
    await node.running('stubborn');
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGTERM');
    await up.says('terminating all pods');
    const { code, out, err } = await down('--now');
    expect(`${code} ${err}`).toBe('0 ');
    expect(out).toContain(`stopping "statelet up" (process ${up.pid}) at once\n`);
    expect(await up.ended).toBe(128 + constants.signals.SIGQUIT);
    expect(up.out()).toContain('statelet has stopped at once; its pods and their containerd keep running.');
    expect(existsSync(socketPath(node.rootDir))).toBe(false);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
  });

  test('kills everything if its containerd cannot start any more, and reports why in one line', async () => {
    await writingPod();
    const up = await node.start();
    await node.running('web');
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGKILL');
    await up.ended;
    const { rootDirectory, log } = layoutOf(node.containerdDirectory);
    process.kill((await findContainerd(layoutOf(node.containerdDirectory)))?.pid ?? 0, 'SIGKILL');
    await rename(rootDirectory, `${rootDirectory}-away`);
    await writeFile(rootDirectory, '');
    const { code, out, err } = await down();
    await rm(rootDirectory);
    await rename(`${rootDirectory}-away`, rootDirectory);
    expect(`${code} ${err}`).toBe('0 ');
    const why = new RegExp(
      `^the pods are killed without a grace period: containerd did not become ready; last lines of ${log}: .+$`,
      'm',
    );
    expect(out).toMatch(why);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
    expect(await readdir(join(node.rootDir, 'pods'))).toEqual([]);
  });

  test('imports no images for a node that was killed before it was ready', async () => {
    const up = startStatelet(['up', '--state-dir', node.directory, '--pod-manifest-path', node.manifests]);
    await eventually('containerd runs', async () => {
      return (await findContainerd(layoutOf(node.containerdDirectory))) !== undefined;
    });
    up.kill('SIGKILL', 'group');
    await up.ended;
    const { code, out, err } = await down();
    expect(`${code} ${err}`).toBe('0 ');
    expect(out).not.toContain('importing');
    expect(await describeContainerdTraces(node.containerdDirectory)).toEqual([]);
  });

  test('terminates the pods even if their containerd was killed with `up`', async () => {
    const last = await writingPod();
    const up = await node.start();
    await node.running('web');
    const marks = await marksOf(node.containerdDirectory);
    up.kill('SIGKILL');
    await up.ended;
    const containerd = (await traces(marks)).flatMap((line) => /^process (\d+): containerd /.exec(line)?.[1] ?? []);
    for (const pid of containerd) process.kill(Number(pid), 'SIGKILL');
    expect(containerd).toHaveLength(1);

    expect(await down()).toMatchObject({ code: 0, err: '' });
    expect(existsSync(last)).toBe(true);
    expect(await traces({ ...marks, directory: node.directory })).toEqual([]);
  });

  test('leaves the pod directory of another agent alone and names it, without waiting for it', async () => {
    const up = await node.start();
    up.kill('SIGKILL');
    await up.ended;
    const theirs = join(node.rootDir, 'pods', '0b5d2f6e-7c1a-4a52-9d7e-3d1f0c9b8a77');
    await mkdir(join(theirs, 'volumes'), { recursive: true });
    const { code, out, err } = await down();
    expect(`${code} ${err}`).toBe('0 ');
    expect(out).toContain(`left alone ${theirs}: `);
    expect(out).toMatch(/^the node has stopped/m);
    expect(existsSync(join(theirs, 'volumes'))).toBe(true);
  });

  test('stops a running `up` like Ctrl-C, and waits for it', async () => {
    const last = await writingPod();
    const up = await node.start();
    await node.running('web');
    const { code, out } = await down();
    expect(code).toBe(0);
    expect(out).toContain(`stopping "statelet up" (process ${up.pid}): its pods terminate gracefully`);
    expect(await up.ended).toBe(0);
    expect(existsSync(last)).toBe(true);
  });
});

test('`statelet down` refuses to stop an agent that was not started by `up`', async () => {
  const run = await runNode();
  try {
    const agent = await run.start();
    // Passes the directory of a `run` node as if it were the state directory of an `up`.
    const { code, err } = await statelet('down', '--state-dir', run.directory);
    expect(code).toBe(1);
    expect(err).toContain(`process ${agent.pid} runs a node on ${run.rootDir} that was not started by "statelet up"`);
    agent.mustLive();
  } finally {
    await run.end();
  }
});
