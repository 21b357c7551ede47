/**
 * A node that runs short of memory, disk space and processes. The pods come from an API server, because static pods
 * are critical.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import { startCluster, type VmCluster } from './support/cluster.ts';
import { run } from './support/host.ts';

const MIB = 2 ** 20;

let cluster: VmCluster;

/** Runs a command on the machine that prints a number. */
const amount = async (command: string): Promise<number> => Number(await run(command));

beforeAll(async () => {
  await run('systemctl stop statelet');
  // The machine's working set excludes kernel memory and the inactive page cache.
  const workingSet = await amount(
    "awk '/^(anon|file) / { sum += $2 } /^inactive_file / { sum -= $2 } END { print sum }' /sys/fs/cgroup/memory.stat",
  );
  const memory = (await amount("awk '/^MemTotal:/ { print $2 * 1024 }' /proc/meminfo")) - workingSet;
  const disk = await amount('df --output=avail --block-size=1 /var/lib | tail -n 1');
  const capacity = Math.min(
    ...(await Promise.all(['threads-max', 'pid_max'].map((name) => amount(`sysctl -n kernel.${name}`)))),
  );
  const tasks = await amount("sed 's/.*\\/\\([0-9]*\\) .*/\\1/' /proc/loadavg");
  cluster = await startCluster({
    // The agent does not run yet, and later uses part of the available memory itself.
    evictionHard: {
      'memory.available': `${Math.round((memory - 500 * MIB) / MIB)}Mi`,
      'nodefs.available': `${Math.round((disk - 500 * MIB) / MIB)}Mi`,
      'pid.available': `${capacity - tasks - 200}`,
    },
    evictionPressureTransitionPeriod: '20s',
  });
  const requests = { cpu: '10m', memory: '64Mi' };
  await cluster.createPod(podManifest('modest', [shell('main', steadily(), { resources: { requests } })]));
  await cluster.runningPod('modest');
});
afterAll(async () => {
  await cluster?.deletePods('modest', 'hungry', 'filling', 'limited', 'forking');
  await cluster?.end();
});

const evicted = (name: string): Promise<Pod> =>
  cluster.podUntil('is evicted', name, ({ status }) => status?.phase === 'Failed' && status.reason === 'Evicted');

/** Requests little memory, so that the pod is also admitted under memory pressure. */
const resources = { requests: { memory: '16Mi' } };

/**
 * Returns a script that runs a command and then ignores SIGTERM, so that the container is killed. As with the kubelet,
 * an evicted pod whose containers exit with 0 ends as Succeeded.
 */
const untilKilled = (command: string): string => `${command}; sleep 1000000`;

/** Returns a pod that writes a file of `sizeMib` MiB to an emptyDir and then waits. */
const writingPod = (name: string, sizeMib: number, emptyDir: { medium?: 'Memory'; sizeLimit?: string }) =>
  podManifest(
    name,
    [
      shell('main', untilKilled(`dd if=/dev/zero of=/data/file bs=1M count=${sizeMib}`), {
        resources,
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      }),
    ],
    { volumes: [{ name: 'data', emptyDir }] },
  );

/** The condition by which the cluster recognizes an evicted pod. */
const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };

const containerOf = ({ status }: Pod) => status?.containerStatuses?.map(({ containerID }) => containerID);

test('C28: a pod that exhausts the memory is evicted, and its neighbour continues to run', async () => {
  const neighbour = await cluster.runningPod('modest');
  await cluster.createPod(writingPod('hungry', 600, { medium: 'Memory' }));
  await cluster.conditionBecomes('MemoryPressure', 'True');
  const { status } = await evicted('hungry');
  expect(status?.message).toMatch(
    /^The node was low on resource: memory\. Threshold quantity: \d+Mi, available: \S+\. Container main was using \S+, request is 16Mi, has larger consumption of memory\. $/,
  );
  expect(status?.conditions).toContainEqual(expect.objectContaining(disruption));
  expect(await cluster.eventMessages('EvictionThresholdMet')).toContain('Attempting to reclaim memory');
  await cluster.deletePods('hungry');
  await cluster.conditionBecomes('MemoryPressure', 'False');
  expect(containerOf(await cluster.runningPod('modest'))).toEqual(containerOf(neighbour));
});

test('C28: a pod that exhausts the disk is evicted, and its neighbour continues to run', async () => {
  const neighbour = await cluster.runningPod('modest');
  await cluster.createPod(writingPod('filling', 700, {}));
  await cluster.conditionBecomes('DiskPressure', 'True');
  const { status } = await evicted('filling');
  expect(status?.message).toMatch(/^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+Mi, /);
  expect(status?.conditions).toContainEqual(expect.objectContaining(disruption));
  expect(await cluster.eventMessages('EvictionThresholdMet')).toContain('Attempting to reclaim ephemeral-storage');
  await cluster.deletePods('filling');
  await cluster.conditionBecomes('DiskPressure', 'False');
  expect(containerOf(await cluster.runningPod('modest'))).toEqual(containerOf(neighbour));
});

test('C28: a pod that exhausts the processes is evicted, and its neighbour continues to run', async () => {
  const neighbour = await cluster.runningPod('modest');
  const script = 'i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done';
  await cluster.createPod(podManifest('forking', [shell('main', untilKilled(script), { resources })]));
  await cluster.conditionBecomes('PIDPressure', 'True');
  const { status } = await evicted('forking');
  expect(status?.message).toMatch(/^The node was low on resource: pids\. Threshold quantity: \d+, available: \d+\. $/);
  await cluster.deletePods('forking');
  await cluster.conditionBecomes('PIDPressure', 'False');
  expect(containerOf(await cluster.runningPod('modest'))).toEqual(containerOf(neighbour));
});

test('C28: a pod whose emptyDir exceeds its size limit is evicted', async () => {
  await cluster.createPod(writingPod('limited', 16, { sizeLimit: '8Mi' }));
  const { status } = await evicted('limited');
  expect(status?.message).toBe('Usage of EmptyDir volume "data" exceeds the limit "8Mi". ');
});
