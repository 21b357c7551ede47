/** Scraping the resource usage of nodes at an interval. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../../../base/time/clock.ts';
import type { Route } from '../../../../kubelet-api/exchange.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import { Authority } from '../../../../testing/apiserver/serving/authority.ts';
import type { ServedApi } from '../../../../testing/apiserver/serving/servedApi.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { servedRoutes } from '../../../fakes/serving/relay/served.ts';

const METRICS = '/apis/metrics.k8s.io/v1beta1';
const EVERY_MS = 50;

let server: ApiServer;
let served: ServedApi;
const nodes: Awaited<ReturnType<typeof servedRoutes>>[] = [];
/** Returns the metrics of the node `told`, which uses half a core. */
const metricsOfNode = (): string => {
  const at = Date.now();
  return `node_cpu_usage_seconds_total ${at / 2_000} ${at}\nnode_memory_working_set_bytes 4096 ${at}\n`;
};

const route = (handle: Route['handle']): Route => ({ pathPrefix: '/metrics', handle });

beforeAll(async () => {
  server = await ApiServer.start(systemClock);
  served = await server.serve({ scrapeEveryMs: EVERY_MS });
  const [{ cluster }] = JSON.parse(served.kubeconfig()).clusters;
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  const tls = { ...new Authority().issue({ name: 'node', groups: [] }), ca };
  const addNode = async (name: string, answer: Route['handle']) => {
    const node = await servedRoutes([route(answer)], tls);
    nodes.push(node);
    await server.request('POST', '/api/v1/nodes', { metadata: { name } });
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: node.port } } };
    await server.request('PATCH', `/api/v1/nodes/${name}/status`, { status }, 'application/merge-patch+json');
  };
  await addNode('told', async ({ response }) => void response.end(metricsOfNode()));
  await addNode('refusing', async ({ response }) => void response.writeHead(403).end(metricsOfNode()));
  await addNode('odd', async ({ response }) => void response.end('<html>\n'));
});

afterAll(async () => {
  server.close();
  await served.close();
  for (const node of nodes) await node.close();
});

test('a node that responds has metrics, whatever the other nodes do', async () => {
  const { items } = await eventually('there are some', async () => {
    const list = await server.request('GET', `${METRICS}/nodes`);
    return Array.isArray(list.items) && list.items.length > 0 && { items: list.items };
  });
  expect(items).toMatchObject([{ metadata: { name: 'told' }, usage: { memory: '4Ki' } }]);
  await expect(server.request('GET', `${METRICS}/nodes/refusing`)).rejects.toThrow('404');
  await expect(server.request('GET', `${METRICS}/nodes/odd`)).rejects.toThrow('404');
  for (const { asked } of nodes) expect(asked.every((each) => each === 'GET /metrics/resource')).toBe(true);
});

test('scraping stops when the server is closed', async () => {
  await served.close();
  const before = nodes.map(({ asked }) => asked.length);
  await new Promise((resolve) => setTimeout(resolve, 3 * EVERY_MS));
  expect(nodes.map(({ asked }) => asked.length)).toEqual(before);
  served = await server.serve();
});
