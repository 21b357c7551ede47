import { expect, test } from '@jest/globals';
import { batchOf } from '../../../../testing/apiserver/metrics/resourceMetrics.ts';

const NOW = 1_700_000_000_000;

/** The response of a kubelet 1.36 at `/metrics/resource`. */
const response = `# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the container in core-seconds
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 1.5 1700000000100
# HELP container_memory_working_set_bytes [STABLE] Current working set of the container in bytes
# TYPE container_memory_working_set_bytes gauge
container_memory_working_set_bytes{container="main",namespace="default",pod="web"} 1.048576e+06 1700000000100
# HELP container_start_time_seconds [STABLE] Start time of the container since unix epoch in seconds
# TYPE container_start_time_seconds gauge
container_start_time_seconds{container="main",namespace="default",pod="web"} 1.69999999e+09
# HELP node_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the node in core-seconds
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total 1000.25 1700000000200
# HELP node_memory_working_set_bytes [STABLE] Current working set of the node in bytes
# TYPE node_memory_working_set_bytes gauge
node_memory_working_set_bytes 2e+09 1700000000200
# HELP pod_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the pod in core-seconds
# TYPE pod_cpu_usage_seconds_total counter
pod_cpu_usage_seconds_total{namespace="default",pod="web"} 1.6 1700000000100
# HELP resource_scrape_error [STABLE] 1 if there was an error while getting container metrics, 0 otherwise
# TYPE resource_scrape_error gauge
resource_scrape_error 0
`;

test('the usage of the node and its containers is parsed with the time of each sample', () => {
  const { nodes, pods } = batchOf(response, 'n1', NOW);
  expect([...nodes]).toEqual([
    ['n1', { at: 1_700_000_000_200, startedAt: 0, cpuNanos: 1_000_250_000_000, memory: 2_000_000_000 }],
  ]);
  const main = { at: 1_700_000_000_100, startedAt: 1_699_999_990_000, cpuNanos: 1_500_000_000, memory: 1_048_576 };
  expect([...pods]).toEqual([['default/web', new Map([['main', main]])]]);
});

test('a sample without a timestamp has the current time', () => {
  const { nodes } = batchOf('node_cpu_usage_seconds_total 1\nnode_memory_working_set_bytes 1\n', 'n1', NOW);
  expect(nodes.get('n1')?.at).toBe(NOW);
});

test('a pod with incomplete metrics of a container is omitted, and so is a node with incomplete metrics', () => {
  const labels = (container: string) => `{container="${container}",namespace="default",pod="web"}`;
  const more = `container_cpu_usage_seconds_total${labels('idle')} 0 1700000000100
container_memory_working_set_bytes${labels('idle')} 5 1700000000100
`;
  expect(batchOf(response + more, 'n1', NOW).pods.size).toBe(0);
  expect(batchOf('node_cpu_usage_seconds_total 1 1\n', 'n1', NOW).nodes.size).toBe(0);
});

test('escaped label values are unescaped', () => {
  const labels = String.raw`{container="a\"b\\c\nd",namespace="x,y=\"z\"",pod="__proto__"}`;
  const text = `container_cpu_usage_seconds_total${labels} 1 5\ncontainer_memory_working_set_bytes${labels} 1 5\n`;
  const { pods } = batchOf(text, 'n1', NOW);
  expect([...pods].map(([pod, containers]) => [pod, ...containers.keys()])).toEqual([
    ['x,y="z"/__proto__', 'a"b\\c\nd'],
  ]);
});

test('a response that is not in the metrics format is rejected', () => {
  expect(() => batchOf('<html>sign in</html>\n', 'n1', NOW)).toThrow('failed parsing metrics');
});
