import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { root } from '../support/root.ts';

jest.setTimeout(60_000);

const soak = ['--disable-warning=ExperimentalWarning', join(root, 'scripts/soak.mjs')];

test.each([
  [['--minutes', 'x'], '--minutes x: expected a number'],
  [['--seed', '4294967296'], '--seed 4294967296: at most 4294967295'],
  [['--each', '--part', '3/2'], '--part 3/2: the first half is 0/2, the second 1/2'],
  [['--each', '--pairs'], '--each and --pairs cannot be combined'],
  [['--coverage', '--stories', 'x'], '--stories x: expected a number'],
  [['--faulty', 'nope'], 'no fault is called nope'],
  [['--each', '--minutes', '5'], '--minutes is for random stories and --cluster'],
  [['--each', '--seed', '5'], '--seed is for random stories, --cluster and --pairs'],
  [['--part', '0/2'], '--part is for --each and --pairs'],
  [['--stories', '300'], '--stories is for --coverage'],
  [['--faulty', '--seed', '5'], '--seed is for random stories, --cluster and --pairs'],
  [['ten'], 'what is ten?'],
  [['--minute'], "Unknown option '--minute'"],
])('a soak rejects the arguments %j', (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...soak, ...args], { encoding: 'utf8' });
  expect(stderr).toMatch(/^soak: /);
  expect(stderr).toContain(message);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('a soak lists its options', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...soak, '--help'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/\nusage: npm run soak -- \[--minutes 1\] .*\n/);
});

test('a soak of seeded faults fails if its copy of the code cannot be created', () => {
  const env = { ...process.env, TMPDIR: join(import.meta.dirname, 'nowhere') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...soak, '--faulty'], { encoding: 'utf8', env });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^soak: ENOENT: .*\n$/);
});

test('a signal stops the faulty node before its copy is removed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'statelet-faulty-'));
  const child = spawn(process.execPath, [...soak, '--faulty'], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data) => {
    said += data;
  });
  // The Node.js process that runs the copy has started to write its compile cache.
  const hasBegun = () => readdirSync(directory).some((copy) => existsSync(join(directory, copy, '.compiled')));
  while (!hasBegun()) await setTimeout(50);
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
  expect(said).toBe('');
  expect(readdirSync(directory)).toEqual([]);
  rmdirSync(directory);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a soak that receives %s reports its progress', async (signal, status) => {
  const child = spawn(process.execPath, [...soak, '--minutes', '10', '--seed', '5'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
    if (said === 'seeds from 5\n') child.kill(signal);
  });
  expect(await once(child, 'close')).toEqual([status, null]);
  expect(said).toMatch(new RegExp(`, stopped by ${signal}\\n$`));
});

test('a signal to npm stops the soak that it runs', async () => {
  const child = spawn('npm', ['run', 'soak', '--', '--minutes', '0.3', '--seed', '5'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
    if (said.endsWith('seeds from 5\n')) child.kill('SIGTERM');
  });
  // No process writes to the stream any more.
  await once(child, 'close');
  expect(said).toMatch(/, stopped by SIGTERM\n$/);
});

test('a soak continues when nobody reads its output any more', async () => {
  const child = spawn(process.execPath, [...soak, '--each', '--part', '0/5000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  expect(await once(child, 'close')).toEqual([0, null]);
});
