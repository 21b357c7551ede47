import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { findMountAt, listMountsUnder } from '../../../host/files/mountinfo.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import type { EmptyDirVolumeSource } from '../../../kubernetes/api/schema/volume.ts';
import { supportsTmpfsNoswap } from '../../../node/host/tmpfsNoswap.ts';
import { hostMounter as mounter } from '../../../volume/mount/hostMounter.ts';
import { type MountRequest, unmount } from '../../../volume/mount/mount.ts';

import { emptyDirPlugin } from '../../../volume/plugins/emptyDir.ts';
import { inFolder, podWith, requestOf, signal, withRoot } from '../onDisk.ts';

const run = promisify(execFile);

function mount(layout: Layout, emptyDir: EmptyDirVolumeSource, spec: object = {}) {
  return emptyDirPlugin.mount(requestOf(layout, { name: 'cache', emptyDir }, podWith(spec)));
}

const take = (layout: Layout) => emptyDirPlugin.unmount({ podUid: 'u1', volumeName: 'cache', layout, mounter, signal });

describe('on disk', () => {
  test('is a directory that every user may write to', async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, {});
      expect(hostPath).toBe(layout.volumeDir('u1', 'kubernetes.io/empty-dir', 'cache'));
      expect((await stat(hostPath)).mode & 0o7777).toBe(0o777);
    });
  });

  test('mounting again preserves the contents, and unmounting deletes them, idempotently', async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, {});
      await mkdir(path.join(hostPath, 'a', 'b'), { recursive: true });
      await writeFile(path.join(hostPath, 'a', 'b', 'file'), 'kept');
      await mount(layout, {});
      expect(await readFile(path.join(hostPath, 'a', 'b', 'file'), 'utf8')).toBe('kept');
      await take(layout);
      await take(layout);
      await expect(stat(hostPath)).rejects.toMatchObject({ code: 'ENOENT' });
    });
  });

  test('an unknown medium is rejected by its name', async () => {
    await inFolder(async (_folder, layout) => {
      await expect(mount(layout, { medium: 'Paper' })).rejects.toMatchObject({
        reason: 'FailedMount',
        message: 'emptyDir medium "Paper" is not supported on this node',
      });
    });
  });

  test('a mode that containers have changed is preserved by another mount', async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, {});
      for (const mode of [0o700, 0]) {
        await chmod(hostPath, mode);
        await mount(layout, {});
        expect((await stat(hostPath)).mode & 0o7777).toBe(mode);
      }
    });
  });

  test('an incomplete directory gets its mode', async () => {
    await inFolder(async (_folder, layout) => {
      const resources = { limits: { 'hugepages-3Mi': '3Mi' }, requests: { 'hugepages-3Mi': '3Mi' } };
      const containers = [{ name: 'main', image: 'busybox', resources }];
      // No processor has pages of this size, so the directory is created but nothing can be mounted on it.
      await expect(mount(layout, { medium: 'HugePages' }, { containers })).rejects.toThrow();
      const hostPath = layout.volumeDir('u1', 'kubernetes.io/empty-dir', 'cache');
      await stat(hostPath);
      await mount(layout, {});
      expect((await stat(hostPath)).mode & 0o7777).toBe(0o777);
    });
  });
});

describe('as root', () => {
  withRoot('with an fsGroup the group owns it, and new files inherit the group', async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, {}, { securityContext: { fsGroup: 4711 } });
      const found = await stat(hostPath);
      expect(found.gid).toBe(4711);
      expect(found.mode & 0o7777).toBe(0o2777);
      await writeFile(path.join(hostPath, 'file'), '');
      expect((await stat(path.join(hostPath, 'file'))).gid).toBe(4711);
    });
  });

  withRoot('with an fsGroup an incomplete directory gets its group', async () => {
    await inFolder(async (_folder, layout) => {
      const hostPath = layout.volumeDir('u1', 'kubernetes.io/empty-dir', 'cache');
      await mkdir(hostPath, { recursive: true, mode: 0o777 });
      await mount(layout, {}, { securityContext: { fsGroup: 4711 } });
      await chmod(hostPath, 0o700);
      await mount(layout, {}, { securityContext: { fsGroup: 4711 } });
      const { gid, mode } = await stat(hostPath);
      expect([gid, mode & 0o7777]).toEqual([4711, 0o700]);
    });
  });

  withRoot('in memory it is a tmpfs of its size, which is mounted once however often it is requested', async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, { medium: 'Memory', sizeLimit: '1Mi' });
      await writeFile(path.join(hostPath, 'file'), 'kept');
      await mount(layout, { medium: 'Memory', sizeLimit: '1Mi' });
      expect(await listMountsUnder(hostPath, signal)).toEqual([{ path: hostPath, type: 'tmpfs' }]);
      expect(await readFile(path.join(hostPath, 'file'), 'utf8')).toBe('kept');
      expect((await stat(hostPath)).mode & 0o7777).toBe(0o1777);
      const { blocks, bsize } = await statfs(hostPath);
      expect(blocks * bsize).toBe(1024 * 1024);
      await take(layout);
      await take(layout);
      await expect(stat(hostPath)).rejects.toMatchObject({ code: 'ENOENT' });
    });
  });

  withRoot('in memory it is never swapped to disk if the host supports that', async () => {
    await inFolder(async (folder, layout) => {
      if (!(await supportsTmpfsNoswap({ directory: folder }))) return;
      const volume = { name: 'cache', emptyDir: { medium: 'Memory' } };
      const request = { ...requestOf(layout, volume), tmpfsNoswap: true };
      const { hostPath } = await emptyDirPlugin.mount(request);
      const mountinfo = await readFile('/proc/self/mountinfo', 'utf8');
      const line = mountinfo.split('\n').find((each) => each.includes(` ${hostPath} `));
      expect(line).toMatch(/\bnoswap\b/);
      await take(layout);
    });
  });

  withRoot('in memory it is never larger than the memory that the pod may use', async () => {
    await inFolder(async (_folder, layout) => {
      const resources = { limits: { memory: '2Mi' } };
      const containers = [{ name: 'main', image: 'busybox', resources }];
      const { hostPath } = await mount(layout, { medium: 'Memory' }, { containers });
      const { blocks, bsize } = await statfs(hostPath);
      expect(blocks * bsize).toBe(2 * 1024 * 1024);
      await take(layout);
    });
  });

  withRoot("in memory without any limit it has the size of the node's allocatable memory", async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, { medium: 'Memory' });
      const { blocks, bsize } = await statfs(hostPath);
      expect(blocks * bsize).toBe(8 * 1024 ** 3);
      await take(layout);
    });
  });

  withRoot('in huge pages it is a hugetlbfs of the size of page that its pod asks for', async () => {
    await inFolder(async (_folder, layout) => {
      const resources = { limits: { 'hugepages-2Mi': '2Mi' }, requests: { 'hugepages-2Mi': '2Mi' } };
      const containers = [{ name: 'main', image: 'busybox', resources }];
      for (const medium of ['HugePages', 'HugePages-2Mi']) {
        const { hostPath } = await mount(layout, { medium }, { containers });
        await mount(layout, { medium }, { containers });
        expect(await listMountsUnder(hostPath, signal)).toEqual([{ path: hostPath, type: 'hugetlbfs' }]);
        expect((await statfs(hostPath)).bsize).toBe(2 * 1024 * 1024);
        await take(layout);
      }
    });
  });

  const pagesOf = (...sizes: string[]) => {
    const requests = Object.fromEntries(sizes.map((size) => [`hugepages-${size}`, size]));
    return { requests, limits: requests };
  };

  // The pods of Kubernetes' own node tests (`test/e2e_node/hugepages_test.go`).
  test.each<[string, string, string[], string[]]>([
    ['a size that only the pod requests', 'HugePages-2Mi', ['2Mi'], []],
    ['the only size that the pod requests', 'HugePages', ['2Mi'], []],
    ['one of the sizes that only the pod requests', 'HugePages-1Gi', ['2Mi', '1Gi'], []],
    ['a size of the pod whose container requests a different one', 'HugePages-2Mi', ['2Mi'], ['1Gi']],
    ['a size of the container whose pod requests a different one', 'HugePages-1Gi', ['2Mi'], ['1Gi']],
  ])('huge pages of %s are mounted', async (_what, medium, podSizes, containerSizes) => {
    await inFolder(async (_folder, layout) => {
      const containers = [{ name: 'main', image: 'busybox', resources: pagesOf(...containerSizes) }];
      const pod = podWith({ containers, resources: pagesOf(...podSizes) });
      const request = requestOf(layout, { name: 'cache', emptyDir: { medium } }, pod);
      const mounts: unknown[] = [];
      const recorder = {
        ...mounter,
        mount: async ({ type, options }: MountRequest) => void mounts.push({ type, options }),
      };
      await emptyDirPlugin.mount({ ...request, mounter: recorder });
      const size = medium === 'HugePages' ? '2Mi' : medium.slice('HugePages-'.length);
      expect(mounts).toEqual([{ type: 'hugetlbfs', options: [`pagesize=${size}`] }]);
    });
  });

  test('the medium HugePages is rejected if the pod and its container request different sizes', async () => {
    await inFolder(async (_folder, layout) => {
      const containers = [{ name: 'main', image: 'busybox', resources: pagesOf('1Gi') }];
      await expect(
        mount(layout, { medium: 'HugePages' }, { containers, resources: pagesOf('2Mi') }),
      ).rejects.toMatchObject({
        reason: 'FailedMount',
        message: "medium: HugePages can't be used if container requests multiple huge page sizes",
      });
    });
  });

  test.each<[string, string[], string]>([
    ['HugePages', [], 'medium HugePages: hugePages storage requested, but there is no resource request for huge pages'],
    ['HugePages', ['2Mi', '1Gi'], "medium: HugePages can't be used if container requests multiple huge page sizes"],
    [
      'HugePages-1Gi',
      ['2Mi'],
      'medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages',
    ],
  ])('the medium %s with requests of %j is rejected', async (medium, sizes, message) => {
    await inFolder(async (_folder, layout) => {
      const requests = Object.fromEntries(sizes.map((size) => [`hugepages-${size}`, size]));
      const containers = [{ name: 'main', image: 'busybox', resources: { requests } }];
      await expect(mount(layout, { medium }, { containers })).rejects.toMatchObject({ reason: 'FailedMount', message });
    });
  });

  withRoot('mounts of others on it or in it are neither adopted nor deleted', async () => {
    await inFolder(async (folder, layout) => {
      const precious = path.join(folder, 'precious');
      await mkdir(precious);
      await writeFile(path.join(precious, 'file'), 'kept');
      const { hostPath } = await mount(layout, {});
      const inside = path.join(hostPath, 'inside');
      await mkdir(inside);
      await run('mount', ['--bind', precious, inside]);
      await expect(take(layout)).rejects.toMatchObject({
        reason: 'FailedUnmount',
        message: expect.stringContaining(inside),
      });
      await unmount(inside, signal);
      await run('mount', ['--bind', precious, hostPath]);
      await expect(mount(layout, {})).rejects.toThrow(/is already a mount point of type .*/);
      await expect(take(layout)).rejects.toMatchObject({ reason: 'FailedUnmount' });
      await unmount(hostPath, signal);
      await take(layout);
      expect(await readFile(path.join(precious, 'file'), 'utf8')).toBe('kept');
    });
  });

  withRoot('a volume in use cannot be unmounted: the error names the path, and a later attempt succeeds', async () => {
    await inFolder(async (_folder, layout) => {
      const { hostPath } = await mount(layout, { medium: 'Memory', sizeLimit: '1Mi' });
      const user = execFile('sleep', ['60'], { cwd: hostPath });
      await expect(take(layout)).rejects.toMatchObject({ reason: 'FailedUnmount' });
      const ended = new Promise((resolve) => user.once('exit', resolve));
      user.kill('SIGKILL');
      await ended;
      await take(layout);
      expect(await findMountAt(hostPath, signal)).toBeUndefined();
    });
  });

  withRoot('a mount that the caller aborted is not made', async () => {
    await inFolder(async (_folder, layout) => {
      const given = requestOf(layout, { name: 'cache', emptyDir: { medium: 'Memory' } });
      await expect(emptyDirPlugin.mount({ ...given, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
        'gone',
      );
      expect(await listMountsUnder(layout.podsDir, signal)).toEqual([]);
    });
  });
});

test('unmounting succeeds if nothing is mounted', async () => {
  await inFolder(async (folder) => {
    await expect(unmount(folder, signal)).resolves.toBeUndefined();
    await expect(unmount(path.join(folder, 'missing'), signal)).resolves.toBeUndefined();
  });
});
