import { beforeEach, expect, test } from '@jest/globals';
import { type CgroupProcess, CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { fileError } from '../../../host/simulated/fileError.ts';
import { type Gate, openGate } from '../../../host/simulated/gate.ts';
import { simulatedCgroups } from '../../../host/simulated/simulatedCgroups.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { signal } from '../../volume/onDisk.ts';

/** Returns a pod with these limits. */
const pod = (uid: string, cpu = '500m', memory = '64Mi'): Pod =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu, memory } } })] }, { uid });

let processes: Record<string, readonly CgroupProcess[]> = {};
let survives: readonly number[] = [];

beforeEach(() => {
  processes = {};
  survives = [];
});

function kernel(version: 'v1' | 'v2'): CgroupTree {
  return new CgroupTree(version, {
    in: (path) => processes[path] ?? [],
    kill: (pid) => {
      if (survives.includes(pid)) return;
      const left = Object.entries(processes).map(([path, own]) => [path, own.filter((each) => each.pid !== pid)]);
      processes = Object.fromEntries(left);
    },
  });
}

/** Returns the cgroups as a new agent sees them. */
const agentOn = (tree: CgroupTree, gate: Gate = openGate, own: readonly string[] = []) =>
  simulatedCgroups(tree, gate, {
    parentCgroup: { cgroupRoot: '', cgroupDriver: 'cgroupfs' },
    rules: { ...cgroupFacts, podPids: 50 },
    enforcedLimits: { cpuMillis: 2_000, memoryBytes: 1_000_000, pods: 1 },
    listOwnPods: async () => own,
    wait: async () => {},
    onWarning: () => {},
  });

test.each(['v1', 'v2'] as const)('%s: pods have cgroups with limits, which survive the agent', async (version) => {
  const tree = kernel(version);
  const agent = agentOn(tree);
  expect(await agent.setUp()).toEqual({ outcome: 'enforced', warnings: [] });
  await agent.prepare(pod('one'));
  const next = agentOn(tree, openGate, ['one']);
  expect([next.has(pod('one')), next.has(pod('two'))]).toEqual([true, false]);
  const path = 'kubepods/burstable/podone';
  const limits = () => ['memory.max', 'memory.limit_in_bytes', 'pids.max'].map((file) => tree.readFile(path, file));
  const bytes = String(64 * 2 ** 20);
  expect(limits()).toEqual(version === 'v2' ? [bytes, undefined, '50'] : [undefined, bytes, '50']);
  await next.remove(pod('one'), signal);
  expect(tree.paths).toEqual(['kubepods', 'kubepods/burstable', 'kubepods/besteffort']);
});

test('shared cgroups and foreign pod cgroups are unchanged while there is a foreign pod', async () => {
  const tree = kernel('v2');
  tree.add('kubepods/burstable/podforeign');
  processes['kubepods/burstable/podforeign'] = [{ pid: 9, memoryBytes: 1 }];
  const agent = agentOn(tree);
  expect(await agent.setUp()).toMatchObject({ outcome: 'shared', warnings: [expect.stringContaining('podforeign')] });
  await agent.prepare(pod('one'));
  await agent.remove(pod('one'), signal);
  expect(tree.readFile('kubepods', 'memory.max')).toBeUndefined();
  expect(tree.paths).toEqual([
    'kubepods',
    'kubepods/burstable',
    'kubepods/burstable/podforeign',
    'kubepods/besteffort',
  ]);
  expect(processes['kubepods/burstable/podforeign']).toHaveLength(1);
});

test('processes in a cgroup are killed with it, and survivors block its removal', async () => {
  const tree = kernel('v2');
  const agent = agentOn(tree);
  await agent.prepare(pod('one'));
  processes['kubepods/burstable/podone'] = [7, 8].map((pid) => ({ pid, memoryBytes: 1 }));
  survives = [8];
  await expect(agent.kill(pod('one'), signal)).rejects.toMatchObject({
    reason: 'FailedKillPod',
    message: expect.stringContaining('survive SIGKILL: 8 '),
  });
  expect(agent.has(pod('one'))).toBe(true);
  survives = [];
  await agent.remove(pod('one'), signal);
  expect([agent.has(pod('one')), processes['kubepods/burstable/podone']]).toEqual([false, []]);
});

test('a limit below the usage is rejected', async () => {
  const tree = kernel('v1');
  const agent = agentOn(tree);
  await agent.prepare(pod('one'));
  processes['kubepods/burstable/podone'] = [{ pid: 7, memoryBytes: 2 ** 25 }];
  await expect(agent.trim(pod('one', '500m', '16Mi'), 'memory')).rejects.toMatchObject({
    reason: 'FailedCreatePodContainer',
  });
  expect(tree.readFile('kubepods/burstable/podone', 'memory.limit_in_bytes')).toBe(String(2 ** 26));
});

test('each change passes the gate, which may reject it or lose the response', async () => {
  const tree = kernel('v2');
  const calls: string[] = [];
  let lost = 0;
  const gate: Gate = async ({ name, about, writes }, act) => {
    calls.push(`${name} ${about.replace('/sys/fs/cgroup/', '')}${writes ? '' : ' (read)'}`);
    const answer = act();
    if (name !== 'mkdir' || lost > 0) return answer;
    lost += 1;
    throw fileError('EIO', name, about);
  };
  const agent = agentOn(tree, gate);
  await expect(agent.prepare(pod('one'))).rejects.toMatchObject({ message: expect.stringContaining('EIO') });
  expect(calls).toEqual(['mkdir /sys/fs/cgroup']);
  await agent.prepare(pod('one'));
  await agent.remove(pod('one'), signal);
  expect(calls).toContain('write kubepods/burstable/podone/memory.max');
  expect(calls.slice(-2)).toEqual(['rmdir kubepods/burstable/podone', 'write kubepods/burstable/cpu.weight']);
  expect(calls).toContain('readdir kubepods/burstable/podone (read)');
});

/** Returns a gate at which matching calls wait until they are released. */
function holding(held: (about: string) => boolean, fails: (about: string) => boolean = () => false) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const gate: Gate = async ({ name, about }, act) => {
    if (fails(about)) throw fileError('EIO', name, about);
    if (held(about)) await promise;
    return act();
  };
  return { gate, letThrough: resolve };
}

test('a cgroup is not removed while it is still being created', async () => {
  const tree = kernel('v2');
  await agentOn(tree).setUp();
  const { gate, letThrough } = holding(
    (about) => about.endsWith('/podone'),
    (about) => about.endsWith('/burstable/cpu.weight'),
  );
  const agent = agentOn(tree, gate);
  let isSettled = false;
  const prepared = agent.prepare(pod('one')).finally(() => {
    isSettled = true;
  });
  prepared.catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect([isSettled, agent.has(pod('one'))]).toEqual([false, false]);
  letThrough();
  await expect(prepared).rejects.toThrow('EIO');
  expect(agent.has(pod('one'))).toBe(true);
});

test.each([
  ['before', 'kubepods/cgroup.subtree_control'],
  ['while', 'burstable/cgroup.subtree_control'],
])(
  'missing controllers of a pod are not enabled after its removal, which starts %s the retry runs',
  async (_when, file) => {
    const tree = kernel('v2');
    tree.add('kubepods/burstable/podforeign');
    let isHeld = false;
    const { gate, letThrough } = holding((about) => isHeld && about.endsWith(file));
    const agent = agentOn(tree, gate);
    await agent.prepare(pod('one'));
    expect((await agent.setUp()).warnings).toContainEqual(expect.stringContaining('lacks the controllers'));
    tree.removeDirectory('/sys/fs/cgroup/kubepods/burstable/podforeign');
    isHeld = true;
    const settingUp = agent.setUp();
    await new Promise((resolve) => setImmediate(resolve));
    const removed = agent.remove(pod('one'), signal);
    await new Promise((resolve) => setImmediate(resolve));
    letThrough();
    await Promise.all([settingUp, removed]);
    expect(tree.paths).toEqual(['kubepods', 'kubepods/burstable', 'kubepods/besteffort']);
  },
);

test.each(['/kubepods', '/podone', '/burstable/cpu.weight'])(
  'an abandoned cgroup preparation that hangs at %s creates no cgroup after the removal of its pod',
  async (place) => {
    const tree = kernel('v2');
    const { gate, letThrough } = holding((about) => about.endsWith(place));
    const agent = agentOn(tree, gate);
    const prepared = agent.prepare(pod('one'));
    await new Promise((resolve) => setImmediate(resolve));
    const removed = agent.remove(pod('one'), signal);
    await new Promise((resolve) => setImmediate(resolve));
    letThrough();
    await Promise.all([prepared, removed]);
    expect(tree.paths).toEqual(['kubepods', 'kubepods/burstable', 'kubepods/besteffort']);
  },
);

test('if nothing can be changed, pods terminate anyway, and cgroups of the runtime remain', async () => {
  const tree = kernel('v2');
  tree.add('kubepods/burstable');
  tree.isReadOnly = true;
  const agent = agentOn(tree);
  expect(await agent.setUp()).toMatchObject({ outcome: 'forbidden' });
  await agent.prepare(pod('one'));
  await agent.remove(pod('one'), signal);
  tree.add('kubepods/burstable/podtwo');
  await agent.remove(pod('two'), signal);
  expect(tree.paths).toContain('kubepods/burstable/podtwo');
});

test('a cgroup that temporarily cannot be removed is removed later', async () => {
  const tree = kernel('v2');
  const agent = agentOn(tree);
  await agent.prepare(pod('one'));
  tree.isReadOnly = true;
  await expect(agent.remove(pod('one'), signal)).rejects.toThrow('EROFS');
  tree.isReadOnly = false;
  await agent.remove(pod('one'), signal);
  expect(tree.paths).not.toContain('kubepods/burstable/podone');
});

test('limits of a forgotten pod are not retried', async () => {
  const tree = kernel('v2');
  tree.add('kubepods/besteffort/podtheirs');
  const agent = agentOn(tree);
  await agent.prepare(pod('one'));
  await agent.prepare(pod('two'));
  await agent.forget('one');
  for (const uid of ['one', 'two']) tree.drop(`kubepods/burstable/pod${uid}`);
  await agent.setUp();
  expect(tree.paths.filter((path) => path.startsWith('kubepods/burstable/'))).toEqual(['kubepods/burstable/podtwo']);
});
