/** A private containerd whose directory is reached through a symbolic link. */
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { connectCri } from '../../cri/client/connectCri.ts';
import {
  describeContainerdTraces,
  removeContainerd,
  startManagedContainerd,
} from '../../cri/managed/containerd/containerd.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { execIn, runRawPod } from './support/rawPod.ts';
import { marksOf, traces } from './support/traces.ts';

jest.setTimeout(120_000);

let base: string;
let real: string;
let linked: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'statelet-linked-'));
  await mkdir(join(base, 'real'));
  await symlink('real', join(base, 'link'));
  real = join(base, 'real', 'containerd');
  linked = join(base, 'link', 'containerd');
});

afterEach(async () => {
  await removeContainerd(linked, pause);
  await rm(base, { recursive: true });
});

const start = (directory: string) => startManagedContainerd({ directory, signal: noAbort, pause });

/** Starts a containerd, runs a pod in it, and kills containerd. */
async function killedWithPod(directory: string) {
  const containerd = await start(directory);
  const { cgroupParent, endpoint, pid } = containerd;
  const cri = connectCri({ runtimeEndpoint: endpoint, requestTimeoutMs: 30_000 });
  try {
    const pod = await runRawPod(cri, { name: 'web', cgroupParent, command: ['sleep', '1000000'] });
    process.kill(pid, 'SIGKILL');
    await eventually('containerd has ended', async () => !(await containerd.isAlive()));
    return pod;
  } finally {
    cri.close();
  }
}

test('mounts of a containerd with a symlinked directory are found and unmounted', async () => {
  await killedWithPod(linked);
  expect(await describeContainerdTraces(linked)).toContainEqual(expect.stringMatching(/^\d+ mounts$/));
  const marks = await marksOf(linked);
  await removeContainerd(linked, pause);
  expect(await traces({ ...marks, directory: base })).toEqual([]);
});

test('a directory and a symlink to it mean the same containerd, so pods retain their network across a start by the other path', async () => {
  const { containerId } = await killedWithPod(real);
  const { endpoint, podCidr } = await start(linked);
  expect(await readdir(layoutOf(real).netNamespaces)).toHaveLength(1);
  const cri = connectCri({ runtimeEndpoint: endpoint, requestTimeoutMs: 30_000 });
  try {
    const gateway = podCidr.replace(/0\/24$/, '1');
    expect((await execIn(cri, containerId, 'ping', '-c1', '-W2', gateway)).exitCode).toBe(0);
  } finally {
    cri.close();
  }
});
