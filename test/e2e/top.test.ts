/** `kubectl top`, with both kubectl releases of Debian, for a simulated node that only reports its usage. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../base/time/clock.ts';
import { ApiServer } from '../../testing/apiserver/apiServer.ts';
import { Authority } from '../../testing/apiserver/serving/authority.ts';
import { servedRoutes } from '../fakes/serving/relay/served.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl, type Release } from './support/kubectl.ts';

const PODS = '/api/v1/namespaces/default/pods';
const MIB = 2 ** 20;

/** Returns samples that correspond to this number of cores used since the epoch, and to this memory usage. */
function samples(of: string, labels: string, cores: number, mib: number): string {
  const at = Date.now();
  return `${of}_cpu_usage_seconds_total${labels} ${(at / 1_000) * cores} ${at}
${of}_memory_working_set_bytes${labels} ${mib * MIB} ${at}
`;
}

const container = (pod: string, name: string, cores: number, mib: number) =>
  samples('container', `{container="${name}",namespace="default",pod="${pod}"}`, cores, mib);

/** Returns the metrics of a node and of two pods. */
const metricsText = () =>
  samples('node', '', 1, 1_024) +
  container('web', 'main', 0.25, 64) +
  container('web', 'side', 0.002, 8) +
  container('shop', 'main', 0.1, 100);

async function startCluster() {
  const directory = await mkdtemp(join(tmpdir(), 'top-'));
  const server = await ApiServer.start(systemClock);
  const served = await server.serve({ scrapeEveryMs: 200 });
  const [{ cluster }] = JSON.parse(served.kubeconfig()).clusters;
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  const tls = { ...new Authority().issue({ name: 'node', groups: [] }), ca };
  let isPublished = false;
  const answer = {
    pathPrefix: '/metrics',
    handle: async ({ response }: { response: { end(text: string): unknown } }) =>
      void response.end(isPublished ? metricsText() : ''),
  };
  const node = await servedRoutes([answer], tls);
  await server.request('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: node.port } },
    capacity: { cpu: '4', memory: '4Gi' },
    allocatable: { cpu: '4', memory: '4Gi' },
  };
  await server.request('PATCH', '/api/v1/nodes/n1/status', { status }, 'application/merge-patch+json');
  for (const name of ['web', 'shop', 'new']) {
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'x' }], automountServiceAccountToken: false };
    await server.request('POST', PODS, { metadata: { name, labels: { app: name } }, spec });
  }
  const kubeconfig = join(directory, 'admin.kubeconfig');
  await writeFile(kubeconfig, served.kubeconfig());
  const end = async () => {
    server.close();
    await served.close();
    await node.close();
    await rm(directory, { recursive: true });
  };
  const publish = () => {
    isPublished = true;
  };
  return { server, kubeconfig, directory, publish, end };
}

const it = await forAllTests(startCluster);

const kubectlOf = (release: Release) => new Kubectl(release, { kubeconfig: it.kubeconfig, directory: it.directory });
const RELEASES: readonly Release[] = ['bookworm', 'sid'];

/** Returns the rows of a table without its header, with single spaces between the cells. */
const rowsOf = (table: string): string[] =>
  table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().replaceAll(/ +/g, ' '));

test.each(RELEASES)(
  'kubectl top reports that metrics are not available before the first scrape (kubectl of %s)',
  async (release) => {
    const { code, err } = await kubectlOf(release).tryRun('top', 'node');
    expect([code, err]).toEqual([1, 'error: metrics not available yet\n']);
  },
);

test.each(RELEASES)('kubectl top shows the usage of nodes, pods and containers (kubectl of %s)', async (release) => {
  const kubectl = kubectlOf(release);
  it.publish();
  await eventually('it is scraped', async () => (await kubectl.tryRun('top', 'node')).code === 0);
  // The time of a scrape differs slightly from the timestamps of its samples.
  expect(rowsOf(await kubectl.run('top', 'node'))).toEqual([
    expect.stringMatching(/^n1 (999|1000|1001)m (24|25)% 1024Mi 25%$/),
  ]);
  const pods = [expect.stringMatching(/^shop (99|100|101)m 100Mi$/), expect.stringMatching(/^web 25[123]m 72Mi$/)];
  expect(rowsOf(await kubectl.run('top', 'pod')).toSorted()).toEqual(pods);
  const containers = rowsOf(await kubectl.run('top', 'pod', '--containers', '-l', 'app=web')).toSorted();
  expect(containers).toEqual([
    expect.stringMatching(/^web main (249|250|251)m 64Mi$/),
    expect.stringMatching(/^web side [23]m 8Mi$/),
  ]);
  expect(rowsOf(await kubectl.run('top', 'pod', '--sort-by=memory'))[0]).toMatch(/^shop /);
  const { code, err } = await kubectl.tryRun('top', 'pod', 'new');
  expect([code, err]).toEqual([1, expect.stringContaining('"default/new" not found')]);
  expect(rowsOf(await kubectl.run('get', 'nodes.metrics.k8s.io'))).toEqual([
    expect.stringMatching(/^n1 \S+ 1Gi \S+s$/),
  ]);
});
