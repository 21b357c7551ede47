/**
 * A node whose machine has swap. The pods come from an API server, because static pods are critical and may not
 * swap.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import { startCluster, type VmCluster } from './support/cluster.ts';
import { cgroupFile, configureNode, containerCgroup, PROGRAM, run } from './support/host.ts';

const MIB = 2 ** 20;
const PAGE_BYTES = 4_096;
const SWAP_FILE = '/var/tmp/swap';
const SWAP_MIB = 256;

let cluster: VmCluster | undefined;

beforeAll(async () => {
  await run('systemctl stop statelet');
  await run(`dd if=/dev/zero of=${SWAP_FILE} bs=1M count=${SWAP_MIB} status=none && chmod 600 ${SWAP_FILE}
    mkswap -q ${SWAP_FILE} && swapon ${SWAP_FILE}`);
});
afterAll(async () => {
  await cluster?.deletePods('swapping', 'guaranteed');
  await cluster?.end();
  await run(`swapoff ${SWAP_FILE} && rm ${SWAP_FILE}`);
});

/** Returns a value of /proc/meminfo in bytes. */
const memoryInfo = async (name: string): Promise<number> =>
  Number(await run(`sed -n 's/^${name}: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo`)) * 1024;

test('a node does not start while swap is on, unless failSwapOn is false', async () => {
  await configureNode({});
  const output = await run(`${PROGRAM} run --config /etc/kubernetes/kubelet.json 2>&1 || echo "exit code $?"`);
  expect(output).toContain('swap is on, and failSwapOn is true: turn swap off, or set failSwapOn to false');
  expect(output).toMatch(/exit code 1$/);
});

test('C25: a container of a Burstable pod may swap its share, and one of a Guaranteed pod nothing', async () => {
  cluster = await startCluster({ failSwapOn: false, memorySwap: { swapBehavior: 'LimitedSwap' } });
  const requests = { cpu: '10m', memory: '256Mi' };
  const limits = { cpu: '10m', memory: '32Mi' };
  const write = 'dd if=/dev/zero of=/dev/shm/file bs=1M count=24';
  await cluster.createPod(podManifest('swapping', [shell('main', steadily(write), { resources: { requests } })]));
  await cluster.createPod(podManifest('guaranteed', [shell('main', steadily(), { resources: { limits } })]));
  const swapping = await cluster.runningPod('swapping');
  const guaranteed = await cluster.runningPod('guaranteed');
  const share = Math.trunc(((256 * MIB) / (await memoryInfo('MemTotal'))) * (await memoryInfo('SwapTotal')));
  expect(await cgroupFile(containerCgroup(swapping), 'memory.swap.max')).toBe(`${share - (share % PAGE_BYTES)}`);
  expect(await cgroupFile(containerCgroup(guaranteed), 'memory.swap.max')).toBe('0');
  expect(await cluster.node()).toMatchObject({
    status: { nodeInfo: { swap: { capacity: await memoryInfo('SwapTotal') } } },
  });
});

test('C25: the kernel swaps out memory of a container that may swap', async () => {
  const pod = await running('swapping');
  const reclaim = `cd /sys/fs/cgroup/${containerCgroup(pod)}; i=0
    while [ $(cat memory.swap.current) = 0 ] && [ $i -lt 60 ]; do echo 8M > memory.reclaim || sleep 1; i=$((i+1)); done`;
  await run(`${reclaim} 2>/dev/null`);
  expect(Number(await cgroupFile(containerCgroup(pod), 'memory.swap.current'))).toBeGreaterThan(0);
});

test('an emptyDir in memory is never swapped out', async () => {
  const manifest = podManifest(
    'guaranteed',
    [shell('main', steadily(), { volumeMounts: [{ name: 'fast', mountPath: '/fast' }] })],
    { volumes: [{ name: 'fast', emptyDir: { medium: 'Memory' } }] },
  );
  await cluster?.deletePods('guaranteed');
  await cluster?.createPod(manifest);
  const { uid } = (await running('guaranteed')).metadata;
  const mounts = await run(`grep ${uid}/volumes/kubernetes.io~empty-dir/fast /proc/self/mountinfo`);
  expect(mounts).toMatch(/ - tmpfs \S+ \S*\bnoswap\b/);
});

async function running(name: string): Promise<Pod> {
  if (cluster === undefined) throw new Error('the cluster has not started');
  return cluster.runningPod(name);
}
