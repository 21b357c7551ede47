import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { lockRootDirectory } from '../../../../node/start/checks/lock.ts';
import { assertNoKubelet, describeRunningKubelets } from '../../../../node/start/checks/runningKubelets.ts';

let folder: string;
let root: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-kubelets-'));
  root = join(folder, 'root');
  await mkdir(join(root, 'pod-resources'), { recursive: true });
  await mkdir(join(root, 'device-plugins'));
});

afterEach(() => rm(folder, { recursive: true }));

/** Creates a /proc in which one process has this command line. */
async function processWith(...args: string[]): Promise<string> {
  const proc = join(folder, 'proc');
  await mkdir(join(proc, '42'), { recursive: true });
  await writeFile(join(proc, '42', 'cmdline'), `${args.join('\0')}\0`);
  await rm(join(proc, '42', 'cwd'), { force: true });
  await symlink(folder, join(proc, '42', 'cwd'));
  return proc;
}

test.each(['pod-resources', 'device-plugins'])(
  'a root directory in which a kubelet listens in %s is rejected',
  async (place) => {
    const path = join(root, place, 'kubelet.sock');
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(assertNoKubelet(root)).rejects.toMatchObject({
      reason: 'RootInUse',
      message: `something listens on ${path}, as a kubelet does: stop the kubelet first, or use another root directory`,
    });
    await new Promise((resolve) => server.close(resolve));
    await writeFile(path, '');
    await expect(assertNoKubelet(root)).resolves.toBeUndefined();
  },
);

test('the listeners in pod-resources and device-plugins belong to an agent that runs on the root directory', async () => {
  const listen = async (path: string) => {
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    return () => new Promise((resolve) => server.close(resolve));
  };
  const closes = [
    await listen(join(root, 'pod-resources', 'kubelet.sock')),
    await listen(join(root, 'device-plugins', 'kubelet.sock')),
  ];
  // The lock of this process does not count, because an agent holds it while it checks for a kubelet.
  const release = await lockRootDirectory(root);
  expect(await describeRunningKubelets(root)).toHaveLength(2);
  await release();
  closes.push(await listen(join(root, 'statelet.sock')));
  expect(await describeRunningKubelets(root)).toEqual([]);
  for (const close of closes) await close();
});

test('a running kubelet is detected by the root directory in its command line, in any notation', async () => {
  const said = [`a kubelet (process 42) is running on ${root}`];
  await symlink(root, join(folder, 'link'));
  for (const args of [
    ['/usr/bin/kubelet', `--root-dir=${root}`],
    ['kubelet', '--v=2', '--root-dir', root],
    ['kubelet', '--root-dir=root'],
    ['kubelet', `--root-dir=${join(folder, 'link')}/`],
    ['/hyperkube', 'kubelet', `-root-dir=${root}`],
    ['kubelet', '--root-dir=/elsewhere', `--root-dir=${root}`],
  ]) {
    expect(await describeRunningKubelets(root, await processWith(...args))).toEqual(said);
  }
});

test('other programs and kubelets with a different root directory are ignored; without the flag the default one counts', async () => {
  for (const args of [['vi', `--root-dir=${root}`], ['kubelet', '--root-dir=/elsewhere'], ['kubelet'], ['']]) {
    expect(await describeRunningKubelets(root, await processWith(...args))).toEqual([]);
  }
  const proc = await processWith('kubelet');
  expect(await describeRunningKubelets('/var/lib/kubelet', proc)).toEqual([
    'a kubelet (process 42) is running on /var/lib/kubelet',
  ]);
});
