/** Detection of a kubelet that really runs, from its command line and its mounts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeRunningKubelets } from '../../node/start/checks/runningKubelets.ts';

let folder: string;
let root: string;
let kubelet: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statelet-mounts-'));
  root = join(folder, 'root');
  await mkdir(root);
});

afterEach(async () => {
  if (kubelet?.exitCode === null) {
    kubelet.stdin?.end();
    await once(kubelet, 'exit');
  }
  await rm(folder, { recursive: true });
});

/**
 * Starts a process named kubelet with this root directory in a new mount namespace, in which it first runs `prepare`.
 */
async function kubeletOver(directory: string, prepare: string): Promise<number | undefined> {
  const waits = 'echo ready; read _';
  const script = `${prepare} && exec -a kubelet bash -c '${waits}' kubelet "--root-dir=$0"`;
  kubelet = spawn('unshare', ['--mount', 'bash', '-c', script, directory], { cwd: folder });
  if (kubelet.stdout) await once(kubelet.stdout, 'data');
  return kubelet.pid;
}

test('a kubelet with a different root directory at the same path is not a conflict', async () => {
  await kubeletOver(root, 'mount -t tmpfs none "$0"');
  expect(await describeRunningKubelets(root)).toEqual([]);
});

test('a kubelet whose root directory does not exist here is not a conflict', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await kubeletOver(elsewhere, `mount -t tmpfs none "${folder}" && mkdir "$0"`);
  expect(await describeRunningKubelets(elsewhere)).toEqual([]);
});

test('a kubelet with the same root directory is a conflict, although it sees other mounts', async () => {
  const pid = await kubeletOver(root, 'true');
  expect(await describeRunningKubelets(root)).toEqual([`a kubelet (process ${pid}) is running on ${root}`]);
});

test('a kubelet with the same root directory at a different path is a conflict', async () => {
  const pid = await kubeletOver('other', 'mkdir other && mount --bind root other');
  expect(await describeRunningKubelets(root)).toEqual([`a kubelet (process ${pid}) is running on ${root}`]);
});
