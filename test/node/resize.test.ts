import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { hierarchyOf } from '../../cgroup/hierarchies.ts';
import { withDefaults } from '../../pod/defaults.ts';
import type { Container } from '../../pod/schema/container.ts';
import type { Pod, PodSpec } from '../../pod/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { shell, steadily } from './support/manifests.ts';
import { allRun, containerOf } from './support/node.ts';
import { type SourceNode, sourceNode } from './support/sourceNode.ts';

jest.setTimeout(120_000);

let node: SourceNode;
beforeAll(async () => {
  node = await sourceNode();
});
afterAll(() => node.end());

const MI = 2 ** 20;

function podOf(name: string, containers: Container[], spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name, namespace: 'default', uid: `uid-${name}` };
  return withDefaults({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } });
}

/** With so little CPU a shell takes its time: the container counts as running once it hears SIGTERM. */
const lifecycle = { postStart: { exec: { command: ['sh', '-c', 'until [ -e /tmp/hears ]; do sleep 0.1; done'] } } };

/** A pod of one container whose requests are its limits: a Guaranteed one, whose cgroup lies at the top. */
function sized(name: string, cpu: string, memory: string, more: Partial<Container> = {}): Pod {
  const script = steadily('mkdir -p /tmp; touch /tmp/hears');
  return podOf(name, [shell('main', script, { lifecycle, resources: { limits: { cpu, memory } }, ...more })]);
}

/** The quota and the limit of memory of a cgroup, as the kernel has them. */
function limitsOf(cgroup: string): string[] {
  const read = (controller: string, file: string) => {
    const root = hierarchyOf(node.hierarchies, controller)?.root ?? '';
    const path = join(root, node.runtime.containerd.cgroupParent, 'kubepods', cgroup, file);
    return readFileSync(path, 'utf8').trim().split(' ')[0] ?? '';
  };
  return hierarchyOf(node.hierarchies, 'cpu')?.version === 'v2'
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
    const before = await node.until('runs', 'growing', (pod) => allRun(pod) && pod);
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
    await node.until('runs', 'again', (pod) => allRun(pod) && pod);
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

test('C25: a pod’s own limits bound its containers together and each', async () => {
  const own = { limits: { cpu: '200m', memory: '48Mi' } };
  node.want(podOf('own', [shell('main', steadily())], { resources: own }));
  const pod = await node.until('runs', 'own', (each) => allRun(each) && each);
  expect(pod.status?.qosClass).toBe('Guaranteed');
  expect(bothOf(pod)).toEqual([
    ['20000', String(48 * MI)],
    ['20000', String(48 * MI)],
  ]);
});

test('a RuntimeClass names the handler of the sandbox; one that the runtime has not keeps its pod waiting', async () => {
  const classed = (name: string, runtimeClassName: string) =>
    podOf(name, [shell('main', steadily())], { runtimeClassName });
  const write = (name: string, handler: string) =>
    writeFile(
      join(node.classes, `${name}.json`),
      JSON.stringify({ kind: 'RuntimeClass', metadata: { name }, handler }),
    );
  await write('plain', 'runc');
  await write('strange', 'nobody-has-it');
  node.want(classed('one', 'plain'), classed('two', 'strange'));
  await node.until('runs', 'one', (pod) => allRun(pod) && pod);
  const filter = { id: '', state: undefined, labelSelector: { 'io.kubernetes.pod.name': 'one' } };
  const { items } = await node.runtime.cri.listPodSandbox({ filter }, { signal: noAbort });
  expect(items.map(({ runtimeHandler }) => runtimeHandler)).toEqual(['runc']);
  await node.until('waits', 'two', (pod) => pod.status?.phase === 'Pending');
  await eventually('the runtime refuses it', () =>
    node.errors.some((error) => error.includes('no runtime for "nobody-has-it" is configured')),
  );
  expect(node.errors.filter((error) => !error.includes('nobody-has-it'))).toEqual([]);
});
