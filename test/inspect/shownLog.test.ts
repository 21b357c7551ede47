import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { UnpackedTails } from '../../host/logs/unpackedTails.ts';
import { createTailCache, readShownLog } from '../../inspect/shownLog.ts';
import type { ContainerStatus } from '../../kubernetes/api/schema/status.ts';
import { podWith } from '../fakes/pods.ts';

let podLogs: string;
let logs: string;
let tails: UnpackedTails;

beforeEach(async () => {
  podLogs = await mkdtemp(join(tmpdir(), 'statelet-shown-log-'));
  logs = join(podLogs, 'default_web_uid');
  await mkdir(join(logs, 'main'), { recursive: true });
  tails = createTailCache();
});
afterEach(() => rm(podLogs, { recursive: true }));

const TIME = '2026-01-01T00:00:00.000000000Z';
const written = (count: number) => Array.from({ length: count }, (_, at) => `${TIME} stdout F line ${at}\n`).join('');

/** Returns the log of a container in this state that has been restarted twice. */
function shown(state: NonNullable<ContainerStatus['state']>, signal = new AbortController().signal) {
  const status = {
    name: 'main',
    restartCount: 2,
    state,
    ready: true,
    image: '',
    imageID: '',
    containerID: 'containerd://a',
  };
  const pod = { ...podWith('web'), status: { phase: 'Running' as const, containerStatuses: [status] } };
  return readShownLog({ pod, container: 'main', podPaths: { podLogs, logs }, tails, signal });
}

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

test('a healthy container shows the log of its current run', async () => {
  await writeFile(join(logs, 'main', '2.log'), written(2));
  expect(await shown(running)).toEqual({ run: 3, isRunning: true, isCut: false, lines: ['line 0', 'line 1'] });
});

test('a long log shows its last lines and that it is truncated', async () => {
  await writeFile(join(logs, 'main', '2.log'), written(3_000));
  const { lines, isCut } = await shown(running);
  expect([lines.length, lines.at(-1), isCut]).toEqual([1_000, 'line 2999', true]);
});

test('a line that is too long for a response shows its end', async () => {
  await writeFile(join(logs, 'main', '2.log'), `${TIME} stdout F ${'x'.repeat(600_000)}y\n`);
  const { lines, isCut } = await shown(running);
  // The line break at the end counts as well.
  expect([lines.join('').length, lines.at(-1)?.at(-1), isCut]).toEqual([2 ** 19 - 1, 'y', true]);
});

/** Returns the number of bytes that this process has read so far. */
const bytesRead = async () => Number(/^rchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);

test('a log with long lines is read only as far as a response can contain', async () => {
  const line = `${`${TIME} stdout P ${'x'.repeat(16_384)}\n`.repeat(64)}${TIME} stdout F y\n`;
  await writeFile(join(logs, 'main', '2.log'), line.repeat(40));
  const before = await bytesRead();
  const { lines, isCut } = await shown(running);
  expect((await bytesRead()) - before).toBeLessThan(8 * 2 ** 20);
  expect([lines.join('').length, lines.at(-1)?.at(-1), isCut]).toEqual([2 ** 19 - 1, 'y', true]);
});

test('a container without a log shows why', async () => {
  expect(await shown(running)).toMatchObject({ lines: [], note: expect.stringContaining('does not exist') });
  expect(await shown({ waiting: { reason: 'ImagePullBackOff' } })).toMatchObject({
    note: expect.stringContaining('trying and failing to pull image'),
  });
});

/** Returns lines that hardly compress. */
const random = (count: number) =>
  Array.from({ length: count }, () => `${TIME} stdout F ${randomBytes(750).toString('base64')}\n`).join('');
const FIRST_ROTATED = '2.log.20260101-000000.gz';

test('a compressed log file is decompressed once, however often the page shows its end', async () => {
  const text = random(4_000);
  await writeFile(join(logs, 'main', FIRST_ROTATED), gzipSync(text));
  await writeFile(join(logs, 'main', '2.log'), written(2));
  const first = await shown(running);
  const before = await bytesRead();
  expect(await shown(running)).toEqual(first);
  expect((await bytesRead()) - before).toBeLessThan(2 ** 20);
  const last = text
    .split('\n')
    .at(-2)
    ?.slice(TIME.length + 10);
  expect(first.lines.slice(-3)).toEqual([last, 'line 0', 'line 1']);
  expect(first.isCut).toBe(true);
});

test('the last lines of several compressed files are shown in order', async () => {
  const names = ['2.log.20260101-000000.gz', '2.log.20260101-000001.gz', '2.log.20260101-000002.gz'];
  const line = (at: number) => `${TIME} stdout P part of \n${TIME} stdout F line ${at}\n`;
  for (const [file, name] of names.entries()) {
    const lines = Array.from({ length: 400 }, (_, at) => line(file * 400 + at)).join('');
    await writeFile(join(logs, 'main', name), gzipSync(lines));
  }
  await writeFile(join(logs, 'main', '2.log'), line(1_200));
  const { lines } = await shown(running);
  expect(lines).toEqual(Array.from({ length: 1_000 }, (_, at) => `part of line ${at + 201}`));
});

test('reading a log ends when the client disconnects', async () => {
  const client = new AbortController();
  await writeFile(join(logs, 'main', FIRST_ROTATED), gzipSync(random(4_000)));
  await writeFile(join(logs, 'main', '2.log'), written(2));
  const before = await bytesRead();
  client.abort();
  await shown(running, client.signal);
  expect((await bytesRead()) - before).toBeLessThan(2 ** 20);
  expect((await shown(running)).lines.length).toBeGreaterThan(100);
});
