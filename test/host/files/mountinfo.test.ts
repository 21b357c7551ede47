import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findMountAt, listMountsUnder, parseMountInfo, readMountPoints } from '../../../host/files/mountinfo.ts';
import { signal } from '../../volume/onDisk.ts';

test('parses a line with and without optional fields', () => {
  const text = [
    '36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue',
    '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
    'half a line',
    '',
  ].join('\n');
  expect(parseMountInfo(text)).toEqual([
    { path: '/mnt2', type: 'ext3' },
    { path: '/sys/fs/cgroup/unified', type: 'cgroup2' },
  ]);
});

test('decodes all paths that the kernel escapes', () => {
  const escaped = (path: string) =>
    path.replace(/[ \t\n\\#]/g, (found) => `\\${found.charCodeAt(0).toString(8).padStart(3, '0')}`);
  const paths = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\\', '#', '-', '0', '4', 'ü', '/', 'a') });
  fc.assert(
    fc.property(paths, (tail) => {
      const path = `/mnt${tail}`;
      const line = `36 35 98:0 / ${escaped(path)} rw - tmpfs tmpfs rw`;
      expect(parseMountInfo(line)).toEqual([{ path, type: 'tmpfs' }]);
    }),
  );
});

test('lists the mounts of this process, with /proc below /', async () => {
  expect(await readMountPoints(signal)).toContainEqual({ path: '/proc', type: 'proc' });
  expect(await findMountAt('/proc', signal)).toEqual({ path: '/proc', type: 'proc' });
  expect(await listMountsUnder('/', signal)).toContainEqual({ path: '/proc', type: 'proc' });
});

test('nothing is mounted at a path that does not exist', async () => {
  expect(await listMountsUnder('/does/not/exist', signal)).toEqual([]);
  expect(await findMountAt('/does/not/exist', signal)).toBeUndefined();
  expect(await findMountAt('/proc/self', signal)).toBeUndefined();
  expect(await listMountsUnder('/pro', signal)).toEqual([]);
});
