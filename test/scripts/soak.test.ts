import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';

jest.setTimeout(60_000);

const soak = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, '../../scripts/soak.mjs')];

test.each([
  [['--minutes', 'x'], '--minutes x: expected a number'],
  [['--seed', '4294967296'], '--seed 4294967296: at most 4294967295'],
  [['--each', '--part', '3/2'], '--part 3/2: the first half is 0/2, the second 1/2'],
  [['--each', '--pairs'], '--each and --pairs do not go together'],
  [['--coverage', '--stories', 'x'], '--stories x: expected a number'],
  [['--faulty', 'nope'], 'no fault is called nope'],
  [['ten'], 'what is ten?'],
  [['--minute'], "Unknown option '--minute'"],
])('a soak tells no story where it is asked for %j', (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...soak, ...args], { encoding: 'utf8' });
  expect(stderr).toMatch(/^soak: /);
  expect(stderr).toContain(message);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a soak that gets %s tells how far it has come', async (signal, status) => {
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

test('a signal to npm ends the soak that it runs', async () => {
  const child = spawn('npm', ['run', 'soak', '--', '--minutes', '0.3', '--seed', '5'], {
    ...{ cwd: join(import.meta.dirname, '../..'), stdio: ['ignore', 'pipe', 'inherit'] },
  });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
    if (said.endsWith('seeds from 5\n')) child.kill('SIGTERM');
  });
  // When nobody can write there any more.
  await once(child, 'close');
  expect(said).toMatch(/, stopped by SIGTERM\n$/);
});

test('a soak that nobody listens to any more goes on', async () => {
  const child = spawn(process.execPath, [...soak, '--each', '--part', '0/5000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  expect(await once(child, 'close')).toEqual([0, null]);
});
