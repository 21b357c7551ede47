import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { isRunning, processOf } from '../../../cri/managed/runningProcess.ts';

const children: { kill(signal: 'SIGKILL'): boolean }[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function started(script: string) {
  const child = spawn('sh', ['-c', script, script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const [text]: unknown[] = await once(child.stdout.setEncoding('utf8'), 'data');
  const process = await processOf(Number(String(text).split('\n')[0]));
  if (process === undefined) throw new Error('it does not run');
  return { child, process };
}

test('a process runs at every moment while it begins one program after the other', async () => {
  const { process } = await started('echo $$; exec sh -c "$0" "$0"');
  const seen = new Set<boolean>();
  for (let look = 0; look < 2_000; look += 1) seen.add(await isRunning(process));
  expect([...seen]).toEqual([true]);
});

test('one that has ended does not run', async () => {
  const { child, process } = await started('echo $$; exec sleep 1000');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await isRunning(process)).toBe(false);
});

test('neither does one that nobody has asked for its exit code', async () => {
  const { process: ended } = await started('sleep 1000 & echo $!; exec sleep 1000');
  process.kill(ended.pid, 'SIGKILL');
  while (await isRunning(ended)) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await processOf(ended.pid)).toBeUndefined();
  // It is still there.
  expect(process.kill(ended.pid, 0)).toBe(true);
});

test('a later process of the same pid is another', async () => {
  expect(await isRunning({ pid: process.pid, startedAt: '1' })).toBe(false);
});
