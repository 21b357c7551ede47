/** The responses of `metrics.k8s.io`, their representations, and the permissions that requests need. */
import { beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { Api } from '../../../../testing/apiserver/api.ts';
import { batchOf } from '../../../../testing/apiserver/metrics/resourceMetrics.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const ROOT = '/apis/metrics.k8s.io/v1beta1';

let api: Api;

async function ask(path: string, { method = 'GET', body = '', accept = 'application/json', user = ADMIN } = {}) {
  const headers = new Map([
    ['accept', accept],
    ['content-type', 'application/json'],
  ]);
  const answer = await api.respond({ method, url: path, headers, body, user });
  if (!('body' in answer)) throw new Error(`${path} is a watch`);
  return { code: answer.code, body: JSON.parse(String(answer.body)) };
}

/**
 * Returns a node's response at `/metrics/resource`, for the node and these containers. `second` is the timestamp of all
 * samples, in seconds.
 */
const nodeResponse = (
  second: number,
  cpu: number,
  ...containers: readonly (readonly [pod: string, container: string])[]
) =>
  [
    `node_cpu_usage_seconds_total ${cpu * 10} ${second * 1_000}`,
    `node_memory_working_set_bytes ${2 ** 31} ${second * 1_000}`,
    ...containers.flatMap(([pod, container]) => {
      const labels = `{container="${container}",namespace="default",pod="${pod}"}`;
      return [
        `container_cpu_usage_seconds_total${labels} ${cpu} ${second * 1_000}`,
        `container_memory_working_set_bytes${labels} ${3 * 2 ** 20} ${second * 1_000}`,
      ];
    }),
  ].join('\n');

const CONTAINERS = [
  ['web', 'main'],
  ['web', 'side'],
  ['shop', 'main'],
] as const;

beforeEach(async () => {
  api = new Api({ clock: new SimulatedClock(), tokens: new Map(), address: '' });
  await ask('/api/v1/nodes', {
    method: 'POST',
    body: JSON.stringify({ metadata: { name: 'n1', labels: { zone: 'a' } } }),
  });
  for (const name of ['web', 'shop', 'new']) {
    const spec = { containers: [{ name: 'main', image: 'x' }], automountServiceAccountToken: false };
    const metadata = { name, labels: { app: name } };
    api.registry.store.put('/pods', { metadata: { ...metadata, namespace: 'default' }, spec });
  }
  for (const [second, cpu] of [
    [100, 1],
    [115, 1.000_001_5],
  ] as const)
    api.usages.store(batchOf(nodeResponse(second, cpu, ...CONTAINERS), 'n1', 0), 15_000);
});

test('NodeMetrics has the usage between the last two scrapes', async () => {
  const { code, body: node } = await ask(`${ROOT}/nodes/n1`);
  expect(code).toBe(200);
  expect(node).toEqual({
    kind: 'NodeMetrics',
    apiVersion: 'metrics.k8s.io/v1beta1',
    metadata: { name: 'n1', labels: expect.objectContaining({ zone: 'a' }), creationTimestamp: expect.any(String) },
    timestamp: '1970-01-01T00:01:55Z',
    window: '15s',
    usage: { cpu: '1u', memory: '2Gi' },
  });
});

test('PodMetrics has the usage of each container', async () => {
  const { body: pod } = await ask(`${ROOT}/namespaces/default/pods/web`);
  expect(pod).toMatchObject({ kind: 'PodMetrics', metadata: { name: 'web', namespace: 'default' }, window: '15s' });
  const usage = { cpu: '100n', memory: '3Mi' };
  expect(pod.containers).toEqual([
    { name: 'main', usage },
    { name: 'side', usage },
  ]);
});

test('a list contains the selected objects that have been scraped', async () => {
  const names = async (path: string) => {
    const { body: list } = await ask(path);
    expect(list).toMatchObject({ apiVersion: 'metrics.k8s.io/v1beta1', metadata: {} });
    return list.items.map((each: { metadata: { name: string } }) => each.metadata.name);
  };
  expect(await names(`${ROOT}/pods`)).toEqual(['shop', 'web']);
  expect(await names(`${ROOT}/namespaces/default/pods?labelSelector=app%3Dweb`)).toEqual(['web']);
  expect(await names(`${ROOT}/namespaces/default/pods?fieldSelector=metadata.name%3Dshop`)).toEqual(['shop']);
  expect(await names(`${ROOT}/namespaces/other/pods`)).toEqual([]);
  expect(await names(`${ROOT}/nodes?labelSelector=zone%3Db`)).toEqual([]);
});

test.each([
  ['nodes/n2', 'nodes "n2" not found'],
  ['namespaces/default/pods/none', 'pods "none" not found'],
  ['namespaces/default/pods/new', 'podmetrics.metrics.k8s.io "default/new" not found'],
])('metrics of %s are not found', async (path, message) => {
  expect(await ask(`${ROOT}/${path}`)).toMatchObject({ code: 404, body: { reason: 'NotFound', message } });
});

test('metrics are returned as a table on request', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body: table } = await ask(`${ROOT}/pods`, { accept });
  expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
    'Name',
    'cpu',
    'memory',
    'Window',
  ]);
  expect(table.rows.map(({ cells }: { cells: unknown }) => cells)).toEqual([
    ['shop', '100n', '3Mi', '15s'],
    ['web', '200n', '6Mi', '15s'],
  ]);
});

test('metrics are read-only and require permission', async () => {
  expect((await ask(`${ROOT}/nodes/n1`, { method: 'DELETE' })).code).toBe(405);
  expect((await ask(`${ROOT}/nodes?watch=true`)).code).toBe(405);
  expect((await ask(`${ROOT}/nodes/n1`, { user: { name: 'someone', groups: [] } })).code).toBe(403);
});

test('discovery includes the metrics API', async () => {
  expect((await ask('/apis')).body.groups.map(({ name }: { name: string }) => name)).toContain('metrics.k8s.io');
  const { body: list } = await ask(ROOT);
  expect(list.resources).toEqual([
    { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
    { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
  ]);
});
