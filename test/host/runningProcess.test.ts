import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { findProcess, isRunning } from '../../host/runningProcess.ts';
import { eventually } from '../e2e/support/eventually.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function started(script: string) {
  const child = spawn('sh', ['-c', script, script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const [text]: unknown[] = await once(child.stdout.setEncoding('utf8'), 'data');
  const process = await findProcess(Number(String(text).split('\n')[0]));
  if (process === undefined) throw new Error('it does not run');
  return { child, process };
}

test('a process counts as running while it executes one program after another', async () => {
  const { process } = await started('echo $$; exec sh -c "$0" "$0"');
  const seen = new Set<boolean>();
  for (let look = 0; look < 2_000; look += 1) seen.add(await isRunning(process));
  expect([...seen]).toEqual([true]);
});

test('an exited process is not running', async () => {
  const { child, process } = await started('echo $$; exec sleep 1000');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await isRunning(process)).toBe(false);
});

test('a zombie is not running', async () => {
  const { child, process: ended } = await started('sleep 1000 & echo $!; exec sleep 1000');
  // A shell would reap its child.
  const isNoShell = async () => (await readFile(`/proc/${child.pid}/comm`, 'utf8')) === 'sleep\n';
  await eventually('its parent is no shell', isNoShell);
  process.kill(ended.pid, 'SIGKILL');
  await eventually('it has ended', async () => !(await isRunning(ended)));
  expect(await findProcess(ended.pid)).toBeUndefined();
  // The zombie still has its PID.
  expect(process.kill(ended.pid, 0)).toBe(true);
});

test('a later process with the same PID is a different process', async () => {
  expect(await isRunning({ pid: process.pid, startedAt: '1' })).toBe(false);
});

/** Returns the result of `look` in a process that may open 64 files and has only `left` of them available. */
async function seenWith(left: number, look: string): Promise<unknown> {
  const product = new URL('../../', import.meta.url);
  const program = `
    import { closeSync, openSync } from 'node:fs';
    const { findContainerd, findShims } = await import('${product}cri/managed/containerd/process.ts');
    const { isRunning, mayBeRunning, findProcess } = await import('${product}host/runningProcess.ts');
    const layout = { pidFile: '/none', config: '/none', socket: '/none' };
    const self = await findProcess(process.pid);
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch {}
    for (const fd of open.splice(0, ${left})) closeSync(fd);
    const seen = await ${look}.catch(({ code }) => code);
    for (const fd of open) closeSync(fd);
    console.log(JSON.stringify(seen ?? null));`;
  const script = 'ulimit -n 64; exec "$0" --input-type=module --eval "$1"';
  const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, program]);
  return JSON.parse(stdout);
}

test.each([
  ['whether it runs', 'isRunning(self)', 'EMFILE'],
  ['whether it may run', 'mayBeRunning(self)', true],
  ['the containerd of a configuration', 'findContainerd(layout)', 'EMFILE'],
  ['its shims', 'findShims(layout)', 'EMFILE'],
])('without a free file descriptor the agent cannot determine %s', async (_, look, seen) => {
  expect(await seenWith(0, look)).toBe(seen);
});

test('a few free file descriptors suffice to read any number of processes', async () => {
  for (let each = 0; each < 60; each += 1) children.push(spawn('sleep', ['1000'], { stdio: 'ignore' }));
  expect(await seenWith(6, 'findShims(layout)')).toEqual([]);
  expect(await seenWith(6, 'findContainerd(layout)')).toBeNull();
});
