import { expect, test } from '@jest/globals';
import { parseHierarchies } from '../../../host/cgroup/hierarchies.ts';

const line = (path: string, type: string, options: string) =>
  `31 23 0:28 / ${path} rw,nosuid shared:9 - ${type} cgroup ${options}`;

test('v1 has one hierarchy per controller or group of controllers', () => {
  const text = [
    line('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
    line('/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
    line('/sys/fs/cgroup/systemd', 'cgroup', 'rw,xattr,name=systemd'),
    line('/proc', 'proc', 'rw'),
  ].join('\n');
  expect(parseHierarchies(text)).toEqual([
    { root: '/sys/fs/cgroup/cpu,cpuacct', version: 'v1', controllers: ['cpu', 'cpuacct'] },
    { root: '/sys/fs/cgroup/memory', version: 'v1', controllers: ['memory'] },
    { root: '/sys/fs/cgroup/systemd', version: 'v1', controllers: [] },
  ]);
});

test('v2 and hybrid have one hierarchy without controllers in its options', () => {
  const text = `${line('/sys/fs/cgroup/unified', 'cgroup2', 'rw,nsdelegate')}\n${line('/sys/fs/cgroup/pids', 'cgroup', 'rw,pids')}`;
  expect(parseHierarchies(text).map(({ root, version }) => `${version} ${root}`)).toEqual([
    'v2 /sys/fs/cgroup/unified',
    'v1 /sys/fs/cgroup/pids',
  ]);
});

test('if a hierarchy is mounted twice, the shorter path applies', () => {
  const text = ['/mnt/cgroup/memory', '/cg/memory'].map((path) => line(path, 'cgroup', 'rw,memory')).join('\n');
  expect(parseHierarchies(text).map(({ root }) => root)).toEqual(['/cg/memory']);
});
