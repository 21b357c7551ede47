/** A recorder whose disk takes seconds for each write while 10,000 entries come in each second. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import type { Clock } from '../../base/time/clock.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { deflate } from '../../recording/deflate.ts';
import { createFlightRecorder, type FlightRecorderOptions } from '../../recording/flightRecorder.ts';
import { readLine } from '../../recording/readLine.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';

const MIB = 2 ** 20;
const PER_SECOND = 10_000;
/** Makes up 4 MB per second. */
const WORDS = 'so much has happened '.repeat(16);

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** Waits long enough for the worker threads of Node.js, which write and compress, to make progress. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Returns a clock whose timers elapse when the test lets them. */
function manualClock() {
  let now = 0;
  const timers = new Map<number, { readonly fn: () => void; readonly at: number }>();
  let last = 0;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    setTimeout: (fn, ms) => {
      last += 1;
      timers.set(last, { fn, at: now + ms });
      return last;
    },
    clearTimeout: (id) => void timers.delete(id as number),
  };
  const pass = (ms: number) => {
    now += ms;
    for (const [id, { fn, at }] of timers) {
      if (at <= now && timers.delete(id)) fn();
    }
  };
  return { clock, pass };
}

/** Creates a recorder that receives only inputs, and whose writes complete when the test says so. */
async function onSlowDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-slow-'));
  const { clock, pass } = manualClock();
  const lengths: number[] = [];
  const waiting: (() => void)[] = [];
  const files: FlightRecorderOptions['files'] = {
    ...hostFiles,
    open: async (path, flags, mode) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return hostFiles.open(path, flags, mode);
    },
  };
  const errors: unknown[] = [];
  const recorder = createFlightRecorder({
    files,
    directory,
    sizeBytes: 64 * MIB,
    clock,
    redact: (value) => value,
    deflate: (bytes) => {
      lengths.push(bytes.length);
      return deflate(bytes);
    },
    program: { machines: '', versions: { statelet: '0.1.0', node: 'v24' }, life: 'life' },
    onError: (error) => void errors.push(error),
  });
  const input = {} as Parameters<typeof recorder.start>[0]['input'];
  const value = () => ({ at: clock.now(), actors: {}, since: {}, statuses: {} });
  const draftKeyframe = () => ({ at: clock.now(), steps: { next: () => ({ done: true as const, value: value() }) } });
  recorder.start({ input, draftKeyframe, now: clock.now, subscribe: () => () => {}, unpublishedUids: () => [] });
  /** Completes all pending writes, and those that follow them. */
  const writeAll = async () => {
    for (let step = 0; step < 200; step += 1) {
      for (const go of waiting.splice(0)) go();
      await turn();
    }
  };
  return { recorder, directory, pass, lengths, errors, writeAll, clock };
}

test('pending lines have at most 2 Mi characters, and the number of lost ones is reported', async () => {
  const { recorder, directory, pass, lengths, errors, writeAll, clock } = await onSlowDisk();
  const before = heapUsed();
  let most = 0;
  let entered = 0;
  for (let ms = 50; ms <= 24_000; ms += 50) {
    for (let each = 0; each < PER_SECOND / 20; each += 1) {
      entered += 1;
      recorder.listeners.onInput({
        at: clock.now(),
        actor: 'pleg',
        kind: 'fact',
        source: 'pleg',
        value: { type: 'something.happened', entered, WORDS },
      });
    }
    pass(50);
    await turn();
    if (ms % 1_000 === 0) most = Math.max(most, heapUsed() - before);
    // Each write takes four seconds.
    if (ms % 4_000 === 0) await writeAll();
  }
  // The limit is far below the 100 MB or so that were recorded.
  expect(most).toBeLessThan(24 * MIB);
  expect(Math.max(...lengths)).toBeLessThan(2 * MIB + 1_024);
  const ended = recorder.close();
  await writeAll();
  await ended;
  expect(errors).toEqual([]);
  const file = await RecordingFile.open(directory);
  let [written, missed] = [0, 0];
  for (const member of file.members) {
    for (const text of await file.lines(member)) {
      const line = readLine(text);
      if (line?.kind === 'fact') written += 1;
      if (line?.kind === 'began' || line?.kind === 'ended') missed += line.missed ?? 0;
    }
  }
  expect(written).toBeGreaterThan(100);
  expect(written + missed).toBe(entered);
  await rm(directory, { recursive: true });
}, 120_000);

test('an entry larger than the limit for pending lines is written nevertheless, and so are the next ones', async () => {
  const { recorder, directory, pass, errors, writeAll, clock } = await onSlowDisk();
  const value = { type: 'config.podsListed', manifest: 'x'.repeat(5 * MIB) };
  const entry = { at: clock.now(), actor: 'sources', kind: 'fact', source: 'sources', value } as const;
  recorder.listeners.onInput(entry);
  for (let each = 0; each < 100; each += 1)
    recorder.listeners.onStateChange({ at: 0, actor: 'pod/a', state: `state ${each}` });
  pass(1_000);
  const ended = recorder.close();
  await writeAll();
  await ended;
  const file = await RecordingFile.open(directory);
  const texts = (await Promise.all(file.members.map((member) => file.lines(member)))).flat();
  const kinds = texts.map((text) => readLine(text)?.kind);
  expect(kinds).toEqual(['began', 'fact', ...Array.from({ length: 100 }, () => 'state'), 'ended']);
  expect(errors).toEqual([]);
  await rm(directory, { recursive: true });
});
