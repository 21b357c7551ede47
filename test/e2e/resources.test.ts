import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { findHierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const hierarchies = await readHierarchies();
const classes = await mkdtemp(join(tmpdir(), 'statelet-classes-'));
afterAll(() => rm(classes, { recursive: true }));
const node = await nodeForAllTests(runNode, { args: ['--runtime-class-path', classes] });

/** Returns the path of a file in a cgroup below the node's root cgroup, in the hierarchy of the controller. */
function path(controller: string, cgroup: string, file = ''): string {
  const root = findHierarchy(hierarchies, controller)?.root;
  if (root === undefined) throw new Error(`this host has no ${controller} controller`);
  return join(root, node.runtime.containerd.cgroupParent, 'kubepods', cgroup, file);
}

const read = (controller: string, cgroup: string, file: string): string =>
  readFileSync(path(controller, cgroup, file), 'utf8').trim();

/** Returns the limits of a cgroup from the kernel: shares or weight, quota and period, and memory. */
function limitsOf(cgroup: string): string[] {
  return findHierarchy(hierarchies, 'cpu')?.version === 'v2'
    ? [read('cpu', cgroup, 'cpu.weight'), read('cpu', cgroup, 'cpu.max'), read('memory', cgroup, 'memory.max')]
    : [
        read('cpu', cgroup, 'cpu.shares'),
        `${read('cpu', cgroup, 'cpu.cfs_quota_us')} ${read('cpu', cgroup, 'cpu.cfs_period_us')}`,
        read('memory', cgroup, 'memory.limit_in_bytes'),
      ];
}

/** Returns the CPU shares or the weight, depending on the cgroup version of the host. */
const shares = (v1: number, v2: number): string =>
  String(findHierarchy(hierarchies, 'cpu')?.version === 'v2' ? v2 : v1);

describe('C25: the pod cgroups in the kernel', () => {
  test('have the limits of the pod and its QoS class, and disappear with the pod', async () => {
    const half = { requests: { cpu: '100m' }, limits: { cpu: '500m', memory: '64Mi' } };
    const containers = ['one', 'two'].map((name) => shell(name, steadily(), { resources: half }));
    await node.write('limited', podManifest('limited', containers));
    const { uid } = (await node.running('limited')).metadata;
    expect(limitsOf(`burstable/pod${uid}`)).toEqual([shares(204, 8), '100000 100000', String(128 << 20)]);
    expect(limitsOf('burstable')[0]).toBe(shares(204, 8));
    expect(limitsOf('besteffort')[0]).toBe(shares(2, 1));
    // The pod's own cgroup has no processes, because they are in the cgroups of its containers.
    expect(readFileSync(path('memory', `burstable/pod${uid}`, 'cgroup.procs'), 'utf8')).toBe('');
    await node.remove('limited');
    await node.gone('limited');
    expect(['cpu', 'memory'].filter((each) => existsSync(path(each, `burstable/pod${uid}`)))).toEqual([]);
    expect(limitsOf('burstable')[0]).toBe(shares(2, 1));
  });

  test('include the overhead of the RuntimeClass, and a pod with a different overhead is rejected', async () => {
    const overhead = { podFixed: { cpu: '250m', memory: '32Mi' } };
    const heavy = { kind: 'RuntimeClass', metadata: { name: 'heavy' }, handler: 'runc', overhead };
    await writeFile(join(classes, 'heavy.json'), JSON.stringify(heavy));
    const all = { cpu: '250m', memory: '32Mi' };
    const main = shell('main', steadily(), { resources: { requests: all, limits: all } });
    const other = { cpu: '1' };
    await node.write('refused', podManifest('refused', [main], { runtimeClassName: 'heavy', overhead: other }));
    await node.agent.says("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    await node.write('heavy', podManifest('heavy', [main], { runtimeClassName: 'heavy' }));
    const { metadata, spec } = await node.running('heavy');
    expect(spec.overhead).toEqual(overhead.podFixed);
    expect(limitsOf(`pod${metadata.uid}`)).toEqual([shares(512, 20), '50000 100000', String(64 << 20)]);
    expect((await node.pods()).map((pod) => pod.metadata.name)).not.toContain('refused-node');
  });

  test('include the overhead of a RuntimeClass that appears later, for which the pod waits', async () => {
    const write = () =>
      node.write('late', podManifest('late', [shell('main', steadily())], { runtimeClassName: 'late' }));
    await write();
    await node.write('beside', podManifest('beside', [shell('main', steadily())]));
    await node.running('beside');
    expect((await node.pods()).map((pod) => pod.metadata.name)).not.toContain('late-node');
    const late = { kind: 'RuntimeClass', metadata: { name: 'late' }, handler: 'runc' };
    await writeFile(join(classes, 'late.json'), JSON.stringify({ ...late, overhead: { podFixed: { cpu: '10m' } } }));
    // Writing the same text again makes the agent read the file without waiting for its next relist.
    await write();
    expect((await node.running('late')).spec.overhead).toEqual({ cpu: '10m' });
    await Promise.all(['late', 'beside'].map((name) => node.remove(name)));
    await Promise.all(['late', 'beside'].map((name) => node.gone(name)));
  });

  test('limit all pods together to the number of processes that the kernel supports', () => {
    const [most, threads] = ['pid_max', 'threads-max'].map((name) => readFileSync(`/proc/sys/kernel/${name}`, 'utf8'));
    expect(Number(read('pids', '', 'pids.max'))).toBe(Math.min(Number(most), Number(threads)));
  });

  test('are reported by an event of the node once the limits are enforced', async () => {
    await node.write('told', podManifest('told', [shell('main', steadily())]));
    await node.running('told');
    const { out } = await statelet('get', 'events', '--root-dir', node.rootDir);
    expect(out).toMatch(/ Normal +NodeAllocatableEnforced +node\/node +Updated Node Allocatable limit across pods\n/);
  });

  test('are outside the QoS classes for a Guaranteed pod, and have minimal shares for a BestEffort pod', async () => {
    const all = { cpu: '250m', memory: '32Mi' };
    const sure = shell('main', steadily(), { resources: { requests: all, limits: all } });
    await node.write('sure', podManifest('sure', [sure]));
    await node.write('least', podManifest('least', [shell('main', steadily())]));
    const [first, second] = await Promise.all([node.running('sure'), node.running('least')]);
    expect(limitsOf(`pod${first.metadata.uid}`)).toEqual([shares(256, 10), '25000 100000', String(32 << 20)]);
    expect(limitsOf(`besteffort/pod${second.metadata.uid}`)[0]).toBe(shares(2, 1));
  });
});
