import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findMountAt, listMountsUnder } from '../../../host/files/mountinfo.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import { hostMounter as mounter } from '../../../volume/mount/hostMounter.ts';
import { findPlugin, type VolumeMount } from '../../../volume/plugins/plugin.ts';
import { volumePlugins } from '../../../volume/plugins/plugins.ts';
import { inFolder, podWith, requestOf, signal, withRoot } from '../onDisk.ts';

const items = [
  { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
  { path: 'secret/name', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o400 },
];
const downward: Volume = { name: 'info', downwardAPI: { defaultMode: 0o604, items } };
const projected: Volume = { name: 'info', projected: { defaultMode: 0o604, sources: [{ downwardAPI: { items } }] } };

function labelled(labels: Record<string, string>, spec: object = {}) {
  const pod = podWith(spec);
  return { ...pod, metadata: { ...pod.metadata, labels } };
}

const plugin = (volume: Volume) => findPlugin(volumePlugins, volume);
const mountedAt = async (request: VolumeMount) => {
  const mounted = await plugin(request.volume).mount(request);
  if (mounted.kind !== 'path') throw new Error('it is not mounted');
  return mounted.hostPath;
};
const take = (layout: Layout, volume: Volume) =>
  plugin(volume).unmount({ podUid: 'u1', volumeName: volume.name, layout, mounter, signal });

for (const [kind, folder, volume] of [
  ['downwardAPI', 'kubernetes.io/downward-api', downward],
  ['projected', 'kubernetes.io/projected', projected],
] as const) {
  withRoot(
    `${kind}: files of the pod are in memory, each with its mode, and changes are written in place`,
    async () => {
      await inFolder(async (_folder, layout) => {
        const hostPath = await mountedAt(requestOf(layout, volume, labelled({ a: '1' })));
        expect(hostPath).toBe(layout.volumeDir('u1', folder, 'info'));
        expect(await findMountAt(hostPath, signal)).toMatchObject({ type: 'tmpfs' });
        expect((await statfs(hostPath)).blocks).toBeGreaterThan(0);
        const read = (file: string) => readFile(join(hostPath, file), 'utf8');
        const mode = async (file: string) => (await stat(join(hostPath, file))).mode & 0o7777;
        expect([await read('labels'), await read('secret/name')]).toEqual(['a="1"', 'web']);
        expect([await mode('labels'), await mode('secret/name')]).toEqual([0o604, 0o400]);
        await plugin(volume).mount(requestOf(layout, volume, labelled({ a: '2' })));
        expect(await read('labels')).toBe('a="2"');
        expect(await listMountsUnder(hostPath, signal)).toHaveLength(1);
        await take(layout, volume);
        await take(layout, volume);
        await expect(stat(hostPath)).rejects.toMatchObject({ code: 'ENOENT' });
      });
    },
  );
}

withRoot('with an fsGroup the group may read the files, including those added later', async () => {
  await inFolder(async (_folder, layout) => {
    const spec = { securityContext: { fsGroup: 4711 } };
    for (const version of ['1', '2']) {
      const hostPath = await mountedAt(requestOf(layout, downward, labelled({ version }, spec)));
      const { gid, mode } = await stat(join(hostPath, 'secret/name'));
      expect([gid, mode & 0o7777]).toEqual([4711, 0o440]);
      expect((await stat(hostPath)).mode & 0o2000).toBe(0o2000);
    }
  });
});

test('a missing API server fails the mount before anything is mounted', async () => {
  await inFolder(async (_folder, layout) => {
    const volume: Volume = { name: 'info', projected: { sources: [{ configMap: { name: 'settings' } }] } };
    await expect(plugin(volume).mount(requestOf(layout, volume))).rejects.toMatchObject({
      reason: 'FailedMount',
      message: 'volume "info": configMap "settings" is not available: this node has no API server',
    });
    expect(await listMountsUnder(layout.podsDir, signal)).toEqual([]);
  });
});

for (const [kind, folder, source] of [
  ['configMap', 'kubernetes.io/configmap', { configMap: { name: 'settings', optional: true } }],
  ['secret', 'kubernetes.io/secret', { secret: { secretName: 'key', optional: true } }],
] as const) {
  withRoot(`${kind}: an optional volume is empty, and is removed again`, async () => {
    await inFolder(async (_folder, layout) => {
      const volume: Volume = { name: 'extra', ...source };
      for (const _again of [1, 2]) {
        const hostPath = await mountedAt(requestOf(layout, volume));
        expect(hostPath).toBe(layout.volumeDir('u1', folder, 'extra'));
        expect((await readdir(hostPath)).filter((name) => !name.startsWith('..'))).toEqual([]);
      }
      await take(layout, volume);
      await take(layout, volume);
      expect(await listMountsUnder(layout.podsDir, signal)).toEqual([]);
      await expect(stat(layout.volumeDir('u1', folder, 'extra'))).rejects.toThrow('ENOENT');
    });
  });
}
