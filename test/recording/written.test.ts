/** Flushing a recorder for readers of the recording. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { deflate } from '../../recording/deflate.ts';
import { createFlightRecorder, type FlightRecorder } from '../../recording/flightRecorder.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';

let directory: string;
let recorder: FlightRecorder;
let now = 0;
/** Called by each write. It may delay the write or let it fail. */
let disk: () => Promise<void>;
let attempts = 0;
/** State of the agent's actors. */
let actors = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-written-'));
  [now, attempts, actors, disk] = [0, 0, '', async () => {}];
  recorder = recorderOf();
  recorder.start(agent);
});

const keyframe = () => ({ at: now, actors, since: {}, statuses: {} });
const agent: Parameters<FlightRecorder['start']>[0] = {
  input: {} as never, // the recorder does not read it
  draftKeyframe: () => ({ at: now, steps: { next: () => ({ done: true, value: keyframe() }) } }),
  now: () => now,
  subscribe: () => () => {},
  unpublishedUids: () => [],
};

function recorderOf(): FlightRecorder {
  return createFlightRecorder({
    directory,
    sizeBytes: 2 ** 26,
    deflate,
    redact: (value) => value,
    files: {
      ...hostFiles,
      open: async (...given) => {
        attempts += 1;
        await disk();
        return hostFiles.open(...given);
      },
    },
    // No timer of the recorder elapses.
    clock: { now: () => now, monotonic: () => now, setTimeout: () => 0, clearTimeout: () => {} },
    program: { machines: '', versions: { statelet: '', node: '' }, life: '' },
    onError: () => {},
  });
}

afterEach(() => rm(directory, { recursive: true }));

const happens = (state: string) => recorder.listeners.onStateChange({ at: now, actor: 'node', state });

async function lines(): Promise<{ readonly kind: string; readonly state?: string }[]> {
  const file = await RecordingFile.open(directory);
  const texts = (await Promise.all(file.members.map((member) => file.lines(member)))).flat();
  return texts.map((text) => JSON.parse(text));
}

const states = async (): Promise<string> => (await lines()).flatMap(({ state }) => state ?? []).join('');

test('pending entries are written on request, at most once a second', async () => {
  happens('a');
  await Promise.all([recorder.waitUntilWritten(), recorder.waitUntilWritten(), recorder.waitUntilWritten()]);
  expect([await states(), attempts]).toEqual(['a', 1]);
  now += 999;
  happens('b');
  await recorder.waitUntilWritten();
  expect([await states(), attempts]).toEqual(['a', 1]);
  now += 1;
  await recorder.waitUntilWritten();
  expect([await states(), attempts]).toEqual(['ab', 2]);
});

test('entries that arrive during a write are written on request as well', async () => {
  const { promise, resolve: go } = Promise.withResolvers<void>();
  disk = () => promise;
  happens('a');
  const first = recorder.waitUntilWritten();
  happens('b');
  const second = recorder.waitUntilWritten();
  go();
  await first;
  await second;
  expect(await states()).toBe('ab');
});

test('nothing is written on request while writes fail', async () => {
  disk = () => Promise.reject(new Error('ENOSPC'));
  happens('a');
  await recorder.waitUntilWritten();
  expect(attempts).toBe(1);
  now += 5_000;
  happens('b');
  await recorder.waitUntilWritten();
  expect(attempts).toBe(1);
  disk = async () => {};
  await recorder.flush();
  now += 1_000;
  happens('c');
  await recorder.waitUntilWritten();
  expect(await states()).toMatch(/c$/);
});

test('another keyframe is written after 2,000 entries, once as much was written as the last keyframe takes', async () => {
  const keyframes = async () => (await lines()).filter(({ kind }) => kind === 'began').length - 1;
  const enter = async (entries: number) => {
    for (let index = 0; index < entries; index += 1)
      recorder.listeners.onInput({ at: now, actor: 'node', kind: 'fact', source: 'pleg', value: 'x'.repeat(100) });
    await recorder.flush();
  };
  actors = 'x'.repeat(450_000);
  await enter(1_999);
  expect(await keyframes()).toBe(0);
  await enter(1);
  expect(await keyframes()).toBe(1);
  await enter(2_500);
  expect(await keyframes()).toBe(1);
  await enter(500);
  expect(await keyframes()).toBe(2);
});

test('a keyframe of many actors is written over several turns of the event loop', async () => {
  const actorCount = 1_000;
  let steps = 0;
  const counts: number[] = [];
  let isOver = false;
  const countTurns = () => {
    counts.push(steps);
    if (!isOver) setImmediate(countTurns);
  };
  await recorder.close();
  recorder = recorderOf();
  recorder.start({
    ...agent,
    draftKeyframe: () => ({
      at: now,
      steps: {
        next: () => {
          steps += 1;
          return steps <= actorCount ? { done: false, value: undefined } : { done: true, value: keyframe() };
        },
      },
    }),
  });
  for (let entry = 0; entry < 2_000; entry += 1) {
    recorder.listeners.onInput({ at: now, actor: 'pleg', kind: 'fact', source: 'pleg', value: { entry } });
  }
  const flushed = recorder.flush();
  recorder.listeners.onStateChange({ at: now, actor: 'node', state: 'later' });
  countTurns();
  await flushed;
  isOver = true;
  expect(steps).toBe(actorCount + 1);
  expect(Math.max(...counts.map((count, index) => count - (counts[index - 1] ?? 0)))).toBeLessThanOrEqual(200);
  // Lines that were added during the write follow it.
  await recorder.flush();
  const kinds = (await lines()).map(({ kind }) => kind).filter((kind) => kind !== 'fact');
  expect(kinds.slice(kinds.indexOf('ended') + 1)).toEqual(['began', 'began', 'state']);
});
