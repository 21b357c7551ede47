/** Volumes of objects from a cluster, on a real disk and a real tmpfs. */
import { mkdir, readdir, readFile, readlink, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findMountAt, listMountsUnder } from '../../host/files/mountinfo.ts';
import type { Layout } from '../../host/pods/layout.ts';
import type { Volume } from '../../kubernetes/api/schema/volume.ts';
import { hostMounter as mounter } from '../../volume/mount/hostMounter.ts';
import { mount } from '../../volume/mount/mount.ts';
import { findPlugin } from '../../volume/plugins/plugin.ts';
import { volumePlugins } from '../../volume/plugins/plugins.ts';
import { FakeObjects, fakeTokens } from '../fakes/objects.ts';
import { inFolder, podWith, requestOf, signal, withRoot } from './onDisk.ts';

const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64');
const configMap: Volume = { name: 'v', configMap: { name: 'settings', defaultMode: 0o640 } };
const secret: Volume = { name: 'v', secret: { secretName: 'key', defaultMode: 0o400 } };
const sources = [{ configMap: { name: 'settings' } }, { serviceAccountToken: { path: 'token' } }];
const projected: Volume = { name: 'v', projected: { defaultMode: 0o644, sources } };

/** Creates a volume of API objects, for a pod with this spec. */
function over(layout: Layout, volume: Volume, spec: object = {}) {
  const objects = new FakeObjects();
  objects.put('ConfigMap', 'settings', { data: { a: '1' }, binaryData: { bytes: base64(Buffer.from([0, 255])) } });
  objects.put('Secret', 'key', { data: { a: base64('1') } });
  const plugin = findPlugin(volumePlugins, volume);
  const request = { ...requestOf(layout, volume, podWith(spec)), objects, tokens: fakeTokens(5) };
  const at = layout.volumeDir('u1', plugin.name, 'v');
  return {
    objects,
    at,
    mount: () => plugin.mount(request),
    unmount: () => plugin.unmount({ podUid: 'u1', volumeName: 'v', layout, mounter, signal }),
    read: (file: string) => readFile(join(at, file)),
    names: async () => (await readdir(at)).filter((name) => !name.startsWith('..')).sort(),
    set: () => readlink(join(at, '..data')),
    mode: async (file: string) => (await stat(join(at, file))).mode & 0o7777,
    owners: async (file: string) => {
      const { uid, gid } = await stat(join(at, file));
      return [uid, gid];
    },
  };
}

withRoot('C37: a configMap is on disk and readable by everybody, with its bytes and its mode', async () => {
  await inFolder(async (_folder, layout) => {
    const volume = over(layout, configMap);
    expect(await volume.mount()).toEqual({ kind: 'path', hostPath: volume.at, own: true });
    expect(await findMountAt(volume.at, signal)).toBeUndefined();
    expect([await volume.read('a'), await volume.read('bytes')]).toEqual([Buffer.from('1'), Buffer.from([0, 255])]);
    expect([await volume.mode('.'), await volume.mode('..data'), await volume.mode('a')]).toEqual([
      0o777, 0o755, 0o640,
    ]);
    await volume.unmount();
    await volume.unmount();
    await expect(stat(volume.at)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

for (const [kind, volume] of [
  ['secret', secret],
  ['projected', projected],
] as const) {
  withRoot(`C37: a ${kind} volume is in memory, with the size that its pod may use`, async () => {
    await inFolder(async (_folder, layout) => {
      const { at, mount: mountIt, unmount, mode } = over(layout, volume, { resources: { limits: { memory: '4Mi' } } });
      await mountIt();
      expect(await findMountAt(at, signal)).toMatchObject({ type: 'tmpfs' });
      const { blocks, bsize } = await statfs(at);
      expect(blocks * bsize).toBe(4 << 20);
      expect(await mode('a')).toBe(kind === 'secret' ? 0o400 : 0o644);
      await unmount();
      await unmount();
      expect(await listMountsUnder(layout.podsDir, signal)).toEqual([]);
    });
  });
}

for (const volume of [configMap, secret, projected]) {
  withRoot(
    `C37: an update of ${Object.keys(volume)[1]} writes what has changed, removes deleted keys, and leaves an equal set alone`,
    async () => {
      await inFolder(async (_folder, layout) => {
        const { objects, mount: mountIt, read, names, set } = over(layout, volume);
        await mountIt();
        const first = await set();
        objects.put('ConfigMap', 'settings', {
          data: { a: '1' },
          binaryData: { bytes: base64(Buffer.from([0, 255])) },
        });
        await mountIt();
        expect(await set()).toBe(first);
        objects.put('ConfigMap', 'settings', { data: { b: '2' } });
        objects.put('Secret', 'key', { data: { b: base64('2') } });
        await mountIt();
        expect(await set()).not.toBe(first);
        expect([(await read('b')).toString(), (await names()).filter((name) => name !== 'token')]).toEqual([
          '2',
          ['b'],
        ]);
        objects.remove('ConfigMap', 'settings');
        objects.remove('Secret', 'key');
        await expect(mountIt()).rejects.toMatchObject({ reason: 'FailedMount' });
        expect((await read('b')).toString()).toBe('2');
      });
    },
  );
}

withRoot('C37: a change of binary data is detected', async () => {
  await inFolder(async (_folder, layout) => {
    const { objects, mount: mountIt, read } = over(layout, secret);
    for (const byte of [0xfe, 0xff]) {
      objects.put('Secret', 'key', { data: { a: base64(Buffer.from([byte])) } });
      await mountIt();
      expect(await read('a')).toEqual(Buffer.from([byte]));
    }
  });
});

withRoot('C37: the group of the pod may read its files, and only its user and group may read a token', async () => {
  await inFolder(async (_folder, layout) => {
    const spec = { securityContext: { fsGroup: 4711, runAsUser: 4712 } };
    const volume = over(layout, projected, spec);
    expect(await volume.mount()).toMatchObject({ renewAt: 5 });
    expect([await volume.owners('a'), await volume.mode('a')]).toEqual([[0, 4711], 0o644]);
    expect([await volume.owners('token'), await volume.mode('token')]).toEqual([[4712, 4711], 0o640]);
    expect((await volume.mode('.')) & 0o2770).toBe(0o2770);
  });
  await inFolder(async (_folder, layout) => {
    const volume = over(layout, projected, { securityContext: { runAsUser: 4712 } });
    await volume.mount();
    expect([await volume.owners('token'), await volume.mode('token')]).toEqual([[4712, 0], 0o600]);
    const onDisk = over(layout, configMap, { securityContext: { fsGroup: 4711 } });
    await onDisk.mount();
    await onDisk.mount();
    expect([await onDisk.owners('.'), await onDisk.mode('.'), await onDisk.mode('a')]).toEqual([
      [0, 4711],
      0o2777,
      0o640,
    ]);
  });
});

withRoot(
  'C37: a container with a subPath retains the old content, and the next container gets the new content',
  async () => {
    await inFolder(async (folder, layout) => {
      const { objects, mount: mountIt, at } = over(layout, configMap);
      await mountIt();
      const bind = async (target: string) => {
        await mounter.runTasks([{ kind: 'bind', hostPath: at, subPath: 'a', target, own: true }], signal);
        return () => readFile(target, 'utf8');
      };
      await mkdir(join(folder, 'parts'));
      const before = await bind(join(folder, 'parts', 'before'));
      objects.put('ConfigMap', 'settings', { data: { a: '2' } });
      await mountIt();
      const after = await bind(join(folder, 'parts', 'after'));
      expect([await before(), await after()]).toEqual(['1', '2']);
    });
  },
);

withRoot('C37: a Secret of 1 MiB is written completely, and again only when it changes', async () => {
  await inFolder(async (_folder, layout) => {
    const { objects, mount: mountIt, read, set } = over(layout, secret);
    const large = Buffer.alloc(1 << 20, 'x');
    objects.put('Secret', 'key', { data: { a: base64(large) } });
    await mountIt();
    const first = await set();
    await mountIt();
    expect([(await read('a')).equals(large), await set()]).toEqual([true, first]);
  });
});

withRoot('C37: mount points for nested volumes are created within it', async () => {
  await inFolder(async (_folder, layout) => {
    const volumeMounts = ['/v', '/v/inner'].map((mountPath, at) => ({ name: at === 0 ? 'v' : 'other', mountPath }));
    const { mount: mountIt, names } = over(layout, secret, { containers: [{ name: 'c', image: 'i', volumeMounts }] });
    await mountIt();
    await mountIt();
    expect(await names()).toEqual(['a', 'inner']);
  });
});

withRoot('a configMap that an earlier version placed in memory stays there', async () => {
  await inFolder(async (_folder, layout) => {
    const { mount: mountIt, unmount, at, read } = over(layout, configMap);
    await mkdir(at, { recursive: true });
    await mount({ source: 'tmpfs', target: at, type: 'tmpfs', options: [], signal });
    await mountIt();
    expect([(await read('a')).toString(), (await findMountAt(at, signal))?.type]).toEqual(['1', 'tmpfs']);
    await unmount();
    await expect(stat(at)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('C37: missing objects are reported before anything is mounted', async () => {
  await inFolder(async (_folder, layout) => {
    const { objects, mount: mountIt } = over(layout, secret);
    objects.remove('Secret', 'key');
    await expect(mountIt()).rejects.toMatchObject({ reason: 'FailedMount', message: 'secret "key" not found' });
    expect(await listMountsUnder(layout.podsDir, signal)).toEqual([]);
  });
});
