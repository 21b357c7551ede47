import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Hierarchy } from '../../../host/cgroup/hierarchies.ts';
import { PodCgroups } from '../../../host/cgroup/podCgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { CgroupLocation } from '../../../kubernetes/resources/cgroup.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { signal } from '../../volume/onDisk.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-cgroups-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const burstable = (uid: string, cpu: string): Pod =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu, memory: '64Mi' } } })] }, { uid });

const v1 = (): Hierarchy[] =>
  ['cpu', 'memory'].map((each) => ({ root: join(root, each), version: 'v1', controllers: [each] }));
const v2 = (): Hierarchy[] => [{ root, version: 'v2', controllers: ['cpu', 'memory'] }];

/** Creates the cgroups of a node. */
function node(hierarchies: Hierarchy[], own: readonly string[] = [], place?: CgroupLocation) {
  const warnings: string[] = [];
  const calls: string[] = [];
  const asked: string[][] = [];
  const cgroups = new PodCgroups({
    parentCgroup: place ?? { cgroupRoot: '/own', cgroupDriver: 'cgroupfs' },
    rules: cgroupFacts,
    enforcedLimits: { cpuMillis: 2_000, memoryBytes: 1_000_000, pods: 1 },
    hierarchies,
    systemd: async (method, _, [unit]) => void calls.push(`${method} ${unit}`),
    listOwnPods: async () => {
      asked.push([...own]);
      return own;
    },
    wait: async () => {},
    onWarning: (message) => void warnings.push(message),
  });
  return { cgroups, warnings, calls, asked };
}

const shared = (why: string) => ({ outcome: 'shared', warnings: [expect.stringMatching(why)] });
const enforced = { outcome: 'enforced', warnings: [] };

const value = (path: string): string => readFileSync(join(root, path), 'utf8');
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

const theirs = 'own/kubepods/burstable/podtheirs';

describe('the cgroup of all pods while it contains pods of other agents', () => {
  beforeEach(async () => {
    await put(`cpu/${theirs}/cpu.shares`, '7');
    await put('cpu/own/kubepods/cpu.shares', '7');
    await put('cpu/own/kubepods/burstable/cpu.shares', '7');
    await put('memory/own/kubepods/memory.limit_in_bytes', '7');
  });

  test("shared cgroups are unchanged, this node's pods have their limits, and the setup reports the reason", async () => {
    const { cgroups, warnings } = node(v1());
    await cgroups.setUp();
    await cgroups.prepare(burstable('one', '500m'));
    await cgroups.prepare(burstable('two', '500m'));
    await cgroups.raise(burstable('two', '1'), 'cpu');
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('7');
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('7');
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('7');
    expect(value('cpu/own/kubepods/burstable/podone/cpu.shares')).toBe('512');
    expect(value('cpu/own/kubepods/burstable/podtwo/cpu.shares')).toBe('1024');
    expect(value('memory/own/kubepods/burstable/podone/memory.limit_in_bytes')).toBe(String(64 * 2 ** 20));
    const held = '/own/kubepods contains the cgroup of a pod \\(/own/kubepods/burstable/podtheirs\\)';
    const why = `^Failed to update Node Allocatable Limits \\["own" "kubepods"\\]: ${held}.* cgroupRoot `;
    expect(await cgroups.setUp()).toEqual(shared(why));
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('7');
    expect(warnings).toEqual([]);
  });

  test("a QoS class cgroup with only this node's pods has their CPU shares", async () => {
    await rm(join(root, 'cpu/own/kubepods/burstable'), { recursive: true });
    await put('cpu/own/kubepods/podtheirs/cpu.shares', '7');
    const { cgroups } = node(v1());
    await cgroups.prepare(burstable('one', '500m'));
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('7');
  });

  test('after the other pods are gone, all limits are set without further pods', async () => {
    const { cgroups } = node(v1());
    await cgroups.prepare(burstable('one', '500m'));
    await rm(join(root, 'cpu', theirs), { recursive: true });
    expect(await cgroups.setUp()).toEqual(enforced);
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('2048');
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
  });

  test('after other pods appear, shared limits are no longer written', async () => {
    await rm(join(root, 'cpu', theirs), { recursive: true });
    const { cgroups } = node(v1());
    await cgroups.prepare(burstable('one', '500m'));
    await put(`cpu/${theirs}/cpu.shares`, '7');
    await cgroups.raise(burstable('one', '2'), 'cpu');
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    expect(await cgroups.setUp()).toEqual(shared('podtheirs'));
  });

  test('after other pods have come and gone, changed or removed cgroups are set up again', async () => {
    await rm(join(root, 'cpu', theirs), { recursive: true });
    const { cgroups } = node(v1());
    expect(await cgroups.setUp()).toEqual(enforced);
    await put(`cpu/${theirs}/cpu.shares`, '7');
    expect(await cgroups.setUp()).toEqual(shared('podtheirs'));
    await put('memory/own/kubepods/memory.limit_in_bytes', '7');
    await rm(join(root, 'cpu/own/kubepods/besteffort'), { recursive: true });
    await rm(join(root, 'cpu', theirs), { recursive: true });
    expect(await cgroups.setUp()).toEqual(enforced);
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
    expect(value('cpu/own/kubepods/besteffort/cpu.shares')).toBe('2');
  });

  test('pods of an earlier run do not count as foreign', async () => {
    const { cgroups } = node(v1(), ['theirs']);
    expect(await cgroups.setUp()).toEqual(enforced);
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
  });
});

describe("the owner of an earlier run's pods", () => {
  const uids = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const directory = (uid: string) => `cpu/own/kubepods/burstable/pod${uid}`;
  beforeEach(async () => {
    for (const uid of uids) await put(`${directory(uid)}/cpu.shares`, '7');
  });

  test('is determined once for all pods', async () => {
    const { cgroups, asked } = node(v1(), uids);
    await cgroups.setUp();
    for (const uid of uids) await cgroups.prepare(burstable(uid, '500m'));
    expect(await cgroups.setUp()).toEqual(enforced);
    expect(asked).toHaveLength(1);
  });

  test('is determined again for a cgroup that disappeared and reappeared', async () => {
    const own = [...uids];
    const { cgroups } = node(v1(), own);
    await cgroups.prepare(burstable('p0', '500m'));
    own.pop();
    await rm(join(root, directory('p29')), { recursive: true });
    await cgroups.raise(burstable('p0', '1'), 'cpu');
    expect(await cgroups.setUp()).toEqual(enforced);
    await put(`${directory('p29')}/cpu.shares`, '7');
    await cgroups.raise(burstable('p0', '2'), 'cpu');
    expect(await cgroups.setUp()).toEqual(shared('podp29'));
  });

  test('is forgotten for a cgroup that was removed here', async () => {
    const { cgroups } = node(v1(), uids.slice(1));
    await cgroups.prepare(burstable('p0', '500m'));
    // The files of a real cgroup disappear with its directory.
    for (const each of ['cpu', 'memory'])
      await rm(join(root, each, 'own/kubepods/burstable/podp0'), { recursive: true });
    await cgroups.remove(burstable('p0', '500m'), signal);
    await put(`${directory('p0')}/cpu.shares`, '7');
    await cgroups.raise(burstable('p1', '500m'), 'cpu');
    expect(await cgroups.setUp()).toEqual(shared('podp0'));
  });
});

test('systemd: existing slices are unchanged while one contains a pod of another agent', async () => {
  const slice = 'cpu/kubepods.slice/kubepods-besteffort.slice';
  await put(`${slice}/kubepods-besteffort-poda_b.slice/cpu.shares`, '7');
  const place = { cgroupRoot: '', cgroupDriver: 'systemd' } as const;
  const others = node(v1(), [], place);
  await others.cgroups.prepare(burstable('one', '500m'));
  expect(others.calls).not.toContainEqual(expect.stringMatching(/ (kubepods|kubepods-besteffort)\.slice$/));
  expect(others.calls).toContainEqual('StartTransientUnit kubepods-burstable-podone.slice');
  expect(existsSync(join(root, slice, 'cpu.weight'))).toBe(false);
  const own = node(v1(), ['a-b', 'one'], place);
  expect(await own.cgroups.setUp()).toEqual(enforced);
});

test('v2: no controller is enabled for pods of other agents, and limits that cannot be set are reported', async () => {
  const above = ['', 'own/', 'own/kubepods/', 'own/kubepods/burstable/'];
  for (const each of above) await put(`${each}cgroup.subtree_control`, 'cpu');
  await put(`${theirs}/cgroup.controllers`, 'cpu');
  // Create the file as the kernel does.
  await put('own/kubepods/burstable/podone/cgroup.controllers', 'cpu');
  const { cgroups, warnings } = node(v2());
  await cgroups.prepare(burstable('one', '500m'));
  expect(above.map((each) => value(`${each}cgroup.subtree_control`))).toEqual(above.map(() => 'cpu'));
  const lacks = expect.stringMatching(/\/own\/kubepods\/burstable\/podone lacks the controllers memory, /);
  expect(warnings).toEqual([lacks]);
  expect(await cgroups.setUp()).toEqual({ outcome: 'shared', warnings: [expect.stringMatching('podtheirs'), lacks] });
  await rm(join(root, theirs), { recursive: true });
  await put('own/kubepods/burstable/podone/cgroup.controllers', 'cpu memory');
  expect(await cgroups.setUp()).toEqual(enforced);
  expect(value('own/kubepods/burstable/podone/memory.max')).toBe(String(64 * 2 ** 20));
  for (const each of above) expect(value(`${each}cgroup.subtree_control`)).toContain('+memory');
});
