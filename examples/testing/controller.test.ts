import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoordinationV1Api, CoreV1Api, Exec, type V1Status } from '@kubernetes/client-node';
import { type Cluster, eventually, startCluster } from './cluster.ts';
import { READY_LABEL, runController } from './controller.ts';

let cluster: Cluster;
let core: CoreV1Api;

before(async () => {
  cluster = await startCluster({
    exec: ({ cmd, podName }) =>
      cmd[0] === 'hostname' ? { stdout: `${podName}\n` } : { stderr: 'no such command\n', exitCode: 127 },
  });
  core = cluster.config.makeApiClient(CoreV1Api);
});

after(() => cluster?.[Symbol.asyncDispose]());

const namespace = 'default';
const template = {
  automountServiceAccountToken: false,
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'main', image: 'example.org/web:1' }],
};

/** Starts a controller of the replicas `web`. Disposing the result stops the controller. */
function start(identity: string, count: number) {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const options = { identity, leaseSeconds: 60, renewMs: 200, onError: (error: unknown) => void errors.push(error) };
  const stopped = runController(cluster.config, { namespace, name: 'web', count, template }, options, stop.signal);
  const end = async () => {
    stop.abort();
    await stopped;
  };
  return { errors, stop: end, [Symbol.asyncDispose]: end };
}

/** Returns the sorted names of the pods that the controller has labeled as ready. */
async function readyPods() {
  const { items } = await core.listNamespacedPod({ namespace, labelSelector: `${READY_LABEL}=true` });
  return items.map(({ metadata }) => metadata?.name).sort();
}

const untilReady = (...names: string[]) =>
  eventually(async () => JSON.stringify(await readyPods()) === JSON.stringify(names));

test('the controller creates its pods, labels those that run, and replaces one that is deleted', async () => {
  await using controller = start('a', 2);
  await untilReady('web-0', 'web-1');
  const { metadata: first } = await core.readNamespacedPod({ namespace, name: 'web-0' });
  await core.deleteNamespacedPod({ namespace, name: 'web-0' });
  await eventually(async () => {
    const { metadata } = await core.readNamespacedPod({ namespace, name: 'web-0' });
    return metadata?.uid !== first?.uid && metadata?.labels?.[READY_LABEL] === 'true';
  });
  assert.deepEqual(controller.errors, []);
});

test('a second controller acts once the first one has released its lease', async () => {
  const leases = cluster.config.makeApiClient(CoordinationV1Api);
  const holder = async () => (await leases.readNamespacedLease({ namespace, name: 'web' })).spec?.holderIdentity;
  await using controllers = new AsyncDisposableStack();
  const first = start('b', 2);
  controllers.defer(() => first.stop());
  await eventually(async () => (await holder()) === 'b');
  const second = start('c', 3);
  controllers.defer(() => second.stop());
  await sleep(1_000);
  assert.equal(await holder(), 'b');
  assert.deepEqual(await readyPods(), ['web-0', 'web-1']);
  await first.stop();
  await untilReady('web-0', 'web-1', 'web-2');
  assert.equal(await holder(), 'c');
  assert.deepEqual([first.errors, second.errors], [[], []]);
});

test('the controller repeats a request that fails', async () => {
  cluster.server.faults.add({
    fault: { kind: 'refused', code: 500 },
    matches: (request) => 'resource' in request && request.resource === 'pods' && request.verb === 'create',
    times: 1,
  });
  await using controller = start('c', 4);
  await untilReady('web-0', 'web-1', 'web-2', 'web-3');
  assert.equal(controller.errors.length, 1);
});

test('exec runs a command in a pod', async () => {
  const exec = new Exec(cluster.config);
  const run = async (...command: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const status = Promise.withResolvers<V1Status>();
    await exec.exec(namespace, 'web-0', 'main', command, stdout, stderr, null, false, status.resolve);
    return { status: (await status.promise).status, stdout: await text(stdout), stderr: await text(stderr) };
  };
  assert.deepEqual(await run('hostname'), { status: 'Success', stdout: 'web-0\n', stderr: '' });
  assert.deepEqual(await run('nonsense'), { status: 'Failure', stdout: '', stderr: 'no such command\n' });
});
