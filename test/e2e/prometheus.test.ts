/**
 * Debian's Prometheus scrapes a node with real containers, authenticated by a token, and evaluates the rules of
 * kubernetes-mixin.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { accountIsThere } from './support/account.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';
import { checkMetrics, Prometheus } from './support/prometheus.ts';

jest.setTimeout(180_000);

const cluster = await forAllTests(testCluster);
const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory });
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const TOKEN = 'of-prometheus';
const PATHS = ['/metrics', '/metrics/cadvisor', '/metrics/probes', '/metrics/resource'];
const POD = 'namespace="default",pod="busy"';

const busy = {
  metadata: { name: 'busy' },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'main',
        image: 'statelet.local/busybox:1',
        command: ['sh', '-c', 'while true; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.2; done'],
        livenessProbe: { exec: { command: ['true'] }, periodSeconds: 2 },
      },
    ],
  },
};

/** The rules of kubernetes-mixin (`rules/kubelet.libsonnet`, `rules/apps.libsonnet`). */
const kubelet = (path: string) => `job="kubelet", metrics_path="${path}"`;
const onNode = (usage: string) =>
  `${usage} * on (cluster, namespace, pod) group_left(node) topk by (cluster, namespace, pod) (1, max by (cluster, namespace, pod, node) (kube_pod_info{node!=""}))`;
const RULES = {
  'node_quantile:kubelet_pleg_relist_duration_seconds:histogram_quantile': `histogram_quantile(0.99, sum(rate(kubelet_pleg_relist_duration_seconds_bucket{${kubelet('/metrics')}}[5m])) by (cluster, instance, le) * on (cluster, instance) group_left (node) kubelet_node_name{${kubelet('/metrics')}})`,
  'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate': onNode(
    `sum by (cluster, namespace, pod, container) (irate(container_cpu_usage_seconds_total{${kubelet('/metrics/cadvisor')}, image!=""}[5m]))`,
  ),
  'node_namespace_pod_container:container_memory_working_set_bytes': onNode(
    `container_memory_working_set_bytes{${kubelet('/metrics/cadvisor')}, image!=""}`,
  ),
};
const groups = [
  { name: 'mixin', interval: '2s', rules: Object.entries(RULES).map(([record, expr]) => ({ record, expr })) },
];

/** Serves the kube_pod_info of the pod as kube-state-metrics would. Returns the port. */
async function podInfo(): Promise<number> {
  const text = `# TYPE kube_pod_info gauge\nkube_pod_info{${POD},node="node"} 1\n`;
  const server = createServer((_, response) => void response.end(text));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  ends.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

async function scraping(): Promise<Prometheus> {
  const { server, node } = cluster;
  server.tokens.set(TOKEN, { name: 'prometheus', groups: [] });
  server.grants.push({ to: 'prometheus', verbs: ['get'], resources: ['nodes/metrics'] });
  const directory = join(node.directory, 'prometheus');
  await mkdir(directory);
  const token = join(directory, 'token');
  await writeFile(token, TOKEN);
  const { out } = await kubectl.tryRun(
    'get',
    'node',
    'node',
    '-o',
    'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}',
  );
  const kept = [{ source_labels: ['__metrics_path__'], target_label: 'metrics_path' }];
  const common = {
    scheme: 'https',
    authorization: { credentials_file: token },
    relabel_configs: kept,
    tls_config: { ca_file: join(node.rootDir, 'pki', 'kubelet.crt'), server_name: 'node' },
    static_configs: [{ targets: [`127.0.0.1:${out}`], labels: { cluster: 'test', job: 'kubelet' } }],
  };
  const state = {
    job_name: 'kube-state-metrics',
    static_configs: [{ targets: [`127.0.0.1:${await podInfo()}`], labels: { cluster: 'test' } }],
  };
  const scrape_configs = [
    ...PATHS.map((path) => ({ ...common, job_name: `kubelet${path}`, metrics_path: path })),
    state,
  ];
  const config = { global: { scrape_interval: '2s', evaluation_interval: '2s' }, scrape_configs };
  const started = await Prometheus.start(directory, config, { groups });
  ends.push(() => started.end());
  return started;
}

test('all scrape targets are up, and the rules on pods and the PLEG have values', async () => {
  const { server } = cluster;
  await accountIsThere(server);
  await server.request('POST', '/api/v1/namespaces/default/pods', busy);
  await eventually('it runs', async () => {
    cluster.agent.mustLive();
    return (
      (await kubectl.tryRun('get', 'pod', 'busy', '-o', 'jsonpath={.status.phase}')).out === 'Running' || undefined
    );
  });
  const prometheus = await scraping();
  for (const name of Object.keys(RULES)) {
    const found = await eventually(`${name} has a value`, async () => {
      const [first] = await prometheus.query(name);
      return first !== undefined && Number(first.value[1]) > 0 ? first : undefined;
    });
    expect(found.metric).toMatchObject({ node: 'node' });
  }
  const [cpu] = await prometheus.query(
    `node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate{${POD}}`,
  );
  expect(cpu?.metric).toMatchObject({ container: 'main' });
  expect(
    Number((await prometheus.query(`prober_probe_total{${POD},result="successful"}`))[0]?.value[1]),
  ).toBeGreaterThan(0);
  expect((await prometheus.query(`pod_memory_working_set_bytes{${POD}}`)).length).toBe(1);
  const targets = await prometheus.targets();
  expect(targets.map(({ health, lastError }) => [health, lastError])).toEqual(Array(5).fill(['up', '']));
});

/** Complaints of promtool about metric names, which must be the same as the kubelet's. */
const KNOWN: readonly string[] = [
  'authentication_token_cache_active_fetch_count non-histogram and non-summary metrics should not have "_count" suffix',
  "cadvisor_version_info label names should be written in 'snake_case' not 'camelCase'",
  'container_fs_inodes_total non-counter metrics should not have "_total" suffix',
  'container_memory_failcnt counter metrics should have "_total" suffix',
  'kubelet_certificate_manager_client_expiration_renew_errors counter metrics should have "_total" suffix',
  'kubelet_cpu_manager_exclusive_cpu_allocation_count non-histogram and non-summary metrics should not have "_count" suffix',
  'kubelet_evented_pleg_connection_error_count counter metrics should have "_total" suffix',
  'kubelet_evented_pleg_connection_error_count non-histogram and non-summary metrics should not have "_count" suffix',
  'kubelet_evented_pleg_connection_success_count counter metrics should have "_total" suffix',
  'kubelet_evented_pleg_connection_success_count non-histogram and non-summary metrics should not have "_count" suffix',
  'kubelet_server_expiration_renew_errors counter metrics should have "_total" suffix',
  'kubelet_topology_manager_admission_duration_ms metric names should not contain abbreviated units',
];

test('promtool objects only to metric names that come from the kubelet', async () => {
  const found = new Set<string>();
  for (const path of [...PATHS, '/metrics/slis']) {
    const { code, out } = await kubectl.tryRun('get', '--raw', `/api/v1/nodes/node/proxy${path}`);
    expect(code).toBe(0);
    for (const line of await checkMetrics(out)) found.add(line);
  }
  expect([...found].toSorted()).toEqual(KNOWN);
});
