import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { shownLog } from '../../inspect/shownLog.ts';
import type { ContainerStatus } from '../../pod/api/schema/status.ts';
import { podWith } from '../fakes/pods.ts';

let podLogs: string;
let logs: string;

beforeEach(async () => {
  podLogs = await mkdtemp(join(tmpdir(), 'statelet-shown-log-'));
  logs = join(podLogs, 'default_web_uid');
  await mkdir(join(logs, 'main'), { recursive: true });
});
afterEach(() => rm(podLogs, { recursive: true }));

const TIME = '2026-01-01T00:00:00.000000000Z';
const written = (count: number) => Array.from({ length: count }, (_, at) => `${TIME} stdout F line ${at}\n`).join('');

/** The log of a container in this state, which has been restarted twice. */
function shown(state: NonNullable<ContainerStatus['state']>) {
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
  return shownLog({ pod, container: 'main', places: { podLogs, logs } });
}

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };

test('a healthy container shows the log of the run that goes on', async () => {
  await writeFile(join(logs, 'main', '2.log'), written(2));
  expect(await shown(running)).toEqual({ run: 3, isRunning: true, isCut: false, lines: ['line 0', 'line 1'] });
});

test('of a long log the last lines are shown, and it is said that there are more', async () => {
  await writeFile(join(logs, 'main', '2.log'), written(3_000));
  const { lines, isCut } = await shown(running);
  expect([lines.length, lines.at(-1), isCut]).toEqual([1_000, 'line 2999', true]);
});

test('of lines that are too long for an answer the end is shown', async () => {
  await writeFile(join(logs, 'main', '2.log'), `${TIME} stdout F ${'x'.repeat(600_000)}y\n`);
  const { lines, isCut } = await shown(running);
  // The line break at its end counts, too.
  expect([lines.join('').length, lines.at(-1)?.at(-1), isCut]).toEqual([2 ** 19 - 1, 'y', true]);
});

/** Bytes that this process has read so far. */
const bytesRead = async () => Number(/^rchar: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8'))?.[1]);

test('of a log with long lines no more is read than an answer can contain', async () => {
  const line = `${`${TIME} stdout P ${'x'.repeat(16_384)}\n`.repeat(64)}${TIME} stdout F y\n`;
  await writeFile(join(logs, 'main', '2.log'), line.repeat(40));
  const before = await bytesRead();
  const { lines, isCut } = await shown(running);
  expect((await bytesRead()) - before).toBeLessThan(8 * 2 ** 20);
  expect([lines.join('').length, lines.at(-1)?.at(-1), isCut]).toEqual([2 ** 19 - 1, 'y', true]);
});

test('a container without a log says why', async () => {
  expect(await shown(running)).toMatchObject({ lines: [], note: expect.stringContaining('does not exist') });
  expect(await shown({ waiting: { reason: 'ImagePullBackOff' } })).toMatchObject({
    note: expect.stringContaining('trying and failing to pull image'),
  });
});
