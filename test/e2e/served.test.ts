/** The API of a node with real containers, through kubectl and an API server. */
import { expect, test } from '@jest/globals';
import { accountIsThere } from './support/account.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl } from './support/kubectl.ts';
import { statelet } from './support/statelet.ts';

const cluster = await forAllTests(testCluster);
const PODS = '/api/v1/namespaces/default/pods';

const pod = {
  metadata: { name: 'served' },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    containers: [
      { name: 'main', image: 'statelet.local/busybox:1', command: ['sh', '-c', 'echo hello; exec sleep 1000000'] },
    ],
  },
};

const kubectl = new Kubectl('sid', { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory });
const tryRun = (...args: readonly string[]) => kubectl.tryRun(...args);

test('the Node publishes the port of the agent, and logs, exec and the other endpoints work through the API server', async () => {
  const { server, agent } = cluster;
  await accountIsThere(server);
  await server.request('POST', PODS, pod);
  await eventually('it runs', async () => {
    agent.mustLive();
    return (await tryRun('get', 'pod', 'served', '-o', 'jsonpath={.status.phase}')).out === 'Running' || undefined;
  });
  const port = await tryRun('get', 'node', 'node', '-o', 'jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}');
  expect(Number(port.out)).toBeGreaterThan(0);
  expect(await tryRun('logs', 'served')).toMatchObject({ code: 0, out: 'hello\n' });
  expect(await tryRun('exec', 'served', '--', 'sh', '-c', 'echo out; exit 3')).toMatchObject({ code: 3, out: 'out\n' });
  const following = kubectl.start(['logs', '-f', 'served']);
  await eventually('the node says who follows the log', async () => {
    const { out } = await statelet('explain', 'node', '--state-dir', cluster.node.directory);
    return /log served +followed .*\n? *.*default\/served \(main\), by \S+/.test(out) || undefined;
  });
  following.kill();
  const proxied = async (path: string) => (await tryRun('get', '--raw', `/api/v1/nodes/node/proxy/${path}`)).out;
  expect(await proxied('healthz')).toBe('ok');
  expect(JSON.parse(await proxied('debug/pprof/profile?seconds=1')).nodes.length).toBeGreaterThan(0);
  expect(await proxied('debug/pprof/cmdline')).toContain('\0up\0');
  const archive = ['create', '--raw', '/api/v1/nodes/node/proxy/checkpoint/default/served/main', '-f', '/dev/null'];
  // containerd 1.6 does not support checkpoints.
  expect(`${(await tryRun(...archive)).err}`).toContain(
    'checkpointing of default/served/main failed (rpc error: code = ',
  );
  expect(JSON.parse(await proxied('pods')).items).toHaveLength(1);
  expect(JSON.parse(await proxied('runningpods/')).items).toHaveLength(1);
  expect(JSON.parse(await proxied('configz')).kubeletconfig).toMatchObject({ authorization: { mode: 'Webhook' } });
}, 120_000);
