import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { openStore } from '../../../actors/store/store.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';

const schemas = {
  manifests: z.object({ name: z.string() }),
  allocations: z.object({ cpu: z.number() }),
};

async function inFolder(story: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'statelet-store-'));
  try {
    await story(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('written facts exist after the store is reopened, and removed ones do not', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas);
    await store.write('manifests', '/etc/kubernetes/web.yaml', { name: 'web' });
    await store.write('manifests', '/etc/kubernetes/db.yaml', { name: 'db' });
    await store.write('allocations', 'u1', { cpu: 250 });
    await store.remove('manifests', '/etc/kubernetes/db.yaml');
    await store.remove('manifests', 'never there');
    const { facts, damageMessages } = await (await openStore(folder, schemas)).read();
    expect([...facts.manifests]).toEqual([['/etc/kubernetes/web.yaml', { name: 'web' }]]);
    expect([...facts.allocations]).toEqual([['u1', { cpu: 250 }]]);
    expect(damageMessages).toEqual([]);
  });
});

test('a fact is one plain file that names its key and is accessible only to its owner', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas);
    await store.write('allocations', 'u1', { cpu: 250 });
    const file = path.join(folder, 'allocations', 'u1.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ key: 'u1', value: { cpu: 250 } });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

test('the last of many writes to a key wins, and each resolves only when its value or a later one is on disk', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas);
    const file = path.join(folder, 'allocations', 'u1.json');
    const seen: number[] = [];
    const writes = Array.from({ length: 200 }, async (_, cpu) => {
      if (cpu % 3 === 0) await Promise.resolve();
      await store.write('allocations', 'u1', { cpu });
      const fact = z.object({ value: schemas.allocations }).parse(JSON.parse(await readFile(file, 'utf8')));
      seen.push(fact.value.cpu);
    });
    await store.flush();
    await Promise.all(writes);
    await store.write('allocations', 'u1', { cpu: 1 });
    expect(seen).toHaveLength(200);
    expect((await store.read()).facts.allocations.get('u1')).toEqual({ cpu: 1 });
  });
});

test('a write and a removal of the same key are applied in order', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas);
    await Promise.all([
      store.write('allocations', 'gone', { cpu: 1 }),
      store.remove('allocations', 'gone'),
      store.remove('allocations', 'kept'),
      store.write('allocations', 'kept', { cpu: 2 }),
    ]);
    expect([...(await store.read()).facts.allocations]).toEqual([['kept', { cpu: 2 }]]);
  });
});

test('a read waits for earlier writes, and flushing an idle store resolves', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas);
    await store.flush();
    const written = store.write('allocations', 'u1', { cpu: 7 });
    expect((await store.read()).facts.allocations.get('u1')).toEqual({ cpu: 7 });
    await written;
  });
});

test('writing an unchanged fact leaves its file alone', async () => {
  await inFolder(async (folder) => {
    await (await openStore(folder, schemas)).write('allocations', 'u1', { cpu: 7 });
    const before = await stat(path.join(folder, 'allocations', 'u1.json'));
    await (await openStore(folder, schemas)).write('allocations', 'u1', { cpu: 7 });
    expect((await stat(path.join(folder, 'allocations', 'u1.json'))).ino).toBe(before.ino);
  });
});

test('every key has its own file, which is inside the directory of the store', async () => {
  const keys = fc.uniqueArray(
    fc.oneof(fc.string(), fc.constantFrom('..', '../u', 'a/b', 'A', 'a', 'a.json', 'sha256-00', `${'x'.repeat(300)}`)),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(keys, async (used) => {
      await inFolder(async (folder) => {
        const store = await openStore(path.join(folder, 'store'), schemas);
        await Promise.all(used.map((key, cpu) => store.write('allocations', key, { cpu })));
        const { facts, damageMessages } = await store.read();
        expect(damageMessages).toEqual([]);
        expect(new Map(facts.allocations)).toEqual(new Map(used.map((key, cpu) => [key, { cpu }])));
        expect(await readdir(folder)).toEqual(['store']);
      });
    }),
    { numRuns: 30 },
  );
});

describe('a damaged file is reported once and renamed, and does not stop the store', () => {
  test.each([
    ['half-written JSON', 'u2.json', '{"key":"u2","value":{"cp', 'expected one JSON object'],
    ['an empty file', 'u2.json', '', 'expected one JSON object'],
    [
      'a value with the wrong type',
      'u2.json',
      '{"key":"u2","value":{"cpu":"many"}}',
      'value.cpu: expected number, got string',
    ],
    ['JSON that is not an object', 'u2.json', '[]', 'expected object, got array'],
    [
      'a file with an unexpected name',
      'other.json',
      '{"key":"u2","value":{"cpu":1}}',
      'expected the file name u2.json',
    ],
  ])('%s', async (_what, name, text, expected) => {
    await inFolder(async (folder) => {
      const store = await openStore(folder, schemas);
      await store.write('allocations', 'u1', { cpu: 1 });
      const file = path.join(folder, 'allocations', name);
      await writeFile(file, text);
      const { facts, damageMessages } = await store.read();
      expect([...facts.allocations.keys()]).toEqual(['u1']);
      expect(damageMessages).toEqual([expect.stringContaining(file)]);
      expect(damageMessages[0]).toContain(expected);
      expect(await readFile(`${file}.corrupt`, 'utf8')).toBe(text);
      expect((await store.read()).damageMessages).toEqual([]);
    });
  });
});

test('a failed write rejects with its reason, while other writes and a later attempt succeed', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas);
    const inTheWay = path.join(folder, 'allocations', 'u1.json.tmp');
    await mkdir(inTheWay);
    const [refused, written] = await Promise.allSettled([
      store.write('allocations', 'u1', { cpu: 1 }),
      store.write('allocations', 'u2', { cpu: 2 }),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { reason: 'StoreFailed' } });
    expect(written.status).toBe('fulfilled');
    await rm(inTheWay, { recursive: true });
    await store.write('allocations', 'u1', { cpu: 1 });
    expect((await store.read()).facts.allocations.size).toBe(2);
  });
});

test('a value that could not be written is retried, and reported until it is durable', async () => {
  await inFolder(async (folder) => {
    const clock = new SimulatedClock();
    const reported: (number | undefined)[] = [];
    const store = await openStore(folder, schemas, {
      clock,
      onFailure: (trouble) => reported.push(trouble?.factCount),
    });
    const inTheWay = ['u1', 'u2'].map((key) => path.join(folder, 'allocations', `${key}.json.tmp`));
    await Promise.all(inTheWay.map((directory) => mkdir(directory)));
    await Promise.allSettled(['u1', 'u2'].map((key) => store.write('allocations', key, { cpu: 1 })));
    await clock.advance(0);
    expect(store.failure()).toMatchObject({ factCount: 2, lastFailure: { reason: 'StoreFailed' } });
    await expect(store.write('allocations', 'u1', { cpu: 2 })).rejects.toMatchObject({ reason: 'StoreFailed' });
    await clock.advance(60_000);
    expect(reported).toEqual([2]);
    await Promise.all(inTheWay.map((directory) => rm(directory, { recursive: true })));
    await clock.advance(10_000);
    expect([reported, store.failure(), clock.pending]).toEqual([[2, undefined], undefined, 0]);
    const { facts } = await (await openStore(folder, schemas)).read();
    expect(Object.fromEntries(facts.allocations)).toEqual({ u1: { cpu: 2 }, u2: { cpu: 1 } });
  });
});

test('a failed write is not retried while a later removal of its key is in progress', async () => {
  await inFolder(async (folder) => {
    const clock = new SimulatedClock();
    const fact = path.join(folder, 'allocations', 'u1.json');
    const held = Promise.withResolvers<void>();
    const slowRm: typeof hostFiles.rm = async (removed, options) => {
      if (removed === fact) await held.promise;
      return hostFiles.rm(removed, options);
    };
    const store = await openStore(folder, schemas, { clock, files: { ...hostFiles, rm: slowRm } });
    const inTheWay = `${fact}.tmp`;
    await mkdir(inTheWay);
    await store.write('allocations', 'u1', { cpu: 1 }).catch(() => {});
    await rm(inTheWay, { recursive: true });
    const removed = store.remove('allocations', 'u1');
    await clock.advance(10_000);
    held.resolve();
    await removed;
    await store.flush();
    expect(await readdir(path.join(folder, 'allocations'))).toEqual([]);
  });
});

test('a newer value that replaces a failed one does not count as a recovery', async () => {
  await inFolder(async (folder) => {
    const reported: (number | undefined)[] = [];
    const clock = new SimulatedClock();
    const store = await openStore(folder, schemas, {
      clock,
      onFailure: (trouble) => reported.push(trouble?.factCount),
    });
    const inTheWay = path.join(folder, 'allocations', 'u1.json.tmp');
    await mkdir(inTheWay);
    await store.write('allocations', 'u1', { cpu: 1 }).catch(() => {});
    const writes: Promise<void>[] = [];
    for (let cpu = 2; cpu < 6; cpu += 1) {
      writes.push(store.write('allocations', 'u1', { cpu }));
      // The previous write has started by now.
      await Promise.resolve();
    }
    await Promise.allSettled(writes);
    expect(reported).toEqual([1]);
    await rm(inTheWay, { recursive: true });
    await clock.advance(10_000);
    expect(reported).toEqual([1, undefined]);
  });
});

test('closing a store retries a failed write once, and leaves no timer', async () => {
  await inFolder(async (folder) => {
    const clock = new SimulatedClock();
    const store = await openStore(folder, schemas, { clock });
    await mkdir(path.join(folder, 'allocations', 'u1.json.tmp'));
    await store.write('allocations', 'u1', { cpu: 1 }).catch(() => {});
    await clock.advance(0);
    expect(clock.pending).toBe(1);
    await store.close();
    expect(clock.pending).toBe(0);
  });
});

test('flushing a store retries a failed write', async () => {
  await inFolder(async (folder) => {
    const store = await openStore(folder, schemas, { clock: new SimulatedClock() });
    const inTheWay = path.join(folder, 'allocations', 'u1.json.tmp');
    await mkdir(inTheWay);
    await store.write('allocations', 'u1', { cpu: 1 }).catch(() => {});
    await rm(inTheWay, { recursive: true });
    await store.flush();
    expect((await (await openStore(folder, schemas)).read()).facts.allocations.size).toBe(1);
  });
});

test('a writer that is killed at any moment leaves complete files, none older than the last acknowledged value', async () => {
  await inFolder(async (folder) => {
    const fact = { facts: z.object({ turn: z.number(), padding: z.string() }) };
    for (let life = 0; life < 10; life += 1) {
      const turn = await killedWriter(folder, life * 7);
      const { facts, damageMessages } = await (await openStore(folder, fact)).read();
      expect(damageMessages).toEqual([]);
      expect(facts.facts.size).toBeGreaterThanOrEqual(3);
      for (const value of facts.facts.values()) {
        expect(value.turn).toBeGreaterThanOrEqual(turn);
        expect(value.padding === `${value.turn},`.repeat(500_000 + value.turn)).toBe(true);
      }
      expect((await readdir(path.join(folder, 'facts'))).filter((name) => !name.endsWith('.json'))).toEqual([]);
    }
  });
}, 120_000);

/**
 * Runs the writer, kills it `delayMs` milliseconds after it has reported its first turn, and returns the last reported
 * turn.
 */
async function killedWriter(folder: string, delayMs: number): Promise<number> {
  const script = path.join(import.meta.dirname, 'storeWriter.ts');
  const writer = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let reported = '';
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (reported === '') setTimeout(() => writer.kill('SIGKILL'), delayMs);
    reported += text;
  });
  await new Promise((closed) => writer.once('close', closed));
  return Number(reported.split('\n').at(-2));
}
