/** Resource usage of a pod with real containers, as reported by the API of its node. */
import { existsSync } from 'node:fs';
import { readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readHierarchies } from '../../host/cgroup/hierarchies.ts';
import type { PodStats, Summary } from '../../stats/node/summary.ts';
import { accountIsThere } from './support/account.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';

/** The agent's own cgroup. Without one, cpu and memory of the agent may have different cgroups on this host. */
const AGENT_CGROUP = `statelet-agent-${process.pid}`;

const cluster = await forAllTests(async () => {
  const started = await testCluster({ config: ['volumeStatsAggPeriod: 1s', `kubeletCgroups: /${AGENT_CGROUP}`] });
  const end = async () => {
    await started.end();
    for (const { root } of await readHierarchies()) {
      const directory = join(root, AGENT_CGROUP);
      if (existsSync(directory)) await rmdir(directory);
    }
  };
  return { ...started, end };
});
const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory });

const MIB = 2 ** 20;
const KEPT = 24;
const WRITTEN = 8;

/** Writes to its volumes and its writable layer, prints a line, allocates memory, and uses one core. */
const busy = `
  dd if=/dev/zero of=/data/file bs=1M count=${WRITTEN}
  mkdir -p /data/deep/er; ln /data/file /data/deep/er/again; ln -s / /data/deep/root
  dd if=/dev/zero of=/memory/kept bs=1M count=${KEPT}
  dd if=/dev/zero of=/layer bs=1M count=2
  echo said
  while true; do :; done`;

const image = 'statelet.local/busybox:1';
const pod = {
  metadata: { name: 'busy' },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
      { name: 'labels', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'host', hostPath: { path: '/tmp' } },
    ],
    containers: [
      {
        name: 'main',
        image,
        command: ['sh', '-c', busy],
        resources: { limits: { memory: '256Mi', cpu: '500m' } },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'memory', mountPath: '/memory' },
        ],
      },
      { name: 'idle', image, command: ['sleep', '1000000'] },
    ],
  },
};

const proxied = async (path: string): Promise<string> => {
  const { out, code, err } = await kubectl.tryRun('get', '--raw', `/api/v1/nodes/node/proxy/${path}`);
  if (code !== 0) throw new Error(err);
  return out;
};

const podIn = ({ pods }: Summary): PodStats | undefined => pods.find(({ podRef }) => podRef.name === 'busy');
const named = <T extends { readonly name: string }>(all: readonly T[] | undefined, name: string): T | undefined =>
  all?.find((each) => each.name === name);

test('C43: the summary contains CPU, memory, volumes, layers, logs and network of a busy pod', async () => {
  const { server, agent } = cluster;
  await accountIsThere(server);
  await server.request('POST', '/api/v1/namespaces/default/pods', pod);
  const { summary, stats } = await eventually('it has written all', async () => {
    agent.mustLive();
    const text = await proxied('stats/summary').catch(() => '{"pods":[]}');
    const whole: Summary = JSON.parse(text);
    const podStats = podIn(whole);
    const layer = named(podStats?.containers, 'main')?.rootfs?.usedBytes ?? 0;
    const logBytes = named(podStats?.containers, 'main')?.logs?.usedBytes ?? 0;
    const used = named(podStats?.containers, 'main')?.cpu?.usageCoreNanoSeconds ?? 0;
    return podStats !== undefined && layer > MIB && logBytes > 0 && used > 1e9
      ? { summary: whole, stats: podStats }
      : undefined;
  });
  const [main, idle] = ['main', 'idle'].map((name) => named(stats.containers, name));
  expect(main?.cpu?.usageNanoCores).toBeGreaterThan(50_000_000);
  expect(main?.memory?.workingSetBytes).toBeGreaterThan(KEPT * MIB);
  expect(main?.memory?.availableBytes).toBeLessThan((256 - KEPT) * MIB);
  for (const each of [idle?.cpu?.usageCoreNanoSeconds, idle?.memory?.workingSetBytes, stats.cpu?.usageNanoCores])
    expect(each).toBeGreaterThan(0);
  expect(idle?.memory).not.toHaveProperty('availableBytes');
  expect(stats.memory?.workingSetBytes).toBeGreaterThan(KEPT * MIB);
  expect(stats.process_stats?.process_count).toBe(2);
  expect(stats.network).toMatchObject({ name: 'eth0', rxBytes: expect.any(Number) });
  expect(stats.volume?.map(({ name }) => name).toSorted()).toEqual(['data', 'labels', 'memory']);
  expect(await proxied('metrics')).toMatch(
    /^kubelet_volume_metric_collection_duration_seconds_count\{metric_source="du"\} [1-9]/m,
  );
  const data = named(stats.volume, 'data');
  expect(data?.usedBytes).toBeGreaterThanOrEqual(WRITTEN * MIB);
  expect(data?.usedBytes).toBeLessThan((WRITTEN + 1) * MIB);
  expect(data?.inodesUsed).toBe(5);
  expect(named(stats.volume, 'memory')?.usedBytes).toBeGreaterThanOrEqual(KEPT * MIB);
  const { usedBytes = 0 } = stats['ephemeral-storage'] ?? {};
  expect(usedBytes).toBeGreaterThan((WRITTEN + 2) * MIB);
  expect(usedBytes).toBeLessThan((WRITTEN + 2 + 4) * MIB);
  expect(summary.node).toMatchObject({
    nodeName: 'node',
    systemContainers: [
      { name: 'pods', cpu: {}, memory: {} },
      { name: 'kubelet', cpu: { usageCoreNanoSeconds: expect.any(Number) }, memory: {} },
    ],
    runtime: { imageFs: { usedBytes: expect.any(Number), capacityBytes: expect.any(Number) } },
    rlimit: { maxpid: expect.any(Number), curproc: expect.any(Number) },
  });
  expect(summary.node.memory?.availableBytes).toBeGreaterThan(0);
  const own = named(summary.node.systemContainers, 'kubelet');
  expect(own?.cpu?.usageCoreNanoSeconds).toBeGreaterThan(0);
  expect(own?.memory?.workingSetBytes).toBeGreaterThan(10 * MIB);
}, 120_000);

test('the agent runs in the cgroup of kubeletCgroups, which has its own series in the cadvisor metrics', async () => {
  const { pid } = cluster.agent;
  expect(await readFile(`/proc/${pid}/cgroup`, 'utf8')).toContain(`:/${AGENT_CGROUP}\n`);
  const text = await proxied('metrics/cadvisor');
  const row = text
    .split('\n')
    .find((line) => line.startsWith('container_memory_working_set_bytes{') && line.includes(`id="/${AGENT_CGROUP}"`));
  expect(Number(row?.split('} ')[1]?.split(' ')[0])).toBeGreaterThan(10 * MIB);
});

test('the agent has the lowest OOM score, or reports that the host forbids it', async () => {
  const { pid, err } = cluster.agent;
  const value = (await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).trim();
  const refusal = /oom_score_adj stays (-?\d+), because it cannot be set to -999/.exec(err())?.[1];
  expect(value).toBe(refusal ?? '-999');
});

test('the resource metrics contain CPU, memory and start time of every container', async () => {
  const text = await proxied('metrics/resource');
  for (const container of ['main', 'idle']) {
    const labels = `{container="${container}",namespace="default",pod="busy"}`;
    const metricValue = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(name + labels))
          ?.split(' ')[1],
      );
    expect(metricValue('container_cpu_usage_seconds_total')).toBeGreaterThan(0);
    expect(metricValue('container_memory_working_set_bytes')).toBeGreaterThan(0);
    expect(metricValue('container_start_time_seconds')).toBeGreaterThan(1.7e9);
  }
  expect(text).toMatch(/^pod_cpu_usage_seconds_total\{namespace="default",pod="busy"\} [\d.e+]+ \d{13}$/m);
  expect(text).toMatch(/^resource_scrape_error 0$/m);
  const log =
    /^kubelet_container_log_filesystem_used_bytes\{uid="[^"]+",namespace="default",pod="busy",container="main"\} (\S+)$/m;
  expect(Number(log.exec(await proxied('metrics'))?.[1])).toBeGreaterThan(0);
}, 60_000);

test('measuring a volume does not prevent its pod from terminating', async () => {
  await Promise.all([proxied('stats/summary'), kubectl.tryRun('delete', 'pod', 'busy', '--now')]);
  const { pods }: Summary = await eventually('it is gone', async () => {
    const whole: Summary = JSON.parse(await proxied('stats/summary?only_cpu_and_memory=true'));
    return podIn(whole) === undefined ? whole : undefined;
  });
  expect(pods).toEqual([]);
}, 60_000);
