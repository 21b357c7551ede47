import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { hostCgroupfs } from '../../../host/cgroup/cgroupfs.ts';
import { findHierarchy, type Hierarchy, readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import { limitExistingCgroup } from '../../../host/cgroup/reservedCgroups.ts';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

const MIB = 2 ** 20;
const limits = { cpuShares: 512, memoryBytes: 64 * MIB, pids: 500 };
const systemdCalls: string[] = [];
const host = {
  cgroupfs: hostCgroupfs,
  cgroupDriver: 'cgroupfs',
  systemd: async (method: string, _: string, args: readonly string[]) =>
    void systemdCalls.push(`${method} ${args.join(' ')}`),
} as const;

/** Creates a v2 hierarchy in a plain directory, with cgroups that have these controllers. */
function v2Tree(cgroups: Readonly<Record<string, string>>): readonly Hierarchy[] {
  const root = mkdtempSync(join(tmpdir(), 'statelet-reserved-'));
  cleanUps.push(() => rmSync(root, { recursive: true }));
  for (const [path, controllers] of Object.entries(cgroups)) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, 'cgroup.controllers'), `${controllers}\n`);
  }
  return [{ root, version: 'v2', controllers: ['cpuset', 'cpu', 'io', 'memory', 'pids'] }];
}

const readV2 = (hierarchies: readonly Hierarchy[], file: string) =>
  readFileSync(join(hierarchies[0]?.root ?? '', file), 'utf8');

describe('C25: an existing cgroup of daemons on v2', () => {
  test('gets its weight and limits, and no file of other limits', async () => {
    const hierarchies = v2Tree({ 'daemons/system': 'cpuset cpu memory pids' });
    await limitExistingCgroup('/daemons/system', { ...limits, memoryMinBytes: 32 * MIB }, { ...host, hierarchies });
    expect(readV2(hierarchies, 'daemons/system/cpu.weight')).toBe('20');
    expect(readV2(hierarchies, 'daemons/system/memory.max')).toBe(String(64 * MIB));
    expect(readV2(hierarchies, 'daemons/system/memory.min')).toBe(String(32 * MIB));
    expect(readV2(hierarchies, 'daemons/system/pids.max')).toBe('500');
    expect(() => readV2(hierarchies, 'daemons/system/memory.low')).toThrow('ENOENT');
    expect(() => readV2(hierarchies, 'daemons/system/cpu.max')).toThrow('ENOENT');
  });

  test('is a slice with its properties under systemd, whatever its name is written as', async () => {
    const hierarchies = v2Tree({ 'system.slice/system-own_daemons.slice': 'cpuset cpu memory pids' });
    const slice = 'system.slice/system-own_daemons.slice';
    for (const name of [`/${slice}`, 'system-own_daemons', '/system-own_daemons.slice']) {
      systemdCalls.length = 0;
      await limitExistingCgroup(name, limits, { ...host, hierarchies, cgroupDriver: 'systemd' });
      expect(systemdCalls).toEqual([
        `SetUnitProperties system-own_daemons.slice true 3 CPUWeight t 20 MemoryMax t ${64 * MIB} TasksMax t 500`,
      ]);
    }
    expect(readV2(hierarchies, `${slice}/memory.max`)).toBe(String(64 * MIB));
    await expect(
      limitExistingCgroup('other-own_daemons', limits, { ...host, hierarchies, cgroupDriver: 'systemd' }),
    ).rejects.toThrow('could not read controllers for cgroup ["other" "own-daemons"]: ');
  });

  test('must exist with all controllers that the host has', async () => {
    const hierarchies = v2Tree({ half: 'cpu pids' });
    await expect(limitExistingCgroup('/half', limits, { ...host, hierarchies })).rejects.toThrow(
      'cgroup ["half"] has some missing controllers: cpuset, memory',
    );
    await expect(limitExistingCgroup('/a/b', limits, { ...host, hierarchies })).rejects.toThrow(
      `could not read controllers for cgroup ["a" "b"]: ${hierarchies[0]?.root}/a/b does not exist`,
    );
    expect(() => readV2(hierarchies, 'half/cpu.weight')).toThrow('ENOENT');
  });

  test('is rejected if nothing is reserved for it', async () => {
    const hierarchies = v2Tree({ system: 'cpuset cpu memory pids' });
    await expect(limitExistingCgroup('/system', undefined, { ...host, hierarchies })).rejects.toThrow(
      '["system"] cgroup is not configured properly',
    );
  });
});

const hierarchies = await readHierarchies();
const version = findHierarchy(hierarchies, 'cpu')?.version;
const trees = hierarchies.filter((each) => each.version === version);

describe('C25: an existing cgroup of daemons in the kernel of this host', () => {
  const name = `statelet-reserved-${process.pid}`;
  const createIn = (parents: readonly Hierarchy[]) => {
    for (const { root } of parents) {
      mkdirSync(join(root, name));
      cleanUps.push(() => rmdirSync(join(root, name)));
    }
  };
  const read = (controller: string, file: string) =>
    readFileSync(join(findHierarchy(hierarchies, controller)?.root ?? '', name, file), 'utf8').trim();

  test('gets its weight and limits', async () => {
    createIn(trees);
    await limitExistingCgroup(`/${name}`, limits, { ...host, hierarchies });
    expect(version === 'v1' ? read('cpu', 'cpu.shares') : read('cpu', 'cpu.weight')).toBe(
      version === 'v1' ? '512' : '20',
    );
    expect(read('memory', version === 'v1' ? 'memory.limit_in_bytes' : 'memory.max')).toBe(String(64 * MIB));
    expect(read('pids', 'pids.max')).toBe('500');
  });

  test('must exist in each hierarchy', async () => {
    const memory = findHierarchy(hierarchies, 'memory');
    createIn(trees.filter((each) => each !== memory));
    await expect(limitExistingCgroup(`/${name}`, limits, { ...host, hierarchies })).rejects.toThrow(
      `${memory?.root}/${name}`,
    );
    if (version === 'v1') expect(read('cpu', 'cpu.shares')).toBe('1024');
  });
});
