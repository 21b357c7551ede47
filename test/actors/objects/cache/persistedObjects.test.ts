import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { PersistedObjects } from '../../../../actors/objects/cache/persistedObjects.ts';
import { withObjectTimeout } from '../../../../actors/services/objectTimeout.ts';
import { type FileSystem, hostFiles } from '../../../../host/files/fileSystem.ts';
import type { ConfigObject } from '../../../../kubernetes/objects/configObject.ts';
import { heldCluster, reads } from '../support/heldCluster.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const secret: ConfigObject = {
  kind: 'Secret',
  namespace: 'default',
  name: 'app',
  uid: 'u1',
  resourceVersion: '7',
  isImmutable: false,
  type: 'Opaque',
  data: new Map<string, string | Buffer>([
    ['__proto__', Buffer.from('\xff')],
    ['b', 'text'],
  ]),
};

function keptIn(directory: string, isInMemory = true, files: FileSystem = hostFiles) {
  const problems: string[] = [];
  const onError = (_: string, error: unknown) => void problems.push(String(error));
  const kept = new PersistedObjects({ directory, files, isInMemory: async () => isInMemory, onError });
  return { kept, problems };
}

describe('a persisted object', () => {
  test('is written by the time of closing, which removes the directory only if it is empty', async () => {
    const directory = join(folder, 'objects');
    const { kept } = keptIn(directory);
    await kept.close();
    expect(await readdir(folder)).toEqual([]);
    kept.put({ object: secret, uids: ['web'] });
    await kept.close();
    expect(await keptIn(directory).kept.list()).toHaveLength(1);
    kept.forget(secret);
    await kept.close();
    expect(await readdir(folder)).toEqual([]);
    await writeFile(directory, 'of another program');
    const { kept: other, problems } = keptIn(directory);
    await other.close();
    expect(problems.join()).toContain('is not a directory that only this agent may enter');
    expect(await readdir(folder)).toEqual(['objects']);
  });

  test('is read unchanged by another agent, and accessible to no other user', async () => {
    const directory = join(folder, 'objects');
    const { kept } = keptIn(directory);
    kept.put({ object: secret, uids: ['web'] });
    await kept.settled();
    const [name = ''] = await readdir(directory);
    expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(await keptIn(directory).kept.read(secret)).toEqual({ object: secret, uids: ['web'] });
    expect(await keptIn(directory).kept.read({ ...secret, kind: 'ConfigMap' })).toBeUndefined();
  });

  test('is the latest version, and is gone once it is forgotten', async () => {
    const directory = join(folder, 'objects');
    const { kept } = keptIn(directory);
    for (let version = 0; version < 100; version += 1)
      kept.put({ object: { ...secret, resourceVersion: String(version) }, uids: [] });
    await kept.settled();
    expect((await kept.read(secret))?.object.resourceVersion).toBe('99');
    expect(await readdir(directory)).toHaveLength(1);
    kept.forget(secret);
    await kept.settled();
    expect(await readdir(directory)).toEqual([]);
  });

  test('is retained only while a pod uses it', async () => {
    const directory = join(folder, 'objects');
    const { kept } = keptIn(directory);
    kept.put({ object: secret, uids: ['web'] });
    kept.put({ object: { ...secret, name: 'other' }, uids: ['gone'] });
    await kept.settled();
    await writeFile(join(directory, 'nonsense.json'), '{');
    await kept.retainPods(new Set(['web']));
    expect(await readdir(directory)).toHaveLength(1);
    expect(await kept.read(secret)).toBeDefined();
  });
});

test('all persisted objects are read at once with their source files, and unreadable ones are skipped', async () => {
  const directory = join(folder, 'objects');
  const { kept } = keptIn(directory);
  const [one, other] = [
    { object: secret, uids: ['web'], file: '/pods/a.yaml' },
    { object: { ...secret, name: 'other' }, uids: ['db'] },
  ];
  for (const each of [one, other]) kept.put(each);
  await kept.settled();
  await writeFile(join(directory, 'nonsense.json'), '{');
  await writeFile(join(directory, 'half.json.tmp'), '{');
  const next = keptIn(directory);
  expect(await next.kept.list()).toEqual(expect.arrayContaining([one, other]));
  expect(next.problems).toHaveLength(1);
});

test('reading persisted objects creates no directory, and needs no permission to create one', async () => {
  const { kept, problems } = keptIn(join(folder, 'missing', 'objects'));
  await kept.retainPods(new Set());
  expect([await kept.list(), await kept.read(secret)]).toEqual([[], undefined]);
  kept.forget(secret);
  await kept.settled();
  expect([await readdir(folder), problems]).toEqual([[], []]);
});

describe('a ConfigMap or Secret', () => {
  test('is not persisted on a disk, only in memory', async () => {
    const { kept, problems } = keptIn(join(folder, 'objects'), false);
    kept.put({ object: secret, uids: ['web'] });
    await kept.settled();
    expect(await readdir(join(folder, 'objects'))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test.each([
    [
      'others may enter',
      async (directory: string) => {
        await mkdir(directory);
        await chmod(directory, 0o755);
      },
    ],
    [
      'is a link',
      async (directory: string) => {
        await mkdir(`${directory}-real`, { mode: 0o700 });
        await symlink(`${directory}-real`, directory);
      },
    ],
    ['is a file', (directory: string) => writeFile(directory, '', { mode: 0o600 })],
  ])('is not persisted in a directory that %s', async (_, prepare) => {
    const directory = join(folder, 'objects');
    await prepare(directory);
    const { kept, problems } = keptIn(directory);
    kept.put({ object: secret, uids: ['web'] });
    await kept.settled();
    expect(await kept.read(secret)).toBeUndefined();
    expect(problems[0]).toMatch(
      /the ConfigMaps and Secrets in use cannot be persisted: .* is not a directory that only this agent may/,
    );
  });

  test('is not read from a file that someone else wrote', async () => {
    const directory = join(folder, 'objects');
    const { kept, problems } = keptIn(directory);
    kept.put({ object: secret, uids: ['web'] });
    await kept.settled();
    const [name = ''] = await readdir(directory);
    const text = await readFile(join(directory, name), 'utf8');
    for (const nonsense of ['hunter2', '{"hunter2":1}', text.replace('"name":"app"', '"name":"b"')]) {
      await writeFile(join(directory, name), nonsense);
      expect(await kept.read(secret)).toBeUndefined();
    }
    const why = `a persisted ConfigMap or Secret cannot be read: ${join(directory, name)}`;
    expect(problems).toEqual([`NodeFailure: ${why}`, `NodeFailure: ${why}`]);
  });
});

test('an obstacle at the path of an object is reported once, and moved aside by the next agent', async () => {
  const directory = join(folder, 'objects');
  const { kept, problems } = keptIn(directory);
  kept.put({ object: secret, uids: ['web'] });
  await kept.settled();
  const file = join(directory, String(await readdir(directory)));
  await rm(file);
  await mkdir(join(file, 'deep'), { recursive: true });
  expect(await kept.read(secret)).toBeUndefined();
  for (const resourceVersion of ['8', '9']) {
    kept.put({ object: { ...secret, resourceVersion }, uids: ['web'] });
    await kept.settled();
  }
  expect([...new Set(problems)]).toEqual([
    expect.stringContaining(`${file} is not a file`),
    expect.stringContaining(`${file} cannot be written (EISDIR)`),
  ]);
  const next = keptIn(directory);
  await next.kept.retainPods(new Set(['web']));
  expect(await readdir(directory)).toEqual([]);
  expect(next.problems).toEqual([]);
});

test('pods that ran under an earlier agent have their objects while the API server is down, and other pods do not', async () => {
  // /dev/shm is in memory on every host.
  const cacheDirectory = await mkdtemp('/dev/shm/statelet-kept-');
  try {
    const earlier = await heldCluster({ cacheDirectory });
    await earlier.make('Secret', 'app', { key: 'hidden' });
    const web = await earlier.pod('web', reads('app'));
    earlier.store.follow(web);
    expect(await earlier.read(web, 'Secret', 'app')).toEqual({ key: 'hidden' });
    earlier.stop();
    const later = await heldCluster({ cacheDirectory }, [web.metadata.uid]);
    later.transport.isAway = true;
    const other = { ...web, metadata: { ...web.metadata, uid: 'other' } };
    for (const each of [web, other]) later.store.follow(each);
    await eventually(async () => expect(await later.read(web, 'Secret', 'app')).toEqual({ key: 'hidden' }));
    // A caller gives up after a second. The persisted object must be returned before that.
    const asked = withObjectTimeout(later.store, later.clock).get(web, 'Secret', 'app', {
      signal: new AbortController().signal,
    });
    await later.clock.advance(999);
    expect((await asked).data.get('key')).toEqual(Buffer.from('hidden'));
    expect(await later.read(other, 'Secret', 'app')).toContain('failed to sync secret cache');
  } finally {
    await rm(cacheDirectory, { recursive: true, force: true });
  }
});

/** Retries the check, because files are written asynchronously. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    const failure = await check().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  await check();
}

test.each(['EMFILE', 'EIO', 'EACCES', 'Unknown system error -117'])(
  'an object that cannot be read because of %s is not deleted as unused',
  async (code) => {
    const directory = join(folder, 'objects');
    const { kept } = keptIn(directory);
    kept.put({ object: secret, uids: ['web'] });
    await kept.settled();
    const readFile: FileSystem['readFile'] = async (path) => {
      throw Object.assign(new Error(`${code}: cannot be read, open '${path}'`), { code });
    };
    await keptIn(directory, true, { ...hostFiles, readFile }).kept.retainPods(new Set(['web']));
    expect(await keptIn(directory).kept.read(secret)).toEqual({ object: secret, uids: ['web'] });
    await keptIn(directory).kept.retainPods(new Set());
    expect(await readdir(directory)).toEqual([]);
  },
);
