/**
 * kubectl sessions with real containers through an API server and the node's own API. Each one ends with its container.
 */
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

/** Starts a pod that prints a line every second, and returns functions that run a kubectl release. */
async function startTickingPod(release: Release, name: string) {
  const kubectl = kubectls.get(release);
  if (kubectl === undefined) throw new Error(`there is no kubectl of ${release}`);
  const command = ['sh', '-c', 'while :; do echo tick; sleep 1; done'];
  const containers = [{ name: 'main', image: 'statelet.local/busybox:1', command }];
  const spec = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers };
  await cluster.server.request('POST', PODS, { metadata: { name }, spec });
  await eventually('it runs', async () => {
    const { out } = await kubectl.tryRun('get', 'pod', name, '-o', 'jsonpath={.status.phase}');
    return out === 'Running' || undefined;
  });
  /** Starts a long-running command. Returns its output so far, and functions to await its exit and to kill it. */
  const startSession = (...args: readonly string[]) => {
    const child = kubectl.start(args);
    const output = { out: '', err: '' };
    child.stdout.on('data', (data) => {
      output.out += String(data);
    });
    child.stderr.on('data', (data) => {
      output.err += String(data);
    });
    const ended = once(child, 'close').then(([code]) => Number(code));
    return { output, ended, end: () => child.kill('SIGKILL') };
  };
  const end = () => cluster.server.request('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
  return { startSession, end };
}

beforeAll(async () => {
  await accountIsThere(cluster.server);
});

test.each(RELEASES)(
  'exec, attach and followed logs terminate with their container (kubectl of %s)',
  async (release) => {
    const { startSession, end } = await startTickingPod(release, `talking-${release}`);
    const name = `talking-${release}`;
    const command = ['sh', '-c', 'echo begun; sleep 1000000'];
    const sessions = {
      exec: startSession('exec', name, '--', ...command),
      attach: startSession('attach', name),
      logs: startSession('logs', '--follow', name),
    };
    try {
      await eventually('all of them say something', () => {
        const { exec, attach, logs } = sessions;
        const isBegun = exec.output.out === 'begun\n' && attach.output.out.includes('tick\n');
        return (isBegun && logs.output.out.includes('tick\ntick\n')) || undefined;
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
