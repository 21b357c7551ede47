import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { hostCgroupfs } from '../../../host/cgroup/cgroupfs.ts';
import type { Hierarchy } from '../../../host/cgroup/hierarchies.ts';
import { PodCgroups, type PodCgroupsParts } from '../../../host/cgroup/podCgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { signal } from '../../volume/onDisk.ts';

let root = '';
let warnings: string[] = [];
let calls: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-cgroups-'));
  warnings = [];
  calls = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

const burstable = (uid: string, cpu: string, memory = '64Mi'): Pod =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu, memory } } })] }, { uid });

const v1 = (): Hierarchy[] =>
  ['cpu', 'memory', 'pids'].map((each) => ({ root: join(root, each), version: 'v1', controllers: [each] }));

const v1WithHugePages = (): Hierarchy[] => [
  ...v1(),
  { root: join(root, 'hugetlb'), version: 'v1', controllers: ['hugetlb'] },
];

/** Returns cgroups in plain directories, in which every written file can be read. */
function cgroups(over: Partial<PodCgroupsParts> = {}): PodCgroups {
  return new PodCgroups({
    parentCgroup: { cgroupRoot: '/own', cgroupDriver: 'cgroupfs' },
    rules: { ...cgroupFacts, podPids: 50 },
    enforcedLimits: { cpuMillis: 2_000, memoryBytes: 1_000_000, pods: 1 },
    hierarchies: v1(),
    systemd: async (method, _, [unit, ...rest]) => void calls.push(`${method} ${unit} ${rest.join(' ')}`),
    listOwnPods: async () => [],
    wait: async () => {},
    onWarning: (message) => void warnings.push(message),
    ...over,
  });
}

const value = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');

describe('C25: the cgroups above containers', () => {
  test('all pods, the QoS classes and the pod have their limits before anything runs', async () => {
    await cgroups().prepare(burstable('one', '500m'));
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('2048');
    expect(value('cpu/own/kubepods/besteffort/cpu.shares')).toBe('2');
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    const pod = 'own/kubepods/burstable/podone';
    expect(value('cpu', pod, 'cpu.shares')).toBe('512');
    expect(value('cpu', pod, 'cpu.cfs_quota_us')).toBe('50000');
    expect(value('memory', pod, 'memory.limit_in_bytes')).toBe(String(64 * 2 ** 20));
    expect(value('pids', pod, 'pids.max')).toBe('50');
    expect(warnings).toEqual([]);
  });

  test('are checked for pods of other agents once per pod', async () => {
    const looked: string[] = [];
    const cgroupfs = {
      ...hostCgroupfs,
      names: (directory: string) => {
        looked.push(directory);
        return hostCgroupfs.names(directory);
      },
    };
    const all = cgroups({ cgroupfs });
    await all.prepare(burstable('one', '500m'));
    looked.length = 0;
    await all.prepare(burstable('two', '500m'));
    expect(looked).toHaveLength(new Set(looked).size);
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('1024');
  });

  describe('the limit of all pods', () => {
    const limit = () => join(root, 'memory/own/kubepods/memory.limit_in_bytes');
    const refuse = async () => {
      await rm(limit());
      // Removing a directory fails, as it does for a cgroup in use.
      await mkdir(limit());
    };

    test('is enforced once the parents are set up, even by an agent that finds them', async () => {
      expect(await cgroups().setUp()).toEqual({ outcome: 'enforced', warnings: [] });
      await writeFile(limit(), '7');
      expect(await cgroups().setUp()).toEqual({ outcome: 'enforced', warnings: [] });
      expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
    });

    test("fails with the kubelet's message each time while the kernel rejects it", async () => {
      await cgroups().setUp();
      await refuse();
      const node = cgroups();
      for (const _ of [1, 2]) {
        await expect(node.setUp()).rejects.toMatchObject({
          reason: 'FailedNodeAllocatableEnforcement',
          message: expect.stringMatching(/^Failed to update Node Allocatable Limits \["own" "kubepods"\]: EISDIR/),
        });
      }
      await rm(limit(), { recursive: true });
      expect(await node.setUp()).toEqual({ outcome: 'enforced', warnings: [] });
      expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
      expect(warnings).toEqual([]);
    });

    test('is named by the root alone if the pods are directly below it', async () => {
      await writeFile(join(root, 'cpu'), 'not a directory');
      await expect(
        cgroups({ parentCgroup: { cgroupRoot: '', cgroupDriver: 'cgroupfs' } }).setUp(),
      ).rejects.toMatchObject({
        message: expect.stringMatching(/ Limits \["kubepods"\]: ./),
      });
    });

    test('does not block pods if the kernel rejects it', async () => {
      await cgroups().setUp();
      await refuse();
      const node = cgroups();
      await expect(node.setUp()).rejects.toThrow();
      await node.prepare(burstable('one', '500m'));
      expect(value('cpu/own/kubepods/burstable/podone/cpu.cfs_quota_us')).toBe('50000');
    });

    test('is written once', async () => {
      const node = cgroups();
      await node.setUp();
      await writeFile(limit(), '7');
      await node.setUp();
      expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('7');
    });
  });

  test('the CPU shares of burstable pods follow the existing pods', async () => {
    const node = cgroups();
    await node.prepare(burstable('one', '500m'));
    await node.prepare(burstable('two', '1'));
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('1536');
    // Unlike a real cgroup, a plain directory keeps its files, so the test removes them.
    for (const each of v1()) await rm(join(each.root, 'own/kubepods/burstable/podone'), { recursive: true });
    await node.remove(burstable('one', '500m'), signal);
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('1024');
  });

  test('the limits of QoS classes that other software has changed are restored by the next check', async () => {
    const all = cgroups({ rules: { ...cgroupFacts, pageSizes: ['2MB'] }, hierarchies: v1WithHugePages() });
    await all.setUp();
    await writeFile(join(root, 'cpu/own/kubepods/burstable/cpu.shares'), '7');
    await all.setUp();
    // The shares may include pods of an earlier run.
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('7');
    await all.prepare(burstable('one', '500m'));
    await writeFile(join(root, 'cpu/own/kubepods/burstable/cpu.shares'), '7');
    await writeFile(join(root, 'cpu/own/kubepods/besteffort/cpu.shares'), '1024');
    await writeFile(join(root, 'hugetlb/own/kubepods/besteffort/hugetlb.2MB.limit_in_bytes'), '0');
    await all.setUp();
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    expect(value('cpu/own/kubepods/besteffort/cpu.shares')).toBe('2');
    expect(value('hugetlb/own/kubepods/besteffort/hugetlb.2MB.limit_in_bytes')).toBe('4611686018427387904');
    expect(value('hugetlb/own/kubepods/hugetlb.2MB.limit_in_bytes')).toBe('4611686018427387904');
  });

  test('a check writes nothing to QoS classes whose limits are in force', async () => {
    const written: string[] = [];
    const cgroupfs = {
      ...hostCgroupfs,
      write: async (file: string, text: string) => {
        written.push(file);
        await hostCgroupfs.write(file, text);
      },
    };
    const rules = { ...cgroupFacts, pageSizes: ['2MB'] };
    const all = cgroups({ cgroupfs, rules, hierarchies: v1WithHugePages() });
    await all.prepare(burstable('one', '500m'));
    await all.setUp();
    // The kernel may show a higher number for a limit that never applies.
    const higher = '9223372036854771712';
    await writeFile(join(root, 'hugetlb/own/kubepods/burstable/hugetlb.2MB.limit_in_bytes'), higher);
    written.length = 0;
    await all.setUp();
    expect(written).toEqual([]);
  });

  test('v2: requested memory is protected in the cgroups of the pod, its class and all pods, and follows the pods', async () => {
    const memoryQos = { throttlingFactor: 0.9, isTiered: true, unreservedBytes: 2 ** 30, pageBytes: 4_096 };
    const hierarchies: Hierarchy[] = [{ root, version: 'v2', controllers: ['cpu', 'memory', 'pids'] }];
    const all = cgroups({ hierarchies, rules: { ...cgroupFacts, memoryQos } });
    const amounts = { cpu: '1', memory: '64Mi' };
    const guaranteed = aContainer({ resources: { requests: amounts, limits: amounts } });
    await all.prepare(aPod({ containers: [guaranteed] }, { uid: 'one' }));
    const requesting = aContainer({ resources: { requests: { memory: '32Mi' } } });
    await all.prepare(aPod({ containers: [requesting] }, { uid: 'two' }));
    expect(value('own/kubepods/podone/memory.min')).toBe(String(64 * 2 ** 20));
    expect(value('own/kubepods/burstable/podtwo/memory.low')).toBe(String(32 * 2 ** 20));
    // Only the cgroups of containers are throttled, not those of pods.
    expect(await readdir(join(root, 'own/kubepods/burstable/podtwo'))).not.toContain('memory.high');
    expect(value('own/kubepods/memory.min')).toBe(String(96 * 2 ** 20));
    expect(value('own/kubepods/burstable/memory.low')).toBe(String(32 * 2 ** 20));
    await writeFile(join(root, 'own/kubepods/memory.min'), '0');
    await all.setUp();
    expect(value('own/kubepods/memory.min')).toBe(String(96 * 2 ** 20));
    await rm(join(root, 'own/kubepods/podone'), { recursive: true });
    await all.forget('one');
    expect(value('own/kubepods/memory.min')).toBe(String(32 * 2 ** 20));
    await rm(join(root, 'own/kubepods/burstable/podtwo'), { recursive: true });
    await all.forget('two');
    expect([value('own/kubepods/memory.min'), value('own/kubepods/burstable/memory.low')]).toEqual(['0', '0']);
  });

  test('limits of an existing cgroup are raised but not lowered', async () => {
    await cgroups().prepare(burstable('one', '500m', '64Mi'));
    await cgroups().prepare(burstable('one', '250m', '128Mi'));
    expect(value('cpu/own/kubepods/burstable/podone/cpu.cfs_quota_us')).toBe('50000');
    expect(value('memory/own/kubepods/burstable/podone/memory.limit_in_bytes')).toBe(String(128 * 2 ** 20));
  });

  test("a pod's cgroup grows before its containers and shrinks after them", async () => {
    const node = cgroups();
    const quota = () => value('cpu/own/kubepods/burstable/podone/cpu.cfs_quota_us');
    await node.prepare(burstable('one', '500m'));
    await node.raise(burstable('one', '1'), 'cpu');
    expect(quota()).toBe('100000');
    await node.raise(burstable('one', '250m'), 'cpu');
    expect(quota()).toBe('100000');
    await node.trim(burstable('one', '250m'), 'cpu');
    expect(quota()).toBe('25000');
  });

  test('v2: controllers are enabled in all parents', async () => {
    const hierarchies: Hierarchy[] = [{ root, version: 'v2', controllers: ['cpu', 'memory', 'io'] }];
    // The kernel creates this file with each cgroup.
    for (const each of ['', 'own', 'own/kubepods', 'own/kubepods/burstable']) {
      await mkdir(join(root, each), { recursive: true });
      await writeFile(join(root, each, 'cgroup.subtree_control'), '');
    }
    await cgroups({ hierarchies }).prepare(burstable('one', '500m'));
    expect(value('cgroup.subtree_control')).toBe('+cpu +memory');
    expect(value('own/kubepods/burstable/cgroup.subtree_control')).toBe('+cpu +memory');
    expect(value('own/kubepods/burstable/podone/cpu.max')).toBe('50000 100000');
    expect(await readdir(join(root, 'own/kubepods/burstable/podone'))).not.toContain('pids.max');
  });

  test('v2: controllers that were disabled by other software are enabled again for the next pod', async () => {
    const hierarchies: Hierarchy[] = [{ root, version: 'v2', controllers: ['cpu', 'memory'] }];
    for (const each of ['', 'own', 'own/kubepods', 'own/kubepods/burstable']) {
      await mkdir(join(root, each), { recursive: true });
      await writeFile(join(root, each, 'cgroup.subtree_control'), '');
    }
    const node = cgroups({ hierarchies });
    await node.setUp();
    expect(value('own/cgroup.subtree_control')).toBe('+cpu +memory');
    await writeFile(join(root, 'own/kubepods/cgroup.subtree_control'), 'cpu memory');
    await mkdir(join(root, 'own/kubepods/burstable/podone'), { recursive: true });
    await writeFile(join(root, 'own/kubepods/burstable/cgroup.subtree_control'), 'cpu');
    await node.prepare(burstable('one', '500m'));
    expect(value('own/kubepods/burstable/cgroup.subtree_control')).toBe('+memory');
    expect(value('own/kubepods/cgroup.subtree_control')).toBe('cpu memory');
  });

  test('systemd: creates slices with the same files in them', async () => {
    const node = cgroups({ parentCgroup: { cgroupRoot: '', cgroupDriver: 'systemd' } });
    await node.prepare(burstable('a-b', '500m'));
    expect(calls.filter((call) => call.startsWith('Start')).map((call) => call.split(' ')[1])).toEqual([
      'kubepods.slice',
      'kubepods-burstable.slice',
      'kubepods-besteffort.slice',
      'kubepods-burstable-poda_b.slice',
    ]);
    expect(calls).toContainEqual('SetUnitProperties kubepods-burstable.slice true 1 CPUShares t 512');
    const path = 'cpu/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice/cpu.shares';
    expect(value(path)).toBe('512');
  });

  test('systemd: a slice gets the limits that are raised, and retains the others until they are trimmed', async () => {
    const node = cgroups({ parentCgroup: { cgroupRoot: '', cgroupDriver: 'systemd' } });
    await node.prepare(burstable('one', '500m'));
    const raise = async (cpu: string) => {
      calls.length = 0;
      await node.raise(burstable('one', cpu), 'cpu');
      return calls.filter((call) => call.includes('-podone.slice'));
    };
    expect(await raise('1')).toEqual([
      'SetUnitProperties kubepods-burstable-podone.slice true 3 CPUShares t 1024 CPUQuotaPerSecUSec t 1000000 CPUQuotaPeriodUSec t 100000',
    ]);
    expect(await raise('250m')).toEqual([]);
  });

  test('concurrent pods wait for the parents, which are created once', async () => {
    const node = cgroups({ parentCgroup: { cgroupRoot: '', cgroupDriver: 'systemd' } });
    const pods = ['one', 'two', 'three', 'four'].map((uid) => burstable(uid, '500m'));
    await Promise.all([node.setUp(), ...pods.map((pod) => node.prepare(pod))]);
    const started = calls.filter((call) => call.startsWith('Start')).map((call) => call.split(' ')[1]);
    expect(started.slice(0, 3)).toEqual(['kubepods.slice', 'kubepods-burstable.slice', 'kubepods-besteffort.slice']);
    expect(started.length).toBe(3 + pods.length);
    expect(value('cpu/kubepods.slice/kubepods-burstable.slice/cpu.shares')).toBe('2048');
    // One call for the first pod, and one for all pods prepared meanwhile.
    expect(calls.filter((call) => call.includes('CPUShares') && call.startsWith('Set')).length).toBeLessThanOrEqual(2);
  });

  test('a new agent does not reduce the shares of pods that it does not know yet', async () => {
    await cgroups().prepare(burstable('one', '1500m'));
    await cgroups({ listOwnPods: async () => ['one'] }).setUp();
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('1536');
  });

  test('after a partial failure, the next attempt sets all limits', async () => {
    const node = cgroups();
    await node.setUp();
    const quota = 'own/kubepods/burstable/podone/cpu.cfs_quota_us';
    await rm(join(root, 'pids/own/kubepods/burstable'), { recursive: true });
    await writeFile(join(root, 'pids/own/kubepods/burstable'), 'in the way');
    await expect(node.prepare(burstable('one', '500m'))).rejects.toMatchObject({ reason: 'FailedCreatePodContainer' });
    await rm(join(root, 'pids/own/kubepods/burstable'));
    // Write the initial value of the kernel, which means unlimited.
    await writeFile(join(root, 'cpu', quota), '-1');
    await node.prepare(burstable('one', '500m'));
    expect(value('cpu', quota)).toBe('50000');
    expect(value('pids/own/kubepods/burstable/podone/pids.max')).toBe('50');
  });

  test('after the host forbids changes, they are not retried, and pods continue', async () => {
    const hierarchies: Hierarchy[] = [{ root: '/proc/statelet', version: 'v1', controllers: ['cpu'] }];
    const forbidden = Object.assign(new Error('read-only'), { code: 'EROFS' });
    const systemd = async () => Promise.reject(forbidden);
    const node = cgroups({ hierarchies, systemd, parentCgroup: { cgroupRoot: '', cgroupDriver: 'systemd' } });
    await node.prepare(burstable('one', '500m'));
    await node.prepare(burstable('two', '500m'));
    await node.trim(burstable('two', '500m'), 'cpu');
    const why = 'pod cgroups are left to the runtime: read-only';
    expect(warnings).toEqual([why]);
    expect(await node.setUp()).toEqual({ outcome: 'forbidden', warnings: [why] });
  });

  test('a limit without a file is skipped, and the others are set', async () => {
    const node = cgroups();
    await node.prepare(burstable('one', '500m'));
    const shares = join(root, 'cpu/own/kubepods/burstable/podone/cpu.shares');
    await rm(shares);
    // Point the file to sysfs, where no file can be created either.
    await symlink('/sys/kernel/statelet-has-no-such-file', shares);
    await node.trim(burstable('one', '250m'), 'cpu');
    expect(value('cpu/own/kubepods/burstable/podone/cpu.cfs_quota_us')).toBe('25000');
    expect(await node.setUp()).toEqual({ outcome: 'enforced', warnings: [] });
    expect(warnings).toEqual([]);
  });

  test('a numeric limit is written synchronously, and a failure is reported as usual', async () => {
    const directory = join(root, 'one/two');
    const made = [hostCgroupfs.mkdir(directory), hostCgroupfs.write(join(directory, 'cpu.shares'), '2')];
    expect(value('one/two/cpu.shares')).toBe('2');
    await Promise.all(made);
    await expect(hostCgroupfs.write(join(root, 'missing/cpu.shares'), '2')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test("other errors fail the pod with the kubelet's message", async () => {
    await writeFile(join(root, 'cpu'), 'not a directory');
    await expect(cgroups().prepare(burstable('one', '500m'))).rejects.toMatchObject({
      reason: 'FailedCreatePodContainer',
      message: expect.stringMatching(/^unable to ensure pod container exists: ./),
    });
    // Nothing may continue in the background after the failure.
    const others = v1().filter((each) => each.root !== join(root, 'cpu'));
    expect(others.filter((each) => !existsSync(join(each.root, 'own/kubepods')))).toEqual([]);
  });
});
