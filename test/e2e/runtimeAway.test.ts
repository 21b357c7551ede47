import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startStatelet } from './support/statelet.ts';

test('`run` reports an unreachable runtime in log lines with the cause and without a stack', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-away-'));
  const socket = join(directory, 'no.sock');
  await mkdir(join(directory, 'manifests'));
  const directories = ['--root-dir', join(directory, 'root'), '--pod-log-dir', join(directory, 'log')];
  const manifests = ['--pod-manifest-path', join(directory, 'manifests')];
  const agent = startStatelet([
    'run',
    ...directories,
    ...manifests,
    '--container-runtime-endpoint',
    `unix://${socket}`,
  ]);
  let hasEnded = false;
  void agent.ended.then(() => {
    hasEnded = true;
  });
  try {
    await agent.says('the node agent is running');
    await agent.says('the container runtime is not ready');
    agent.kill('SIGTERM');
    expect(await agent.ended).toBe(0);
    const lines = `${agent.out()}${agent.err()}`.split('\n').filter((line) => line.includes('no.sock'));
    const messages = lines.map((line) => /\] "(.*?)"/.exec(line)?.[1]).sort();
    expect(messages).toEqual([
      `the container runtime is not ready: Version: there is no socket ${socket}: start the container runtime (connect ENOENT ${socket})`,
    ]);
    expect(lines.join()).not.toMatch(/"stack"|\n? +at /);
  } finally {
    if (!hasEnded) agent.kill('SIGKILL');
    await agent.ended;
    await rm(directory, { recursive: true });
  }
});
