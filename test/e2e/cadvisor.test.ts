/**
 * The metrics of real containers as Prometheus scrapes them from a node, with the cgroups of containerd and the kernel.
 */
import { expect, test } from '@jest/globals';
import { accountIsThere } from './support/account.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';

const cluster = await forAllTests(testCluster);
const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory });

const pod = {
  metadata: { name: 'busy' },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'main',
        image: 'statelet.local/busybox:1',
        command: ['sh', '-c', 'while :; do :; done'],
        resources: { requests: { cpu: '10m' }, limits: { cpu: '200m', memory: '32Mi' } },
      },
    ],
  },
};

const scrape = async () => (await kubectl.tryRun('get', '--raw', '/api/v1/nodes/node/proxy/metrics/cadvisor')).out;

/** Returns the value of a metric from the line whose labels contain all these strings. */
function valueIn(text: string, name: string, ...labels: readonly string[]): number | undefined {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  const line = lines.find((each) => labels.every((label) => each.includes(label)));
  return line === undefined ? undefined : Number(line.split('} ')[1]?.split(' ')[0]);
}

test('a container, its sandbox and its pod each have their own series, which disappear with the pod', async () => {
  await accountIsThere(cluster.server);
  await cluster.server.request('POST', '/api/v1/namespaces/default/pods', pod);
  const main = ['container="main"', 'namespace="default"', 'pod="busy"'];
  const cpu = 'container_cpu_usage_seconds_total';
  const text = await eventually('it has been seen', async () => {
    cluster.agent.mustLive();
    const seen = await scrape();
    return (valueIn(seen, cpu, ...main, 'cpu="total"') ?? 0) > 0 ? seen : undefined;
  });
  expect(valueIn(text, 'container_memory_working_set_bytes', ...main)).toBeGreaterThan(0);
  expect(valueIn(text, 'container_spec_memory_limit_bytes', ...main)).toBe(32 * 2 ** 20);
  expect(valueIn(text, 'container_spec_cpu_quota', ...main)).toBe(20_000);
  expect(valueIn(text, 'container_processes', ...main)).toBe(1);
  expect(valueIn(text, 'container_file_descriptors', ...main)).toBeGreaterThan(0);
  expect(valueIn(text, 'container_start_time_seconds', ...main)).toBeGreaterThan(1.7e9);
  expect(text).toMatch(
    /id="\/[^"]*kubepods[^"]*pod[^"/]+\/[^"/]*[0-9a-f]{64}[^"/]*",image="statelet.local\/busybox:1"/,
  );
  const sandbox = ['container=""', 'pod="busy"', 'pause'];
  expect(valueIn(text, 'container_memory_working_set_bytes', ...sandbox)).toBeGreaterThan(0);
  expect(valueIn(text, 'container_network_receive_bytes_total', ...sandbox, 'interface="eth0"')).toBeDefined();
  expect(valueIn(text, 'container_memory_rss', 'name=""', 'pod="busy"')).toBeGreaterThan(0);
  expect(valueIn(text, 'container_memory_rss', 'id="/"')).toBeGreaterThan(0);
  expect(valueIn(text, 'machine_memory_bytes')).toBeGreaterThan(0);
  expect(text).toContain('\ncontainer_scrape_error 0\n');
  await cluster.server.request('DELETE', '/api/v1/namespaces/default/pods/busy');
  await eventually('nothing is left of it', async () => !(await scrape()).includes('pod="busy"') || undefined);
}, 180_000);
