import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { layoutOf } from '../../cri/managed/layout.ts';
import { findHierarchy } from '../../host/cgroup/hierarchies.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { apiPod, hearing, shell, steadily } from './support/manifests.ts';
import { containerOf } from './support/node.ts';
import { sourceNode } from './support/sourceNode.ts';

const node = await forAllTests(() => sourceNode(['other']));

const MI = 2 ** 20;

/**
 * A pod of one container whose requests are its limits: a Guaranteed one, whose cgroup lies at the top. With so little
 * CPU a shell takes its time.
 */
const sized = (name: string, cpu: string, memory: string, more: Partial<Container> = {}): Pod =>
  apiPod(name, [hearing('main', { resources: { limits: { cpu, memory } }, ...more })]);

/** The quota and the limit of memory of a cgroup, as the kernel has them. */
function limitsOf(cgroup: string): string[] {
  const read = (controller: string, file: string) => {
    const root = findHierarchy(node.hierarchies, controller)?.root ?? '';
    const path = join(root, node.runtime.containerd.cgroupParent, 'kubepods', cgroup, file);
    return readFileSync(path, 'utf8').trim().split(' ')[0] ?? '';
  };
  return findHierarchy(node.hierarchies, 'cpu')?.version === 'v2'
    ? [read('cpu', 'cpu.max'), read('memory', 'memory.max')]
    : [read('cpu', 'cpu.cfs_quota_us'), read('memory', 'memory.limit_in_bytes')];
}

/** Both cgroups, of the pod and of its container. */
function bothOf(pod: Pod): string[][] {
  const id = containerOf(pod).containerID?.replace(/^.*:\/\//, '') ?? '';
  return [limitsOf(`pod${pod.metadata.uid}`), limitsOf(`pod${pod.metadata.uid}/${id}`)];
}

const hasResized =
  (cpu: string, memory: string) =>
  (pod: Pod): Pod | false => {
    const { resources, allocatedResources, state } = containerOf(pod);
    const isDone = !pod.status?.conditions?.some(({ type }) => type === 'PodResizeInProgress');
    const has = resources?.limits?.cpu === cpu && resources.limits.memory === memory;
    return isDone && has && allocatedResources?.cpu === cpu && state?.running !== undefined && pod;
  };

describe('C25: in-place resize, as the kernel has it', () => {
  test('a container and its pod get more and less without a restart', async () => {
    node.want(sized('growing', '250m', '64Mi'));
    const before = await node.running('growing');
    expect(bothOf(before)).toEqual([
      ['25000', String(64 * MI)],
      ['25000', String(64 * MI)],
    ]);
    for (const [cpu, memory, quota, bytes] of [
      ['500m', '128Mi', '50000', 128 * MI],
      ['100m', '32Mi', '10000', 32 * MI],
    ] as const) {
      node.want(sized('growing', cpu, memory));
      const after = await node.until('is resized', 'growing', hasResized(cpu, memory));
      expect(bothOf(after)).toEqual([
        [quota, String(bytes)],
        [quota, String(bytes)],
      ]);
      expect(containerOf(after)).toMatchObject({ containerID: containerOf(before).containerID, restartCount: 0 });
    }
  });

  test('a resize policy of RestartContainer restarts it once', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
    node.want(sized('again', '100m', '32Mi', { resizePolicy }));
    await node.running('again');
    node.want(sized('again', '100m', '64Mi', { resizePolicy }));
    const after = await node.until('is resized', 'again', hasResized('100m', '64Mi'));
    expect(containerOf(after)).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 0, reason: 'Completed' } },
    });
    expect(bothOf(after)).toEqual([
      ['10000', String(64 * MI)],
      ['10000', String(64 * MI)],
    ]);
  });
});

test("C25: a pod's own limits bound its containers together and each", async () => {
  const own = { limits: { cpu: '200m', memory: '48Mi' } };
  node.want(apiPod('own', [shell('main', steadily())], { resources: own }));
  const pod = await node.running('own');
  expect(pod.status?.qosClass).toBe('Guaranteed');
  expect(bothOf(pod)).toEqual([
    ['20000', String(48 * MI)],
    ['20000', String(48 * MI)],
  ]);
});

test('a RuntimeClass chooses the handler of a pod among those of the runtime; one that it has not keeps its pod waiting', async () => {
  const classed = (name: string, runtimeClassName?: string) =>
    apiPod(name, [shell('main', steadily())], runtimeClassName === undefined ? {} : { runtimeClassName });
  const write = (name: string, handler: string) =>
    writeFile(
      join(node.classes, `${name}.json`),
      JSON.stringify({ kind: 'RuntimeClass', metadata: { name }, handler }),
    );
  await Promise.all([write('plain', 'runc'), write('second', 'other'), write('strange', 'nobody-has-it')]);
  node.want(classed('default'), classed('one', 'plain'), classed('two', 'second'), classed('three', 'strange'));
  const pods = await Promise.all(['default', 'one', 'two'].map(node.running));
  const { items } = await node.runtime.cri.listPodSandbox({ filter: undefined }, { signal: noAbort });
  const handlers = items.map(({ metadata, runtimeHandler }) => [metadata?.name, runtimeHandler]);
  expect(Object.fromEntries(handlers)).toMatchObject({ default: '', one: 'runc', two: 'other' });
  // Each handler keeps what it runs in a place of its own.
  const [, , two] = pods.map((pod) => containerOf(pod).containerID?.replace('containerd://', '') ?? '');
  const { state } = layoutOf(node.runtime.directory);
  expect(await readdir(join(state, 'other', 'k8s.io'))).toContain(two);
  await node.until('waits', 'three', (pod) => pod.status?.phase === 'Pending');
  await eventually('the runtime refuses it', () =>
    node.errors.some((error) => error.includes('no runtime for "nobody-has-it" is configured')),
  );
  expect(node.errors.filter((error) => !error.includes('nobody-has-it'))).toEqual([]);
});
