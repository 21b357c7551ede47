/** Events of many pods at once at the API server, with real containers: they come late, and all of them come. */
import { availableParallelism } from 'node:os';
import { expect, test } from '@jest/globals';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';

const cluster = await forAllTests(testCluster);
const [PODS, EVENTS] = ['/api/v1/namespaces/default/pods', '/api/v1/namespaces/default/events'];
/** Twice as many as there are processors start at a time: the others stand in line for a while. */
const names = Array.from({ length: 8 * availableParallelism() }, (_, index) => `many-${index}`);

interface Listed {
  readonly items: readonly {
    readonly reason?: string;
    readonly involvedObject?: { readonly name: string };
    readonly status?: { readonly phase?: string };
  }[];
}
// The test API server keeps what it gave to the shapes of Kubernetes.
const listed = async (path: string) => (await cluster.server.ask('GET', path)) as unknown as Listed;
const startedPods = async () => {
  const { items } = await listed(EVENTS);
  return items.filter(({ reason }) => reason === 'Started').map(({ involvedObject }) => involvedObject?.name);
};

const pod = (name: string) => ({
  metadata: { name },
  spec: {
    ...{ nodeName: 'node', automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 },
    containers: [{ name: 'main', image: 'statelet.local/busybox:1', command: ['sleep', '1000000'] }],
  },
});

test('while they wait to be started explain shows what waits for that, and afterwards each has its events', async () => {
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await eventually('the account is there', () => cluster.server.ask('GET', account).catch(() => undefined));
  for (const name of names) await cluster.server.ask('POST', PODS, pod(name));
  const held = await eventually('events give way', async () => {
    const text = JSON.stringify(await cluster.node.ask('/explain/node'));
    return /"kind":"event queue"[^{}]*"state":"yielding"[^{}]*/.exec(text)?.[0];
  });
  expect(held).toContain('pods that wait to be started, which go first');
  await eventually('all run', async () => {
    const { items } = await listed(PODS);
    return items.filter(({ status }) => status?.phase === 'Running').length === names.length;
  });
  await eventually('all are told of', async () => (await startedPods()).length === names.length);
  expect((await startedPods()).sort()).toEqual([...names].sort());
});
