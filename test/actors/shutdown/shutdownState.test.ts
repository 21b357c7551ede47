import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ShutdownState } from '../../../actors/shutdown/shutdownState.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';

const STARTED = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
let rootDir: string;
let file: string;
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'shutdown-state-'));
  file = join(rootDir, 'graceful_node_shutdown_state');
});
afterEach(() => rmSync(rootDir, { recursive: true }));

const state = () => new ShutdownState(hostFiles, rootDir);

test('writes the start and the end of a shutdown as a kubelet does, and reads them again', async () => {
  await state().save({ startedAt: STARTED });
  expect(readFileSync(file, 'utf8')).toBe('{"startTime":"2026-01-02T03:04:05.678Z","endTime":"0001-01-01T00:00:00Z"}');
  expect(await state().load()).toEqual({ startedAt: STARTED });
  await state().save({ startedAt: STARTED, endedAt: STARTED + 1_000 });
  expect(await state().load()).toEqual({ startedAt: STARTED, endedAt: STARTED + 1_000 });
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

test('reads the times of a kubelet, which have nanoseconds and a time zone', async () => {
  const content = { startTime: '2026-01-02T04:04:05.678901234+01:00', endTime: '2026-01-02T04:04:35.1+01:00' };
  writeFileSync(file, JSON.stringify(content));
  expect(await state().load()).toEqual({ startedAt: STARTED, endedAt: Date.UTC(2026, 0, 2, 3, 4, 35, 100) });
});

test('a host without a file has had no shutdown', async () => {
  expect(await state().load()).toBeUndefined();
  writeFileSync(file, '{"startTime":"0001-01-01T00:00:00Z","endTime":"0001-01-01T00:00:00Z"}');
  expect(await state().load()).toBeUndefined();
});

test.each(['', 'null', '{"startTime":1,"endTime":2}', '{"startTime":"yesterday","endTime":"today"}'])(
  'rejects the damaged file %j',
  async (content) => {
    writeFileSync(file, content);
    await expect(state().load()).rejects.toThrow(`Failed to load graceful shutdown state ${file}: `);
  },
);
