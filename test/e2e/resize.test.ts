import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { findHierarchy } from '../../host/cgroup/hierarchies.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import {
  ACTUATED_CHECKPOINT,
  ALLOCATED_CHECKPOINT,
  parseResourceCheckpoint,
} from '../../kubernetes/resources/resourceCheckpoint.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { apiPod, hearing, shell, steadily } from './support/manifests.ts';
import { containerOf } from './support/node.ts';
import { sourceNode } from './support/sourceNode.ts';

const node = await forAllTests(() => sourceNode(['other']));

const MI = 2 ** 20;

/**
 * A Guaranteed pod with one container, whose cgroup is not below a QoS class. With so little CPU, the shell is slow.
 */
const sized = (name: string, cpu: string, memory: string, more: Partial<Container> = {}): Pod =>
  apiPod(name, [hearing('main', { resources: { limits: { cpu, memory } }, ...more })]);

/** Returns the CPU quota and the memory limit of a cgroup from the kernel. */
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

/** Returns the limits of the pod's cgroup and those of its container's cgroup. */
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

describe('C25: an in-place resize', () => {
  test('increases and decreases the kernel limits of a container and its pod without a restart', async () => {
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

  test('with the policy RestartContainer restarts the container once', async () => {
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

/** Waits until the named containers of a pod have these limits, and until the resize has completed. */
const untilResized = (name: string, limits: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  node.until('is resized', name, (pod) => {
    const { initContainerStatuses = [], containerStatuses = [], conditions = [] } = pod.status ?? {};
    const statuses = [...initContainerStatuses, ...containerStatuses];
    const isDone = !conditions.some(({ type }) => type === 'PodResizeInProgress');
    const haveLimits = Object.entries(limits).every(([container, wanted]) =>
      isJsonEqual(statuses.find((each) => each.name === container)?.resources?.limits, wanted),
    );
    return isDone && haveLimits && pod;
  });

/** Returns the limits of a container's cgroup, for any kind of container. */
function limitsOfContainer(pod: Pod, name: string): string[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const status = [...initContainerStatuses, ...containerStatuses].find((each) => each.name === name);
  return limitsOf(`pod${pod.metadata.uid}/${status?.containerID?.replace(/^.*:\/\//, '')}`);
}

describe('C25: in-place resize of init containers and of whole pods', () => {
  test('a sidecar and its main container exchange memory without a restart', async () => {
    const exchanging = (sidecar: string, main: string): Pod =>
      apiPod('exchanging', [hearing('main', { resources: { limits: { cpu: '100m', memory: main } } })], {
        initContainers: [
          hearing('side', { restartPolicy: 'Always', resources: { limits: { cpu: '100m', memory: sidecar } } }),
        ],
      });
    node.want(exchanging('64Mi', '32Mi'));
    const before = await node.running('exchanging');
    node.want(exchanging('32Mi', '64Mi'));
    const after = await untilResized('exchanging', {
      side: { cpu: '100m', memory: '32Mi' },
      main: { cpu: '100m', memory: '64Mi' },
    });
    expect(['side', 'main'].map((name) => limitsOfContainer(after, name)[1])).toEqual([`${32 * MI}`, `${64 * MI}`]);
    expect(limitsOf(`pod${after.metadata.uid}`)).toEqual(['20000', `${96 * MI}`]);
    expect(containerOf(after)).toMatchObject({ containerID: containerOf(before).containerID, restartCount: 0 });
    expect(after.status?.initContainerStatuses?.[0]?.restartCount).toBe(0);
  });

  test('an init container gets more while it runs', async () => {
    const initialized = (cpu: string): Pod =>
      apiPod('initialized', [hearing('main', { resources: { limits: { cpu: '100m', memory: '32Mi' } } })], {
        initContainers: [hearing('setup', { resources: { limits: { cpu, memory: '32Mi' } } })],
      });
    node.want(initialized('100m'));
    const isInitializing = ({ status }: Pod) => status?.initContainerStatuses?.[0]?.state?.running !== undefined;
    await node.until('initializes', 'initialized', isInitializing);
    node.want(initialized('200m'));
    const after = await untilResized('initialized', { setup: { cpu: '200m', memory: '32Mi' } });
    expect(limitsOfContainer(after, 'setup')[0]).toBe('20000');
    expect(after.status?.initContainerStatuses?.[0]?.restartCount).toBe(0);
  });

  test('a pod with limits of its own gets more and less of them', async () => {
    const whole = (cpu: string, memory: string): Pod =>
      apiPod('whole', [hearing('main')], { resources: { limits: { cpu, memory } } });
    node.want(whole('200m', '64Mi'));
    await node.running('whole');
    for (const [cpu, memory, quota, bytes] of [
      ['300m', '96Mi', '30000', 96 * MI],
      ['100m', '48Mi', '10000', 48 * MI],
    ] as const) {
      node.want(whole(cpu, memory));
      const after = await node.until('is resized', 'whole', (pod) => {
        const isDone = !pod.status?.conditions?.some(({ type }) => type === 'PodResizeInProgress');
        return isDone && isJsonEqual(pod.status?.resources?.limits, { cpu, memory }) && pod;
      });
      expect(bothOf(after)).toEqual([
        [quota, String(bytes)],
        [quota, String(bytes)],
      ]);
      expect(containerOf(after).restartCount).toBe(0);
    }
    const resources = { limits: { cpu: '100m', memory: '48Mi' }, requests: { cpu: '100m', memory: '48Mi' } };
    const [allocated, actuated] = [ALLOCATED_CHECKPOINT, ACTUATED_CHECKPOINT].map((name) =>
      parseResourceCheckpoint(readFileSync(join(node.runtime.directory, 'kubelet', name), 'utf8')).get('uid-whole'),
    );
    expect(allocated).toEqual({ pod: resources, containers: { main: {} } });
    expect(actuated).toEqual({ pod: resources, containers: { main: { limits: resources.limits } } });
  });

  test('a memory limit below the usage is an error, and is applied once less is used', async () => {
    // The shell uses 24 MiB until the file `/free` exists.
    const script =
      'x=$(head -c 24000000 /dev/zero | tr "\\0" x); while [ ! -e /free ]; do sleep 0.2; done; x=; exec sleep 1d';
    const using = (memory: string): Pod =>
      apiPod('using', [shell('main', script, { resources: { limits: { cpu: '1', memory } } })]);
    node.want(using('128Mi'));
    const before = await node.running('using');
    const usage = async () => {
      const id = containerOf(before).containerID?.replace(/^.*:\/\//, '') ?? '';
      const { stats } = await node.runtime.cri.containerStats({ containerId: id }, { signal: noAbort });
      return Number(stats?.memory?.usageBytes?.value ?? 0n);
    };
    await eventually('the container uses memory', async () => (await usage()) > 22 * MI);
    node.want(using('16Mi'));
    const failed = await node.until('fails', 'using', ({ status }) =>
      status?.conditions?.find(({ type, reason }) => type === 'PodResizeInProgress' && reason === 'Error'),
    );
    expect(failed.message).toMatch(
      /^cannot decrease memory limits: \[attempting to set pod memory limit \(16777216\) below current usage \(\d+\), attempting to set container "main" memory limit \(16777216\) below current usage \(\d+\)\]$/,
    );
    expect(bothOf(before)).toEqual([
      ['100000', String(128 * MI)],
      ['100000', String(128 * MI)],
    ]);
    const id = containerOf(before).containerID?.replace(/^.*:\/\//, '') ?? '';
    await node.runtime.cri.execSync({ containerId: id, cmd: ['touch', '/free'], timeout: 10n }, { signal: noAbort });
    const after = await node.until('is resized', 'using', hasResized('1', '16Mi'));
    expect(bothOf(after)[1]).toEqual(['100000', String(16 * MI)]);
    expect(containerOf(after).restartCount).toBe(0);
  });
});

test('C25: pod-level limits apply to the containers together and to each of them', async () => {
  const own = { limits: { cpu: '200m', memory: '48Mi' } };
  node.want(apiPod('own', [shell('main', steadily())], { resources: own }));
  const pod = await node.running('own');
  expect(pod.status?.qosClass).toBe('Guaranteed');
  expect(bothOf(pod)).toEqual([
    ['20000', String(48 * MI)],
    ['20000', String(48 * MI)],
  ]);
});

test('a RuntimeClass selects the handler of a pod, and a pod whose handler is unknown to the runtime waits', async () => {
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
  // Each handler has its state in a directory of its own.
  const [, , two] = pods.map((pod) => containerOf(pod).containerID?.replace('containerd://', '') ?? '');
  const { state } = layoutOf(node.runtime.directory);
  expect(await readdir(join(state, 'other', 'k8s.io'))).toContain(two);
  await node.until('waits', 'three', (pod) => pod.status?.phase === 'Pending');
  await eventually('the runtime refuses it', () =>
    node.errors.some((error) => error.includes('no runtime for "nobody-has-it" is configured')),
  );
  const isExpected = (error: string) => error.includes('nobody-has-it') || error.includes('cannot decrease memory');
  expect(node.errors.filter((error) => !isExpected(error))).toEqual([]);
});
