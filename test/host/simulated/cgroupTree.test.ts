import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Cgroupfs, hostCgroupfs } from '../../../host/cgroup/cgroupfs.ts';
import { findHierarchy, readHierarchies } from '../../../host/cgroup/hierarchies.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { type CgroupProcess, CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { withRoot } from '../../volume/onDisk.ts';

/** Returns a tree with these processes, and the processes that were killed in it. */
function tree(version: 'v1' | 'v2', processes: Readonly<Record<string, readonly CgroupProcess[]>> = {}) {
  const killed: string[] = [];
  const isAlive = ({ pid }: CgroupProcess) => !killed.some((each) => each.startsWith(`${pid} `));
  const made = new CgroupTree(version, {
    in: (path) => processes[path]?.filter(isAlive) ?? [],
    kill: (pid, why) => void killed.push(`${pid} ${why}`),
  });
  return { made, killed, root: made.hierarchies[0]?.root ?? '' };
}

const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
    return 'done';
  } catch (error) {
    return errorCode(error) ?? String(error);
  }
};

const asCgroupfs = (
  made: CgroupTree,
): Pick<Cgroupfs, 'exists' | 'read' | 'mkdir' | 'write' | 'rmdir' | 'children'> => ({
  exists: (path) => made.exists(path),
  read: (file) => made.read(file),
  mkdir: async (directory) => made.makeDirectories(directory),
  write: async (file, text) => made.write(file, text),
  rmdir: async (directory) => made.removeDirectory(directory),
  children: async (directory) => made.children(directory),
});

describe('cgroup v1', () => {
  const own = `statelet-test-${randomUUID()}`;
  /** Returns the outcomes of calls on memory cgroups, one of which contains a process. */
  const refusals = async (
    fs: ReturnType<typeof asCgroupfs>,
    memory: string,
    fill: (directory: string) => Promise<() => Promise<unknown>>,
  ): Promise<readonly unknown[]> => {
    const at = (...path: string[]) => join(memory, own, ...path);
    const limit = at('pod', 'memory.limit_in_bytes');
    const told = [
      await codeOf(() => fs.children(at())),
      await codeOf(() => fs.rmdir(at('pod'))),
      await codeOf(() => fs.write(limit, '1048576')),
      await codeOf(() => fs.mkdir(at('pod', 'inner'))),
      await codeOf(() => fs.mkdir(at('pod', 'inner'))),
      (await fs.children(at())).map((child) => child.replace(memory, '')),
      fs.exists(at('pod')),
      fs.exists(at('none')),
      fs.exists(limit),
      fs.exists(at('pod', 'none')),
      fs.read(limit)?.trim(),
      await codeOf(() => fs.write(limit, 'words')),
      await codeOf(() => fs.write(at('pod', 'memory.none'), '1')),
      await codeOf(() => fs.rmdir(at('pod'))),
      await codeOf(() => fs.rmdir(at('pod', 'inner'))),
    ];
    const empty = await fill(at('pod'));
    const busy = [await codeOf(() => fs.rmdir(at('pod'))), fs.read(at('pod', 'cgroup.procs'))?.split('\n').length];
    const wide = await codeOf(() => fs.write(limit, '67108864'));
    await empty();
    return [...told, ...busy, wide, fs.read(limit)?.trim(), await codeOf(() => fs.rmdir(at('pod')))];
  };

  withRoot('rejects the same operations as the kernel of this host, with the same errors', async () => {
    const host = findHierarchy(await readHierarchies(), 'memory');
    if (host?.version !== 'v1') return;
    const expected = await refusals(hostCgroupfs, host.root, async (directory) => {
      const child = spawn('sleep', ['600']);
      await hostCgroupfs.write(join(directory, 'cgroup.procs'), String(child.pid));
      return async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
    });
    await hostCgroupfs.rmdir(join(host.root, own));
    const processes: Record<string, CgroupProcess[]> = {};
    const { made } = tree('v1', processes);
    const found = await refusals(asCgroupfs(made), findHierarchy(made.hierarchies, 'memory')?.root ?? '', async () => {
      processes[`${own}/pod`] = [{ pid: 7, memoryBytes: 100_000 }];
      return async () => delete processes[`${own}/pod`];
    });
    expect(found).toEqual(expected);
    expect(expected.filter((each) => each === 'EBUSY')).toHaveLength(2);
  });

  test('a memory limit below the usage is rejected, and nothing is killed', () => {
    const { made, killed } = tree('v1', { 'pods/one': [{ pid: 7, memoryBytes: 100 }] });
    made.add('pods/one');
    const file = '/sys/fs/cgroup/memory/pods/memory.limit_in_bytes';
    expect(() => made.write(file, '99')).toThrow('EBUSY');
    made.write(file, '100');
    expect(made.readFile('pods', 'memory.limit_in_bytes')).toBe('100');
    expect(killed).toEqual([]);
  });
});

describe('cgroup v2', () => {
  test('a cgroup has the controllers that its parent enables, and their files', () => {
    const { made, root } = tree('v2');
    made.add('pods/one');
    expect(made.readFile('pods', 'memory.max')).toBeUndefined();
    expect(() => made.write(`${root}/pods/memory.max`, '1')).toThrow('EACCES');
    expect(() => made.write(`${root}/pods/cgroup.subtree_control`, '+memory')).toThrow('ENOENT');
    made.write(`${root}/cgroup.subtree_control`, '+memory +cpu');
    expect(made.read(`${root}/pods/cgroup.controllers`)).toBe('memory cpu');
    expect(made.readFile('pods', 'memory.max')).toBe('max');
    expect(made.readFile('pods', 'pids.max')).toBeUndefined();
    expect(made.readFile('pods/one', 'memory.max')).toBeUndefined();
  });

  test('a cgroup with processes cannot enable controllers', () => {
    const { made, root } = tree('v2', { pods: [{ pid: 7, memoryBytes: 1 }] });
    made.add('pods');
    made.write(`${root}/cgroup.subtree_control`, '+memory');
    expect(() => made.write(`${root}/pods/cgroup.subtree_control`, '+memory')).toThrow('EBUSY');
  });

  test('a memory limit below the usage kills the largest processes until the rest fits', () => {
    const small = { pid: 7, memoryBytes: 10 };
    const { made, killed, root } = tree('v2', { pods: [small], 'pods/one': [{ pid: 8, memoryBytes: 90 }] });
    made.add('pods/one');
    made.write(`${root}/cgroup.subtree_control`, '+memory');
    made.write(`${root}/pods/memory.max`, '100');
    expect(killed).toEqual([]);
    made.write(`${root}/pods/memory.max`, '50');
    expect(killed).toEqual(['8 OOM']);
    expect(made.readFile('pods', 'memory.max')).toBe('50');
  });
});

test('killing affects the cgroup itself, which can then be removed', () => {
  const { made, killed, root } = tree('v2', {
    'pods/one': [{ pid: 7, memoryBytes: 1 }],
    'pods/two': [{ pid: 8, memoryBytes: 1 }],
  });
  made.add('pods/one');
  made.add('pods/two');
  expect(() => made.removeDirectory(`${root}/pods/one`)).toThrow('EBUSY');
  expect(made.kill(`${root}/pods/one`)).toEqual([7]);
  expect(killed).toEqual(['7 SIGKILL']);
  made.removeDirectory(`${root}/pods/one`);
  expect(made.paths).toEqual(['pods', 'pods/two']);
});

test.each(['v1', 'v2'] as const)('other software can remove only empty cgroups of %s', (version) => {
  const { made } = tree(version, { 'pods/one': [{ pid: 7, memoryBytes: 1 }] });
  for (const path of ['pods/one', 'pods/two']) made.add(path);
  for (const path of ['pods', 'pods/one', 'pods/two', 'pods/none']) made.drop(path);
  expect(made.paths).toEqual(['pods', 'pods/one']);
});
