import { expect, test } from '@jest/globals';
import { nestedMountPoints } from '../../../volume/mount/nestedMounts.ts';
import { podWith } from '../onDisk.ts';

const mounting = (...mounts: readonly (readonly [name: string, mountPath: string])[]) =>
  podWith({
    containers: [
      { name: 'main', image: 'busybox', volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })) },
    ],
  });

test('C37: the outermost mount points inside a volume are found', () => {
  const pod = mounting(
    ['info', '/dir'],
    ['a', '/dir/nested'],
    ['b', '/dir/nested/other'],
    ['c', '/dir/nested-vol/'],
    ['d', '/dir2'],
    ['e', '/else'],
  );
  expect(nestedMountPoints(pod, 'info')).toEqual(['nested', 'nested-vol']);
  expect(nestedMountPoints(pod, 'a')).toEqual(['other']);
  expect(nestedMountPoints(pod, 'none')).toEqual([]);
});

test('C37: no mount path leads out of the volume', () => {
  expect(nestedMountPoints(mounting(['info', '/dir'], ['a', '/dir/../../etc']), 'info')).toEqual([]);
  expect(nestedMountPoints(mounting(['info', '../dir'], ['a', 'dir/x']), 'info')).toEqual(['x']);
});
