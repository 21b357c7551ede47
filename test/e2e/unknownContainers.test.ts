import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { spawnContainerd } from '../../cri/managed/containerd/process.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { outcomeOf, type RawCalls, rawCalls } from '../cri/rawCalls.ts';
import { playRestartStory, restartStoryExpected } from '../cri/restartStory.ts';
import { withContainerd } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';

test('a real containerd that cannot open logs reports its containers as unknown like the simulated runtime', async () => {
  const seen = await withContainerd(async ({ containerd, directory }) => {
    let calls = rawCalls(containerd.endpoint);
    const call: RawCalls['call'] = (name, request) => calls.call(name, request);
    const logDirectory = join(directory, 'logs');
    await mkdir(logDirectory);
    const restart = async () => {
      calls.close();
      process.kill(containerd.pid, 'SIGKILL');
      await eventually('containerd is dead', async () => !(await containerd.isAlive()));
      await rm(logDirectory, { recursive: true });
      await writeFile(logDirectory, 'a file where the directory was');
      await spawnContainerd(layoutOf(directory));
      calls = rawCalls(containerd.endpoint);
      await eventually('containerd answers', async () => (await outcomeOf(call('version', { version: '' }))) === 'OK');
    };
    try {
      const image = 'statelet.local/busybox:1';
      return await playRestartStory({ image, logDirectory, call, restart, wait: (ms) => pause(ms) });
    } finally {
      calls.close();
    }
  });
  expect(seen).toEqual(restartStoryExpected);
}, 90_000);
