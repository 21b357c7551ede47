/** A store on a disk of which individual calls, or all calls, hang for a long time. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { type FactStore, openStore } from '../../../actors/store/store.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { HangingFiles } from '../../fakes/hangingFiles.ts';

const DIRECTORY = '/statelet';
const schemas = { ends: z.number(), probes: z.number() };
const ofFile = /ends\/u1\.json/;
const ofFolder = /ends$/;

let clock: SimulatedClock;
let disk: MemoryDisk;
let files: HangingFiles;
let store: FactStore<typeof schemas>;
let failures: (string | undefined)[];

beforeEach(async () => {
  clock = new SimulatedClock();
  disk = new MemoryDisk(() => clock.now());
  files = new HangingFiles(disk);
  failures = [];
  const onFailure = (failure: { lastFailure: { message: string } } | undefined) =>
    failures.push(failure?.lastFailure.message);
  store = await openStore(DIRECTORY, schemas, { files, clock, onFailure });
});

/** Returns what a later process would read, and checks that no temporary file is left. */
async function onDisk(): Promise<Record<'ends' | 'probes', Record<string, number>>> {
  const temporary = ['ends', 'probes'].flatMap((kind) => files.readdirSync(`${DIRECTORY}/${kind}`));
  expect(temporary.filter((name) => !name.endsWith('.json'))).toEqual([]);
  const { facts } = await (await openStore(DIRECTORY, schemas, { files: new MemoryFiles(disk), clock })).read();
  return { ends: Object.fromEntries(facts.ends), probes: Object.fromEntries(facts.probes) };
}

/** Returns a function that reports whether the work has completed. */
function isDone(work: Promise<unknown>): () => boolean {
  let done = false;
  void work.then(() => {
    done = true;
  });
  return () => done;
}

describe('a hanging call', () => {
  test.each([
    ['open', ofFile, `${DIRECTORY}/ends/u1.json was not written within 2s`],
    ['writeFile', ofFile, `${DIRECTORY}/ends/u1.json was not written within 2s`],
    ['sync', ofFile, `${DIRECTORY}/ends/u1.json was not written within 2s`],
    ['close', ofFile, `${DIRECTORY}/ends/u1.json was not written within 2s`],
    ['rename', ofFile, `${DIRECTORY}/ends/u1.json was not written within 2s`],
    ['open', ofFolder, `${DIRECTORY}/ends was not synced within 2s`],
    ['sync', ofFolder, `${DIRECTORY}/ends was not synced within 2s`],
    ['close', ofFolder, `${DIRECTORY}/ends was not synced within 2s`],
  ] as const)(
    '%s of %s delays no facts of other kinds, and those of its own kind for at most two seconds',
    async (call, path, message) => {
      const goOn = files.hold(call, path);
      const same = isDone(Promise.all([store.write('ends', 'u1', 1), store.write('ends', 'u2', 1)]));
      const other = isDone(store.write('probes', 'u1', 1));
      await clock.advance(1_900);
      expect([other(), same(), store.isUnwritten('ends', 'u1'), failures]).toEqual([true, false, true, []]);
      await clock.advance(100);
      expect([same(), store.isUnwritten('ends', 'u1'), failures]).toEqual([true, false, [message, undefined]]);
      expect(clock.pending).toBe(0);
      goOn();
      await clock.advance(0);
      expect([files.hanging, clock.pending]).toEqual([0, 0]);
      expect(await onDisk()).toEqual({ ends: { u1: 1, u2: 1 }, probes: { u1: 1 } });
    },
  );

  test('moves its waiting callers on to a later value', async () => {
    const goOn = files.hold('rename', ofFile);
    const writes = [store.write('ends', 'u1', 1)];
    await clock.advance(1_000);
    writes.push(store.write('ends', 'u1', 2));
    const done = isDone(Promise.all(writes));
    await clock.advance(1_000);
    expect(done()).toBe(true);
    goOn();
    await clock.advance(0);
    expect(await onDisk()).toMatchObject({ ends: { u1: 2 } });
  });

  test('is reported until the fact is durable, with a next attempt that is never in the past', async () => {
    const goOn = files.hold('sync', ofFile, 2);
    void store.write('ends', 'u1', 1);
    await clock.advance(3_600_000);
    const { factCount, lastFailure, nextRetryAt = 0 } = store.failure() ?? {};
    expect({ facts: factCount, failure: lastFailure }).toMatchObject({ facts: 1, failure: { reason: 'StoreFailed' } });
    expect(nextRetryAt).toBeGreaterThanOrEqual(clock.now());
    goOn();
    await clock.advance(0);
    expect([store.failure(), failures.length, clock.pending]).toEqual([undefined, 2, 0]);
  });
});

test('a failed write beside a hanging call counts as unwritten until the fact is durable', async () => {
  const goOn = files.hold('sync', /ends\/u2\.json/);
  files.failOnce('rename', ofFile);
  const failed = store.write('ends', 'u1', 1);
  void store.write('ends', 'u2', 1);
  await expect(failed).rejects.toThrow('EIO');
  const written = isDone(store.whenWritten('ends', 'u1'));
  for (let seconds = 0; seconds < 5; seconds += 1) {
    expect([store.isUnwritten('ends', 'u1'), written()]).toEqual([true, false]);
    await clock.advance(1_000);
  }
  goOn();
  await clock.advance(2_000);
  expect([store.isUnwritten('ends', 'u1'), written()]).toEqual([false, true]);
  expect(await onDisk()).toMatchObject({ ends: { u1: 1, u2: 1 } });
});

describe('a call that completes late', () => {
  test.each(['open', 'writeFile', 'sync', 'close'] as const)('does not move its file into place: %s', async (call) => {
    const goOn = files.hold(call, ofFile);
    void store.write('ends', 'u1', 1);
    await clock.advance(2_000);
    await store.write('ends', 'u1', 2);
    const { length } = files.renamed;
    goOn();
    await clock.advance(0);
    expect(files.renamed).toHaveLength(length);
    expect(await onDisk()).toMatchObject({ ends: { u1: 2 } });
  });

  test('does not restore an earlier value', async () => {
    const goOn = files.hold('rename', ofFile);
    void store.write('ends', 'u1', 1);
    await clock.advance(2_000);
    await store.write('ends', 'u1', 2);
    goOn();
    await clock.advance(0);
    expect(await onDisk()).toMatchObject({ ends: { u1: 2 } });
    expect([store.isUnwritten('ends', 'u1'), clock.pending]).toEqual([false, 0]);
  });

  test('does not restore a value that was abandoned before its write started', async () => {
    const others = files.hold('open', /u[23]/, 2);
    for (const key of ['u2', 'u3', 'u1']) void store.write('ends', key, 1);
    await clock.advance(0);
    const later = store.write('ends', 'u1', 2);
    const goOn = files.hold('rename', ofFile);
    others();
    await clock.advance(2_000);
    await later;
    goOn();
    await clock.advance(0);
    expect(await onDisk()).toMatchObject({ ends: { u1: 2 } });
  });

  test('does not restore a removed value', async () => {
    const goOn = files.hold('rename', ofFile);
    void store.write('ends', 'u1', 1);
    await clock.advance(2_000);
    await store.remove('ends', 'u1');
    goOn();
    await clock.advance(0);
    expect(await onDisk()).toMatchObject({ ends: {} });
  });

  test('leaves no temporary file that could not be deleted during the removal of its fact', async () => {
    const [late, removal] = [files.hold('sync', ofFile), files.hold('rm', /u1\.json$/)];
    void store.write('ends', 'u1', 1);
    await clock.advance(2_000);
    const removed = store.remove('ends', 'u1');
    await clock.advance(0);
    files.failOnce('rm', /u1\.json\.tmp$/);
    late();
    await clock.advance(0);
    removal();
    await removed;
    await clock.advance(0);
    expect(await onDisk()).toMatchObject({ ends: {} });
  });

  test('does not remove a value that was written again', async () => {
    await store.write('ends', 'u1', 1);
    const goOn = files.hold('rm', ofFile);
    const removed = isDone(store.remove('ends', 'u1'));
    await clock.advance(2_000);
    await store.write('ends', 'u1', 2);
    expect(removed()).toBe(true);
    goOn();
    await clock.advance(0);
    expect(await onDisk()).toMatchObject({ ends: { u1: 2 } });
  });

  test('persists only the values that were written before it started', async () => {
    const [goOn] = [files.hold('sync', ofFolder), files.hold('sync', ofFolder, 2)];
    const first = isDone(store.write('ends', 'u1', 1));
    await clock.advance(10_000);
    const second = isDone(store.write('ends', 'u2', 1));
    await clock.advance(0);
    expect(first()).toBe(false);
    goOn();
    await clock.advance(0);
    expect([first(), second()]).toEqual([true, false]);
  });

  test('and syncs a directory resolves the callers whose value was replaced by a later one', async () => {
    const goOn = files.hold('sync', ofFolder, 2);
    const writes = [store.write('ends', 'u1', 1)];
    await clock.advance(10_000);
    writes.push(store.write('ends', 'u1', 2));
    await clock.advance(0);
    goOn();
    await clock.advanceUntilSettled(Promise.all(writes));
    expect(await onDisk()).toMatchObject({ ends: { u1: 2 } });
  });

  test('and syncs a directory does not cover a later value that could not be written', async () => {
    const goOn = files.hold('sync', ofFolder, 2);
    const first = isDone(store.write('ends', 'u1', 1));
    await clock.advance(10_000);
    const inTheWay = `${DIRECTORY}/ends/u1.json.tmp`;
    await files.mkdir(inTheWay);
    await expect(store.write('ends', 'u1', 2)).rejects.toMatchObject({ reason: 'StoreFailed' });
    goOn();
    await clock.advance(0);
    expect([first(), store.isUnwritten('ends', 'u1'), failures]).toMatchObject([true, true, [expect.anything()]]);
    await files.rm(inTheWay, { recursive: true });
    await clock.advance(5_000);
    expect([store.failure(), await onDisk()]).toMatchObject([undefined, { ends: { u1: 2 } }]);
  });

  test('changes nothing after the store was closed, because another process may be writing by then', async () => {
    const goOn = files.hold('sync', ofFile, 2);
    void store.write('ends', 'u1', 1);
    await clock.advanceUntilSettled(store.close());
    goOn();
    await clock.advance(60_000);
    expect([clock.pending, await onDisk()]).toEqual([0, { ends: {}, probes: {} }]);
  });
});

test('a file for which every call hangs occupies two calls, and delays nothing else', async () => {
  const goOn = files.hold('open', ofFile, 100);
  const first = isDone(store.write('ends', 'u1', 1));
  for (let turn = 1; turn <= 20; turn += 1) {
    void store.write('ends', 'u1', turn);
    await clock.advance(5_000);
  }
  await store.write('ends', 'u2', 1);
  expect([files.hanging, first()]).toEqual([2, false]);
  goOn();
  await clock.advance(0);
  expect(first()).toBe(true);
  expect(await onDisk()).toMatchObject({ ends: { u1: 20, u2: 1 } });
});

describe('a disk that never responds', () => {
  test('occupies three calls and the last change of each key in memory, and everything is written once the disk responds', async () => {
    const goOn = files.hold('open', /./, 1_000);
    const writes: Promise<void>[] = [];
    for (let turn = 1; turn <= 20; turn += 1) {
      for (const key of ['u1', 'u2', 'u3', 'u4']) writes.push(store.write('ends', key, turn));
      writes.push(store.write('probes', 'u1', turn));
      await clock.advance(5_000);
    }
    expect([files.hanging, clock.pending]).toEqual([3, 1]);
    expect(store.failure()).toMatchObject({ factCount: 5 });
    goOn();
    await clock.advanceUntilSettled(Promise.all(writes));
    expect([store.failure(), clock.pending]).toEqual([undefined, 0]);
    expect(await onDisk()).toEqual({ ends: { u1: 20, u2: 20, u3: 20, u4: 20 }, probes: { u1: 20 } });
  });

  test('does not prevent the store from closing', async () => {
    files.hold('open', /./, 1_000);
    for (const key of ['u1', 'u2', 'u3', 'u4', 'u5']) void store.write('ends', key, 1);
    const began = clock.now();
    await clock.advanceUntilSettled(store.close());
    expect(clock.now() - began).toBeLessThanOrEqual(6_000);
    expect(clock.pending).toBe(0);
  });
});

test('a disk that takes three seconds per call is slow, but everything is written', async () => {
  for (const path of [ofFile, ofFolder]) {
    for (let call = 1; call <= 10; call += 1) {
      const goOn = files.hold('sync', path);
      clock.setTimeout(goOn, call * 3_000);
    }
  }
  const done = isDone(store.write('ends', 'u1', 1));
  await clock.advance(10_000);
  expect(done()).toBe(true);
});
