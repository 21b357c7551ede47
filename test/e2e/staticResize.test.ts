import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findHierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { hearing, podManifest } from './support/manifests.ts';
import { containerOf, runNode } from './support/node.ts';

const node = await nodeForAllTests(runNode);
const hierarchies = await readHierarchies();

const MI = 2 ** 20;
const UID = '7a1c6f60-0000-4000-8000-000000000001';

/** Returns the manifest of a Guaranteed pod with one container, and with this UID if any. */
const sized = (name: string, cpu: string, memory: string, uid?: string, more: Partial<Container> = {}) =>
  podManifest(name, [hearing('main', { resources: { limits: { cpu, memory } }, ...more })], uid ? { uid } : {});

/** Returns the CPU quota and memory limit of the pod's cgroup and of its container's cgroup from the kernel. */
async function limitsOf(pod: Pod): Promise<string[]> {
  const id = containerOf(pod).containerID?.replace(/^.*:\/\//, '') ?? '';
  const cgroups = [`pod${pod.metadata.uid}`, `pod${pod.metadata.uid}/${id}`];
  const isV2 = findHierarchy(hierarchies, 'cpu')?.version === 'v2';
  const files = isV2
    ? ([
        ['cpu', 'cpu.max'],
        ['memory', 'memory.max'],
      ] as const)
    : ([
        ['cpu', 'cpu.cfs_quota_us'],
        ['memory', 'memory.limit_in_bytes'],
      ] as const);
  const read = async (cgroup: string, [controller, file]: readonly [string, string]) => {
    const root = findHierarchy(hierarchies, controller)?.root ?? '';
    const text = await readFile(join(root, node.runtime.containerd.cgroupParent, 'kubepods', cgroup, file), 'utf8');
    return text.trim().split(' ')[0] ?? '';
  };
  return Promise.all(cgroups.flatMap((cgroup) => files.map((file) => read(cgroup, file))));
}

/** Waits until the status of the pod and of its container shows these resources, both as allocated and as actual. */
const resized = (name: string, cpu: string, memory: string) =>
  node.until(`is resized to ${cpu} and ${memory}`, name, (pod) => {
    const { resources, allocatedResources, state } = containerOf(pod);
    const isUnderWay = pod.status?.conditions?.some(({ type }) => type.startsWith('PodResize'));
    const shown = [
      resources?.limits,
      allocatedResources,
      pod.status?.resources?.limits,
      pod.status?.allocatedResources,
    ];
    const has = shown.every((each) => each?.cpu === cpu && each.memory === memory);
    return !isUnderWay && has && state?.running !== undefined && pod;
  });

test('C24: a static pod with its own UID is resized in place when its manifest is edited', async () => {
  await node.write('web', sized('web', '250m', '64Mi', UID));
  const before = await node.running('web');
  expect(before.metadata.uid).toBe(UID);
  for (const [cpu, memory, quota, bytes] of [
    ['500m', '128Mi', '50000', 128 * MI],
    ['100m', '32Mi', '10000', 32 * MI],
  ] as const) {
    await node.write('web', sized('web', cpu, memory, UID));
    const after = await resized('web', cpu, memory);
    expect(await limitsOf(after)).toEqual([quota, String(bytes), quota, String(bytes)]);
    expect(containerOf(after)).toMatchObject({ containerID: containerOf(before).containerID, restartCount: 0 });
  }
});

test('C24: an edit while no agent is running is applied as a resize as well', async () => {
  const before = await node.running('web');
  node.agent.kill('SIGTERM');
  await node.agent.ended;
  await node.write('web', sized('web', '200m', '48Mi', UID));
  await node.start();
  const after = await resized('web', '200m', '48Mi');
  expect(await limitsOf(after)).toEqual(['20000', String(48 * MI), '20000', String(48 * MI)]);
  expect(containerOf(after)).toMatchObject({ containerID: containerOf(before).containerID, restartCount: 0 });
});

test('C24: a container of a static pod restarts once for a resize if its resize policy requires that', async () => {
  const uid = UID.replace(/1$/, '2');
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
  await node.write('again', sized('again', '100m', '32Mi', uid, { resizePolicy }));
  const before = await node.running('again');
  await node.write('again', sized('again', '100m', '64Mi', uid, { resizePolicy }));
  const after = await resized('again', '100m', '64Mi');
  expect(containerOf(after)).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 0 } } });
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(await limitsOf(after)).toEqual(['10000', String(64 * MI), '10000', String(64 * MI)]);
});

test('C24: without a UID an edited manifest defines a new pod', async () => {
  await node.write('plain', sized('plain', '100m', '32Mi'));
  const before = await node.running('plain');
  await node.write('plain', sized('plain', '200m', '32Mi'));
  const after = await resized('plain', '200m', '32Mi');
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  expect(containerOf(after).containerID).not.toBe(containerOf(before).containerID);
});
