import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Hierarchy } from '../../../host/cgroup/hierarchies.ts';
import { podCgroups } from '../../../host/cgroup/podCgroups.ts';
import type { Pod } from '../../../pod/api/schema/pod.ts';
import type { CgroupPlace } from '../../../pod/resources/cgroup.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { aContainer, aPod } from '../../pod/fixtures.ts';
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

/** The cgroups of a node whose minutes pass when `pass` is called. */
function node(hierarchies: Hierarchy[], own: readonly string[] = [], place?: CgroupPlace) {
  const shared: (string | undefined)[] = [];
  const troubles: string[] = [];
  const enforced: unknown[] = [];
  const calls: string[] = [];
  const asked: string[][] = [];
  let minute = Promise.withResolvers<void>();
  const cgroups = podCgroups({
    place: place ?? { cgroupRoot: '/own', cgroupDriver: 'cgroupfs' },
    rules: cgroupFacts,
    enforced: { cpuMillis: 2_000, memoryBytes: 1_000_000, pods: 1 },
    hierarchies,
    systemd: async (method, _, [unit]) => void calls.push(`${method} ${unit}`),
    ownPods: async () => {
      asked.push([...own]);
      return own;
    },
    wait: () => minute.promise,
    signal,
    onEnforcement: (failure) => void enforced.push(failure),
    onShared: (message) => void shared.push(message),
    onTrouble: (error) => void troubles.push(String(error)),
  });
  const pass = () => {
    minute.resolve();
    minute = Promise.withResolvers();
  };
  return { cgroups, shared, troubles, enforced, calls, asked, pass };
}

const value = (path: string): string => readFileSync(join(root, path), 'utf8');
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

async function comesTo(look: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !look(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(look()).toBe(true);
}

const theirs = 'own/kubepods/burstable/podtheirs';

describe('the cgroup of all pods while pods of somebody else are in it', () => {
  beforeEach(async () => {
    await put(`cpu/${theirs}/cpu.shares`, '7');
    await put('cpu/own/kubepods/cpu.shares', '7');
    await put('cpu/own/kubepods/burstable/cpu.shares', '7');
    await put('memory/own/kubepods/memory.limit_in_bytes', '7');
  });

  test('it and their class stay as they are, this node’s pods have their limits, and it is told once', async () => {
    const { cgroups, shared, enforced, troubles } = node(v1());
    await cgroups.begin();
    await cgroups.prepare(burstable('one', '500m'));
    await cgroups.prepare(burstable('two', '500m'));
    await cgroups.raise(burstable('two', '1'));
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('7');
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('7');
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('7');
    expect(value('cpu/own/kubepods/burstable/podone/cpu.shares')).toBe('512');
    expect(value('cpu/own/kubepods/burstable/podtwo/cpu.shares')).toBe('1024');
    expect(value('memory/own/kubepods/burstable/podone/memory.limit_in_bytes')).toBe(String(64 * 2 ** 20));
    expect(shared).toEqual([
      expect.stringMatching(
        /^\/own\/kubepods holds the cgroup of a pod \(\/own\/kubepods\/burstable\/podtheirs\).* cgroupRoot /,
      ),
    ]);
    expect([enforced, troubles]).toEqual([[], []]);
  });

  test('a class that was made for this node’s pods alone has their share', async () => {
    await rm(join(root, 'cpu/own/kubepods/burstable'), { recursive: true });
    await put('cpu/own/kubepods/podtheirs/cpu.shares', '7');
    const { cgroups } = node(v1());
    await cgroups.prepare(burstable('one', '500m'));
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('7');
  });

  test('when they are gone all limits are set, also without another pod', async () => {
    const { cgroups, shared, enforced, pass } = node(v1());
    await cgroups.prepare(burstable('one', '500m'));
    await rm(join(root, 'cpu', theirs), { recursive: true });
    pass();
    await comesTo(() => value('cpu/own/kubepods/burstable/cpu.shares') === '512');
    expect(value('cpu/own/kubepods/cpu.shares')).toBe('2048');
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
    expect(shared.slice(1)).toEqual([undefined]);
    expect(enforced).toEqual([undefined]);
  });

  test('when they come later nothing more is written', async () => {
    await rm(join(root, 'cpu', theirs), { recursive: true });
    const { cgroups, shared } = node(v1());
    await cgroups.prepare(burstable('one', '500m'));
    await put(`cpu/${theirs}/cpu.shares`, '7');
    await cgroups.raise(burstable('one', '2'));
    expect(value('cpu/own/kubepods/burstable/cpu.shares')).toBe('512');
    expect(shared).toHaveLength(1);
  });

  test('pods of a former run are not others', async () => {
    const { cgroups, shared } = node(v1(), ['theirs']);
    await cgroups.begin();
    expect(value('memory/own/kubepods/memory.limit_in_bytes')).toBe('1000000');
    expect(shared).toEqual([]);
  });
});

describe('whose the pods of a former run are', () => {
  const uids = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const directory = (uid: string) => `cpu/own/kubepods/burstable/pod${uid}`;
  beforeEach(async () => {
    for (const uid of uids) await put(`${directory(uid)}/cpu.shares`, '7');
  });

  test('is asked once for all of them, however many are prepared', async () => {
    const { cgroups, shared, asked } = node(v1(), uids);
    await cgroups.begin();
    for (const uid of uids) await cgroups.prepare(burstable(uid, '500m'));
    expect(shared).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  test('is asked again of a cgroup that had gone and is back', async () => {
    const own = [...uids];
    const { cgroups, shared } = node(v1(), own);
    await cgroups.prepare(burstable('p0', '500m'));
    own.pop();
    await rm(join(root, directory('p29')), { recursive: true });
    await cgroups.raise(burstable('p0', '1'));
    expect(shared).toEqual([]);
    await put(`${directory('p29')}/cpu.shares`, '7');
    await cgroups.raise(burstable('p0', '2'));
    expect(shared).toEqual([expect.stringContaining('podp29')]);
  });

  test('is forgotten of one that was removed here', async () => {
    const { cgroups, shared } = node(v1(), uids.slice(1));
    await cgroups.prepare(burstable('p0', '500m'));
    // A real one loses its files with its directory.
    for (const each of ['cpu', 'memory'])
      await rm(join(root, each, 'own/kubepods/burstable/podp0'), { recursive: true });
    await cgroups.remove(burstable('p0', '500m'), signal);
    await put(`${directory('p0')}/cpu.shares`, '7');
    await cgroups.raise(burstable('p1', '500m'));
    expect(shared).toEqual([expect.stringContaining('podp0')]);
  });
});

test('systemd: slices that are there stay as they are while a pod of somebody else is in one', async () => {
  const slice = 'cpu/kubepods.slice/kubepods-besteffort.slice';
  await put(`${slice}/kubepods-besteffort-poda_b.slice/cpu.shares`, '7');
  const place = { cgroupRoot: '', cgroupDriver: 'systemd' } as const;
  const others = node(v1(), [], place);
  await others.cgroups.prepare(burstable('one', '500m'));
  expect(others.calls).not.toContainEqual(expect.stringMatching(/ (kubepods|kubepods-besteffort)\.slice$/));
  expect(others.calls).toContainEqual('StartTransientUnit kubepods-burstable-podone.slice');
  expect(existsSync(join(root, slice, 'cpu.weight'))).toBe(false);
  const own = node(v1(), ['a-b', 'one'], place);
  await own.cgroups.begin();
  expect(own.shared).toEqual([]);
});

test('v2: no controller is turned on for pods of somebody else; limits that a pod’s cgroup cannot have are told', async () => {
  const above = ['', 'own/', 'own/kubepods/', 'own/kubepods/burstable/'];
  for (const each of above) await put(`${each}cgroup.subtree_control`, 'cpu');
  await put(`${theirs}/cgroup.controllers`, 'cpu');
  // As the kernel makes it.
  await put('own/kubepods/burstable/podone/cgroup.controllers', 'cpu');
  const { cgroups, troubles, pass } = node(v2());
  await cgroups.prepare(burstable('one', '500m'));
  expect(above.map((each) => value(`${each}cgroup.subtree_control`))).toEqual(above.map(() => 'cpu'));
  expect(troubles).toEqual([
    expect.stringMatching(/\/own\/kubepods\/burstable\/podone lacks controllers that its limits need \(memory\)/),
  ]);
  await rm(join(root, theirs), { recursive: true });
  await put('own/kubepods/burstable/podone/cgroup.controllers', 'cpu memory');
  pass();
  await comesTo(() => existsSync(join(root, 'own/kubepods/burstable/podone/memory.max')));
  await comesTo(() => value('own/kubepods/burstable/podone/memory.max') === String(64 * 2 ** 20));
  for (const each of above) expect(value(`${each}cgroup.subtree_control`)).toContain('+memory');
});
