/** Exclusive CPUs and memory on two NUMA nodes, with the systemd driver. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import {
  addPod,
  cgroupFile,
  containerCgroup,
  inVm,
  podSlice,
  podUntil,
  ROOT_DIR,
  reboot,
  removePods,
  run,
  runningPod,
  startNode,
} from './support/host.ts';

beforeAll(async () => {
  await run('systemctl stop statelet');
  await removeStates();
  await startNode({
    cpuManagerPolicy: 'static',
    cpuManagerReconcilePeriod: '1s',
    reservedSystemCPUs: '0',
    topologyManagerPolicy: 'single-numa-node',
    memoryManagerPolicy: 'Static',
    evictionHard: { 'memory.available': '100Mi' },
    reservedMemory: [{ numaNode: 0, limits: { memory: '100Mi' } }],
  });
  await addPod(podManifest('shared', [shell('main', steadily())]));
});
afterAll(async () => {
  await removePods('exclusive', 'shared', 'large');
  // An agent with different policies does not start with the state files that these policies write.
  await run('systemctl stop statelet');
  await removeStates();
});

const removeStates = () => run(`rm -f ${ROOT_DIR}/cpu_manager_state ${ROOT_DIR}/memory_manager_state`);

/** Returns a pod that is Guaranteed because it has limits only, which are also its requests. */
const guaranteed = (name: string, cpu: string, memory: string) =>
  podManifest(name, [shell('main', steadily(), { resources: { limits: { cpu, memory } } })]);

/** Returns the CPUs, memory and quota of the pod with an exclusive CPU, and the CPUs of the other pod. */
async function assignment() {
  const [exclusive, shared] = [await runningPod('exclusive'), await runningPod('shared')];
  const scope = containerCgroup(exclusive);
  return {
    cpus: await cgroupFile(scope, 'cpuset.cpus'),
    memoryNodes: await cgroupFile(scope, 'cpuset.mems'),
    containerQuota: await cgroupFile(scope, 'cpu.max'),
    podQuota: await cgroupFile(podSlice(exclusive), 'cpu.max'),
    sharedCpus: await cgroupFile(containerCgroup(shared), 'cpuset.cpus'),
  };
}

/** CPU 0 is reserved, and CPU 1 is the only one of the second NUMA node. */
const expected = {
  cpus: '1',
  memoryNodes: '1',
  containerQuota: 'max 100000',
  podQuota: 'max 100000',
  sharedCpus: '0',
};

const isAssigned = () =>
  inVm('the other container leaves the exclusive CPU', async () => {
    expect(await assignment()).toEqual(expected);
    return true;
  });

test('the machine has two NUMA nodes with a CPU each', async () => {
  expect(await run('cat /sys/devices/system/node/node0/cpulist /sys/devices/system/node/node1/cpulist')).toBe('0\n1');
});

test('a pod that fits on no NUMA node is refused', async () => {
  await addPod(guaranteed('large', '500m', '1200Mi'));
  await podUntil('is refused', 'large', ({ status }) => status?.phase === 'Failed' && status.reason !== undefined);
  const pod = await podUntil('is refused', 'large', (pod) => pod);
  expect(pod.status).toMatchObject({
    reason: 'TopologyAffinityError',
    message: expect.stringContaining('Resources cannot be allocated with Topology locality'),
  });
  await removePods('large');
});

test('a container has an exclusive CPU without a quota, and memory of the same NUMA node', async () => {
  await addPod(guaranteed('exclusive', '1', '64Mi'));
  await isAssigned();
  expect(await cgroupFile(containerCgroup(await runningPod('exclusive')), 'cpuset.cpus.effective')).toBe('1');
});

test('the cgroups retain CPUs and limits when systemd reloads its units', async () => {
  await run('systemctl daemon-reload');
  expect(await assignment()).toEqual(expected);
  const slice = podSlice(await runningPod('exclusive'));
  expect(await cgroupFile(slice, 'memory.max')).toBe(`${64 * 2 ** 20}`);
});

test('a container retains its exclusive CPU when the agent restarts', async () => {
  const before = await runningPod('exclusive');
  await run('systemctl restart statelet');
  const after = await runningPod('exclusive');
  expect(after.status?.containerStatuses?.[0]?.containerID).toBe(before.status?.containerStatuses?.[0]?.containerID);
  await isAssigned();
});

test('a pod has its exclusive CPU again after a reboot', async () => {
  const before = await runningPod('exclusive');
  const idBefore = before.status?.containerStatuses?.[0]?.containerID;
  await reboot();
  await podUntil('has another container', 'exclusive', ({ status }) => {
    const [container] = status?.containerStatuses ?? [];
    return container?.ready === true && container.containerID !== idBefore;
  });
  await isAssigned();
});
