/** Block devices and the file systems on them. */
import { expect, test } from '@jest/globals';
import { parseDiskStats, parseFileSystems } from '../../../host/usage/disks.ts';

test('parses disks by device number on kernels of any version', () => {
  const text = `   8       1 sda1 10 20 30 40 50 60 70 80 9 100 110 5 0 40 9 6 7
 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11
   8      16 sdb 1 2 3
nothing
`;
  const io = { reads: 1, readsMerged: 2, sectorsRead: 3, readMs: 4, writes: 5, writesMerged: 6, sectorsWritten: 7 };
  const disks = parseDiskStats(text);
  expect([...disks.keys()]).toEqual(['8:1', '259:0']);
  expect(disks.get('8:1')).toMatchObject({ name: 'sda1', io: { reads: 10, writes: 50, inProgress: 9, ioMs: 100 } });
  expect(disks.get('259:0')).toEqual({
    name: 'nvme0n1',
    io: { ...io, writeMs: 8, inProgress: 9, ioMs: 10, weightedMs: 11 },
  });
});

test('parses file systems on disks with their first mount point', () => {
  const text = `24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
25 24 0:22 / /dev/shm rw - tmpfs tmpfs rw
26 24 8:1 /var/lib /data/bind rw shared:1 - ext4 /dev/sda1 rw
27 24 253:0 / /mnt/my\\040disk rw - xfs /dev/mapper/a\\040b rw
28 24 0:55 / /merged rw - overlay overlay rw,lowerdir=/a
`;
  expect(parseFileSystems(text)).toEqual([
    { path: '/', device: '/dev/sda1', deviceNumber: '8:1' },
    { path: '/mnt/my disk', device: '/dev/mapper/a b', deviceNumber: '253:0' },
  ]);
});
