import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { moveAgentToCgroup, parseAgentCgroup } from '../../../host/cgroup/agentCgroup.ts';
import type { Hierarchy } from '../../../host/cgroup/hierarchies.ts';

test.each([
  ['v2', '0::/system.slice/statelet.service\n', 'system.slice/statelet.service'],
  ['the root of v2', '0::/\n', ''],
  ['v1', '5:cpuacct,cpu:/a\n4:memory:/a\n1:name=systemd:/a/b\n0::/c\n', 'a/b'],
  ['v1 without systemd', '5:cpu,cpuacct:/a\n4:memory:/a\n', 'a'],
  ['v1 with a cgroup of its own for each controller', '5:cpu:/a\n4:memory:/b\n0::/\n', undefined],
  ['v1 without memory', '5:cpu:/a\n', undefined],
  ['no cgroups', '', undefined],
])('the cgroup of the agent is read correctly on %s', (_, text, path) => {
  expect(parseAgentCgroup(text)).toBe(path);
});

const directory = await mkdtemp(join(tmpdir(), 'statelet-cgroup-'));
afterAll(() => rm(directory, { recursive: true }));

/** Creates a hierarchy of this version with these controllers, as files in a directory of its own. */
async function hierarchy(
  name: string,
  version: Hierarchy['version'],
  controllers: readonly string[],
): Promise<Hierarchy> {
  const root = join(directory, name);
  await mkdir(root);
  return { root, version, controllers };
}

describe('C43: an agent with kubeletCgroups', () => {
  test('creates the cgroup on v2 with its controllers and moves there', async () => {
    const unified = await hierarchy('v2', 'v2', ['cpu', 'memory', 'pids']);
    await writeFile(join(unified.root, 'cgroup.subtree_control'), 'cpu');
    const place = { hierarchies: [unified], pid: 4711 };
    expect(await moveAgentToCgroup('/system.slice/statelet', place)).toBeUndefined();
    expect(await readFile(join(unified.root, 'system.slice/statelet/cgroup.procs'), 'utf8')).toBe('4711');
    expect(await readFile(join(unified.root, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +pids');
    expect(await moveAgentToCgroup('../other', place)).toBeUndefined();
    expect(await readFile(join(unified.root, 'other/cgroup.procs'), 'utf8')).toBe('4711');
  });

  test('moves in every hierarchy of v1, and has the CPUs of the cgroup above', async () => {
    const cpu = await hierarchy('cpu', 'v1', ['cpu', 'cpuacct']);
    const cpuset = await hierarchy('cpuset', 'v1', ['cpuset']);
    const systemd = await hierarchy('systemd', 'v1', []);
    const unused = await hierarchy('unified', 'v2', []);
    for (const file of ['cpuset.cpus', 'cpuset.mems']) await writeFile(join(cpuset.root, file), '0-1\n');
    await mkdir(join(cpuset.root, 'kubelet'));
    for (const file of ['cpuset.cpus', 'cpuset.mems']) await writeFile(join(cpuset.root, 'kubelet', file), '\n');
    const place = { hierarchies: [cpu, cpuset, systemd, unused], pid: 4711 };
    expect(await moveAgentToCgroup('kubelet', place)).toBeUndefined();
    for (const { root } of [cpu, cpuset, systemd])
      expect(await readFile(join(root, 'kubelet/cgroup.procs'), 'utf8')).toBe('4711');
    expect(await readFile(join(cpuset.root, 'kubelet/cpuset.mems'), 'utf8')).toBe('0-1');
    await expect(readFile(join(unused.root, 'kubelet/cgroup.procs'))).rejects.toThrow('ENOENT');
  });

  test('stays where it is if it may not move, and reports why', async () => {
    const blocked = await hierarchy('blocked', 'v2', ['cpu']);
    await writeFile(join(blocked.root, 'kubelet'), '');
    expect(await moveAgentToCgroup('/kubelet/own', { hierarchies: [blocked], pid: 4711 })).toMatch(
      /^the agent cannot move to the cgroup \/kubelet\/own, and stays in the one that it was started in: (ENOTDIR|EEXIST)/,
    );
  });
});
