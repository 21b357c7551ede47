/** Stalls and disk traffic of containers, as the kernel counts them on cgroup v2. */
import { afterAll, beforeAll, test } from '@jest/globals';
import type { ContainerStats, Summary } from '../../stats/node/summary.ts';
import { podManifest, shell, steadily } from '../e2e/support/manifests.ts';
import { addPod, inVm, queryNode, queryText, removePods, runningPod, startNode } from './support/host.ts';

const MIB = 2 ** 20;
const WRITTEN_MIB = 32;

beforeAll(async () => {
  await startNode({ featureGates: { MemoryQoS: true }, memoryThrottlingFactor: 0.5 });
  const busy = shell('main', 'while true; do :; done', { resources: { limits: { cpu: '100m' } } });
  // The container uses memory above memory.high, which is 28 MiB here. The kernel throttles it and cannot reclaim the
  // memory.
  const throttled = shell('main', steadily('dd if=/dev/zero of=/fast/file bs=64k count=480'), {
    resources: { requests: { memory: '16Mi' }, limits: { memory: '40Mi' } },
    volumeMounts: [{ name: 'fast', mountPath: '/fast' }],
  });
  const write = `dd if=/dev/zero of=/data/file bs=1M count=${WRITTEN_MIB} conv=fsync`;
  const writing = shell('main', steadily(write), { volumeMounts: [{ name: 'data', mountPath: '/data' }] });
  await addPod(podManifest('busy', [busy]));
  await addPod(podManifest('throttled', [throttled], { volumes: [{ name: 'fast', emptyDir: { medium: 'Memory' } }] }));
  await addPod(podManifest('writing', [writing], { volumes: [{ name: 'data', emptyDir: {} }] }));
  for (const name of ['busy', 'throttled', 'writing']) await runningPod(name);
});
afterAll(() => removePods('busy', 'throttled', 'writing'));

/** Returns the statistics of a pod's only container. */
async function containerStats(name: string): Promise<ContainerStats | undefined> {
  // The response has this shape, because the node's own code defines it.
  const { pods } = (await queryNode('/stats/summary')) as Summary;
  return pods.find(({ podRef }) => podRef.name === `${name}-vm`)?.containers[0];
}

test.each([
  ['a container at its CPU limit stalls for CPU', 'busy', 'cpu'],
  ['a container above its throttling threshold stalls for memory', 'throttled', 'memory'],
  ['a container that writes to the disk stalls for I/O', 'writing', 'io'],
] as const)('PSI: %s', async (_title, name, resource) => {
  await inVm('the stall is counted', async () => {
    const psi = (await containerStats(name))?.[resource]?.psi;
    return psi !== undefined && psi.some.total > 0;
  });
});

test('PSI: the stalls are also metrics of /metrics/cadvisor', async () => {
  await inVm('the metric is positive', async () => {
    const metrics = await queryText('/metrics/cadvisor');
    return sumOf(metrics, 'container_pressure_cpu_waiting_seconds_total', 'busy') > 0;
  });
});

test('/metrics/cadvisor counts the bytes that a container writes to the disk', async () => {
  await inVm('the bytes are counted', async () => {
    const metrics = await queryText('/metrics/cadvisor');
    return sumOf(metrics, 'container_fs_writes_bytes_total', 'writing') >= WRITTEN_MIB * MIB;
  });
});

/** Returns the sum of a metric over the series of a pod's container. */
function sumOf(metrics: string, metric: string, name: string): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`))
    .filter((line) => line.includes('container="main"') && line.includes(`pod="${name}-vm"`))
    .reduce(
      (sum, line) =>
        sum +
        Number(
          line
            .slice(line.lastIndexOf('}') + 1)
            .trim()
            .split(' ')[0],
        ),
      0,
    );
}
