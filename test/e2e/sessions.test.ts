/** Sessions of kubectl with real containers, over an API server and the node's own API: each ends with its container. */
import { once } from 'node:events';
import { beforeAll, expect, test } from '@jest/globals';
import { accountIsThere } from './support/account.ts';
import { testCluster } from './support/cluster.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { Kubectl, type Release } from './support/kubectl.ts';

const cluster = await forAllTests(testCluster);
const PODS = '/api/v1/namespaces/default/pods';
const RELEASES: readonly Release[] = ['bookworm', 'sid'];

const kubectls = new Map(
  RELEASES.map((release) => [
    release,
    new Kubectl(release, { kubeconfig: cluster.kubeconfig, directory: cluster.node.directory }),
  ]),
);

/** A pod that says something once a second, and the kubectl of a release. */
async function talking(release: Release, name: string) {
  const kubectl = kubectls.get(release);
  if (kubectl === undefined) throw new Error(`there is no kubectl of ${release}`);
  const command = ['sh', '-c', 'while :; do echo tick; sleep 1; done'];
  const containers = [{ name: 'main', image: 'statelet.local/busybox:1', command }];
  const spec = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers };
  await cluster.server.request('POST', PODS, { metadata: { name }, spec });
  await eventually('it runs', async () => {
    const { out } = await kubectl.tell('get', 'pod', name, '-o', 'jsonpath={.status.phase}');
    return out === 'Running' || undefined;
  });
  /** A command that goes on, with all that it has said. */
  const begun = (...args: readonly string[]) => {
    const child = kubectl.start(args);
    const said = { out: '', err: '' };
    child.stdout.on('data', (data) => {
      said.out += String(data);
    });
    child.stderr.on('data', (data) => {
      said.err += String(data);
    });
    const ended = once(child, 'close').then(([code]) => Number(code));
    return { said, ended, end: () => child.kill('SIGKILL') };
  };
  const end = () => cluster.server.request('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
  return { begun, end };
}

beforeAll(async () => {
  await accountIsThere(cluster.server);
});

test.each(RELEASES)(
  'exec, attach and followed logs terminate with their container (kubectl of %s)',
  async (release) => {
    const { begun, end } = await talking(release, `talking-${release}`);
    const name = `talking-${release}`;
    const command = ['sh', '-c', 'echo begun; sleep 1000000'];
    const sessions = {
      exec: begun('exec', name, '--', ...command),
      attach: begun('attach', name),
      logs: begun('logs', '--follow', name),
    };
    try {
      await eventually('all of them say something', () => {
        const { exec, attach, logs } = sessions;
        const isBegun = exec.said.out === 'begun\n' && attach.said.out.includes('tick\n');
        return (isBegun && logs.said.out.includes('tick\ntick\n')) || undefined;
      });
      await end();
      expect(await sessions.logs.ended).toBe(0);
      expect(await sessions.exec.ended).not.toBe(0);
      await sessions.attach.ended;
    } finally {
      for (const each of Object.values(sessions)) each.end();
    }
  },
  120_000,
);
