/** Events that still give way to starts when the agent stops: with a real runtime, they reach the API server before it exits. */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../actors/clock.ts';
import { ApiServer } from '../../apiserver/apiServer.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { runNode } from './support/node.ts';

const [PODS, EVENTS] = ['/api/v1/namespaces/default/pods', '/api/v1/namespaces/default/events'];
/** So many stand in line for a while, on any number of processors. */
const names = Array.from({ length: 8 * availableParallelism() }, (_, index) => `many-${index}`);

/** A node whose agent ends without its pods, in a cluster. */
const { node, server, kubeconfig } = await forAllTests(async () => {
  const run = await runNode();
  const api = await ApiServer.start(systemClock);
  const served = await api.serve();
  const file = join(run.directory, 'node.kubeconfig');
  await writeFile(file, served.kubeconfig({ name: 'system:node:node', groups: ['system:nodes'] }));
  const end = async () => {
    await run.end();
    api.close();
    await served.close();
  };
  return { node: run, server: api, kubeconfig: file, end };
});

interface Listed {
  readonly items: readonly {
    readonly reason?: string;
    readonly metadata: { readonly name: string };
    readonly involvedObject?: { readonly name: string };
    readonly status?: { readonly phase?: string };
  }[];
}
// The test API server keeps what it gave to the shapes of Kubernetes.
const listed = async (path: string) => (await server.ask('GET', path)) as unknown as Listed;
const running = async () =>
  (await listed(PODS)).items.filter(({ status }) => status?.phase === 'Running').map(({ metadata }) => metadata.name);
const started = async () =>
  (await listed(EVENTS)).items
    .filter(({ reason }) => reason === 'Started')
    .map(({ involvedObject }) => involvedObject?.name);

const pod = (name: string) => ({
  metadata: { name },
  spec: {
    ...{ nodeName: 'node', automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 },
    containers: [{ name: 'main', image: 'statelet.local/busybox:1', command: ['sleep', '1000000'] }],
  },
});

test('an agent that stops while pods stand in line to be started sends first what gave way to them', async () => {
  const agent = await node.start({ args: ['--kubeconfig', kubeconfig, '--inspect-address', ''] });
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await eventually('the account is there', () => server.ask('GET', account).catch(() => undefined));
  for (const name of names) await server.ask('POST', PODS, pod(name));
  const untold = await eventually('a pod runs whose events give way', async () => {
    const [all, told] = [await running(), await started()];
    return all.find((name) => !told.includes(name));
  });
  agent.kill('SIGTERM');
  expect(await agent.ended).toBe(0);
  expect((await running()).length).toBeLessThan(names.length);
  expect(await started()).toContain(untold);
});
