import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readLatestLog, readLogTails } from '../../../../actors/services/containers/logTails.ts';
import { backOff, exited, podView, run, running, seenPod } from '../../../kubernetes/views.ts';

let podLogsDir: string;

beforeEach(async () => {
  podLogsDir = await mkdtemp(join(tmpdir(), 'logs-'));
});

afterEach(() => rm(podLogsDir, { recursive: true, force: true }));

async function logged(container: string, number: number, ...lines: string[]): Promise<string> {
  const directory = join(podLogsDir, 'default_web_u-1', container);
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${number}.log`);
  await writeFile(file, lines.map((line) => `2026-05-04T12:02:30.123456789Z stderr F ${line}\n`).join(''));
  return file;
}

test('the log tail of a failing container comes from its last failed run, whether it has exited or runs again', async () => {
  const ended = await logged('ended', 2, 'one', 'two', 'three', 'four', 'five', 'six');
  const before = await logged('again', 3, 'no database');
  await logged('again', 4, 'starting');
  const view = podView({
    main: {
      ended: backOff(1, { restartCount: 2 }),
      again: running({ restartCount: 4, lastRun: run(1) }),
    },
  });
  expect([...(await readLogTails(seenPod(view), { rootDir: '/', podLogsDir }))]).toEqual([
    ['ended', { file: ended, lines: ['two', 'three', 'four', 'five', 'six'] }],
    ['again', { file: before, lines: ['no database'] }],
  ]);
});

test('successful runs, failed starts and missing logs have no log tail, and a huge log is read from its end', async () => {
  await logged('well', 0, 'done');
  const huge = await logged('huge', 0, 'x'.repeat(3_000_000), 'the end');
  const view = podView({
    main: {
      well: exited(0),
      unstarted: backOff(128, { lastRun: run(128, { reason: 'StartError' }) }),
      gone: exited(1),
      huge: exited(1),
    },
  });
  const tails = await readLogTails(seenPod(view), { rootDir: '/', podLogsDir });
  expect([...tails.keys()]).toEqual(['huge']);
  expect(tails.get('huge')).toMatchObject({ file: huge, lines: [expect.stringMatching(/^x{500}$/), 'the end'] });
});

test('the latest log of a container is the tail of its current or last run, however that run exited', async () => {
  const now = await logged('again', 4, ...Array.from({ length: 12 }, (_, index) => `line ${index}`));
  const once = await logged('once', 0, 'done');
  const view = podView({
    main: { again: running({ restartCount: 4, lastRun: run(1) }), once: exited(0), never: null, quiet: running() },
  });
  const latest = (name: string) => readLatestLog(seenPod(view), name, { rootDir: '/', podLogsDir });
  expect((await latest('again'))?.lines).toEqual(Array.from({ length: 10 }, (_, index) => `line ${index + 2}`));
  expect(await latest('again')).toMatchObject({ file: now });
  expect(await latest('once')).toEqual({ file: once, lines: ['done'] });
  expect([await latest('never'), await latest('quiet')]).toEqual([undefined, undefined]);
});
