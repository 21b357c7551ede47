/** The cgroups of pods on cgroup v2 with the systemd driver. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { Summary } from '../../stats/node/summary.ts';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import {
  addPod,
  burstableSlice,
  cgroupFile,
  containerScope,
  podUntil,
  queryNode,
  removePods,
  run,
  runningPod,
  startNode,
} from './support/host.ts';

const MIB = 2 ** 20;
const POD_PIDS = 64;

/** Allocates more memory than the container's limit. */
const fillMemory = 'x=$(yes | head -c 200000000); echo $x';

beforeAll(async () => {
  await run('systemctl start daemons.slice');
  await startNode({
    podPidsLimit: POD_PIDS,
    systemReserved: { cpu: '100m', memory: '128Mi' },
    systemReservedCgroup: '/daemons.slice',
    enforceNodeAllocatable: ['pods', 'system-reserved'],
    featureGates: { MemoryQoS: true },
    memoryReservationPolicy: 'TieredReservation',
  });
  const limits = { cpu: '500m', memory: '64Mi' };
  const requests = { cpu: '100m', memory: '32Mi' };
  await addPod(podManifest('limited', [shell('main', steadily(), { resources: { limits, requests } })]));
});
afterAll(() => removePods('limited', 'greedy'));

/** Reads several files of a cgroup, by name. */
const cgroupFiles = async (cgroup: string, ...names: readonly string[]) =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, await cgroupFile(cgroup, name)])));

test('C25: the limits of a pod are in the files of its slice', async () => {
  const pod = await runningPod('limited');
  const files = await cgroupFiles(burstableSlice(pod), 'cpu.max', 'memory.max', 'pids.max', 'cpu.weight');
  expect(files).toEqual({
    'cpu.max': '50000 100000',
    'memory.max': `${64 * MIB}`,
    'pids.max': `${POD_PIDS}`,
    'cpu.weight': '4',
  });
});

test('C25: the limits of a container are in the files of its scope, which is killed as a whole', async () => {
  const pod = await runningPod('limited');
  const scope = `${burstableSlice(pod)}/${containerScope(pod)}`;
  expect(await cgroupFiles(scope, 'cpu.max', 'memory.max', 'memory.oom.group')).toEqual({
    'cpu.max': '50000 100000',
    'memory.max': `${64 * MIB}`,
    'memory.oom.group': '1',
  });
});

test('C25: systemd knows the slices, and the limit of all pods is the allocatable memory', async () => {
  const pod = await runningPod('limited');
  const slice = burstableSlice(pod).split('/').at(-1);
  expect(await run(`systemctl is-active kubepods.slice kubepods-burstable.slice ${slice}`)).toBe(
    'active\nactive\nactive',
  );
  const totalKib = Number(await run("sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo"));
  expect(await cgroupFile('kubepods.slice', 'memory.max')).toBe(`${totalKib * 1024 - 128 * MIB}`);
});

test('C25: the slice of the system daemons has the reserved resources, also for systemd', async () => {
  const slice = 'daemons.slice';
  expect(await cgroupFiles(slice, 'cpu.weight', 'memory.max', 'memory.min')).toEqual({
    'cpu.weight': '4',
    'memory.max': `${128 * MIB}`,
    'memory.min': `${128 * MIB}`,
  });
  expect(await run('systemctl show -p MemoryMax --value daemons.slice')).toBe(`${128 * MIB}`);
});

test('C25: the memory of a Burstable pod is protected and throttled', async () => {
  const pod = await runningPod('limited');
  const slice = burstableSlice(pod);
  const scope = `${slice}/${containerScope(pod)}`;
  const throttledBytes = Math.floor((32 + 0.9 * 32) * (MIB / 4_096)) * 4_096;
  expect(await cgroupFiles(scope, 'memory.low', 'memory.high', 'memory.swap.max')).toEqual({
    'memory.low': `${32 * MIB}`,
    'memory.high': `${throttledBytes}`,
    'memory.swap.max': '0',
  });
  expect(await cgroupFile(slice, 'memory.low')).toBe(`${32 * MIB}`);
  expect(Number(await cgroupFile('kubepods.slice', 'memory.min'))).toBeGreaterThanOrEqual(32 * MIB);
});

test('C25: the kernel parameters and the iptables chains of a kubelet are set', async () => {
  expect(await run('sysctl -n vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops')).toBe(
    '1\n0\n10\n1',
  );
  const chains = await run('iptables -t mangle -S; iptables -S');
  for (const chain of ['-N KUBE-IPTABLES-HINT', '-A INPUT -j KUBE-FIREWALL', '-A OUTPUT -j KUBE-FIREWALL'])
    expect(chains).toContain(chain);
});

test('an OOM kill of a container is reported, and the container restarts', async () => {
  const resources = { limits: { memory: '32Mi' } };
  await addPod(podManifest('greedy', [shell('main', fillMemory, { resources })]));
  // containerd 1.7 misses an OOM kill if systemd removes the scope before its shim has read the event, so any run
  // counts.
  await podUntil('is OOMKilled', 'greedy', ({ status }: Pod) => {
    const { state, lastState } = status?.containerStatuses?.[0] ?? {};
    return [state?.terminated, lastState?.terminated].some(
      (terminated) => terminated?.exitCode === 137 && terminated.reason === 'OOMKilled',
    );
  });
  await podUntil('restarts', 'greedy', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
});

test('/stats/summary has the PSI of the node, the pod and the container', async () => {
  await runningPod('limited');
  // The response has this shape, because the node's own code defines it.
  const { node, pods } = (await queryNode('/stats/summary')) as Summary;
  const data = { total: expect.any(Number), avg10: expect.any(Number) };
  const withPsi = {
    cpu: { psi: { some: data, full: data } },
    memory: { psi: { some: data, full: data } },
    io: { psi: { some: data, full: data } },
  };
  const pod = pods.find(({ podRef }) => podRef.name === 'limited-vm');
  expect(node).toMatchObject(withPsi);
  expect(pod).toMatchObject(withPsi);
  expect(pod?.containers).toMatchObject([withPsi]);
});
