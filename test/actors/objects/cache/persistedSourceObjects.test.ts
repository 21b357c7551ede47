import { expect, test } from '@jest/globals';
import type { PersistedObject } from '../../../../actors/objects/cache/persistedObjects.ts';
import {
  type LocalObject,
  PersistedSourceObjects,
  referenceKey,
} from '../../../../actors/objects/cache/persistedSourceObjects.ts';
import type { ConfigReference } from '../../../../kubernetes/objects/configObject.ts';
import { objectOfManifest } from '../../../../kubernetes/objects/objectManifest.ts';

const FILE = '/pods/a.yaml';

const secret = (name: string, value = 'v'): LocalObject => {
  const data = [['k', value]] as const;
  const about = { kind: 'Secret', namespace: 'default', name, isImmutable: false, type: 'Opaque' } as const;
  return { object: objectOfManifest({ ...about, data }), file: FILE };
};

/** The persisted objects in memory, which outlive agents, and the writes of the current agent. */
function world(left: readonly string[] = []) {
  const disk = new Map<string, PersistedObject>();
  const writes: string[] = [];
  const errors: unknown[] = [];
  const fakeStore = {
    list: async () => [...disk.values()],
    put: (each: PersistedObject) => {
      disk.set(referenceKey(each.object), each);
      writes.push(`${each.object.name} of ${each.uids}`);
    },
    forget: (reference: ConfigReference) => {
      disk.delete(referenceKey(reference));
      writes.push(`no ${reference.name}`);
    },
    close: async () => {},
    retainPods: async (uids: ReadonlySet<string>) => {
      for (const [key, each] of disk) if (!each.uids.some((uid) => uids.has(uid))) disk.delete(key);
    },
  };
  const agent = (listPodDirs = async () => left) =>
    new PersistedSourceObjects({
      persistedObjects: fakeStore,
      listPodDirs,
      onError: (_, error) => void errors.push(error),
    });
  const there = (...used: (readonly [LocalObject, ...string[]])[]) =>
    new Map(used.map(([each, ...uids]) => [referenceKey(each.object), { ...each, uids }]));
  return { agent, there, errors, asked: () => writes.splice(0) };
}

test('an object of a source file is persisted exactly as long as a pod references it', async () => {
  const { agent, there, asked } = world();
  const first = agent();
  first.putAll(there([secret('a')], [secret('b'), 'web']));
  first.putAll(there([secret('a'), 'web'], [secret('b'), 'web']));
  first.putAll(there([secret('a'), 'web'], [secret('b'), 'db', 'web']));
  expect(asked()).toEqual(['b of web', 'a of web', 'b of db,web']);
  first.putAll(there([secret('a', 'new'), 'web'], [secret('b')]));
  expect(asked()).toEqual(['a of web', 'no b']);
  // The object has been removed from its file.
  first.putAll(there());
  expect(asked()).toEqual(['no a']);
});

test('a restarted agent retains persisted objects for the remaining pods, until each of those pods has been confirmed', async () => {
  const { agent, there, asked } = world(['web', 'db']);
  agent().putAll(there([secret('a'), 'web', 'db'], [secret('b'), 'gone']));
  asked();
  const next = agent();
  expect(await next.read()).toEqual(new Map([[FILE, [secret('a').object]]]));
  next.putAll(there([secret('a')]));
  next.confirm('web');
  next.putAll(there([secret('a'), 'web']));
  expect(asked()).toEqual([]);
  next.confirm('db');
  next.putAll(there([secret('a'), 'web']));
  expect(asked()).toEqual(['a of web']);
  next.putAll(there([secret('a')]));
  expect(asked()).toEqual(['no a']);
});

test('no persisted objects are used if the remaining pods cannot be determined, and the error is reported', async () => {
  const { agent, errors } = world();
  const broken = agent(() => Promise.reject(new Error('EIO')));
  expect(await broken.read()).toEqual(new Map());
  expect(errors).toEqual([new Error('EIO')]);
});
