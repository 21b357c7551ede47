/** Terminal statuses of API server pods, whichever parts are down when the pod terminates. */
import { describe, expect, test } from '@jest/globals';
import type { PodWrite } from '../../../../testing/simulation/cluster/apiPod.ts';
import { PATHS } from '../../../../testing/simulation/host/host.ts';
import type { CallFault } from '../../../../testing/simulation/run/gate.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import {
  planTargetedFaults,
  type TargetedFault,
} from '../../../../testing/simulation/stories/variants/targetedFaults.ts';
import { clusterNode, MINUTE, SECOND } from './clusterNode.ts';

const shell = (script: string) => ['sh', '-c', script];
const STUBBORN = shell('trap "" TERM; sleep 1d');

/** Returns a pod that fails permanently after this number of seconds. */
const failing = (seconds: number) =>
  manifest('once', {
    restartPolicy: 'Never',
    containers: [container('main', { command: shell(`sleep ${seconds}; exit 3`) })],
  });
const FAILED = {
  phase: 'Failed',
  status: { containerStatuses: [{ state: { terminated: { exitCode: 3 } } }] },
} as const;

type Node = Awaited<ReturnType<typeof clusterNode>>['node'];
const away = (node: Node, forMs: number) => node.perform({ kind: 'apiAway', how: 'refused', forMs });

/** Failures around the 20th second, when the container exits. */
const ORDERS: Readonly<Record<string, (node: Node) => Promise<void>>> = {
  'the server is away when it ends': async (node) => {
    await node.advance(10 * SECOND);
    away(node, MINUTE);
  },
  'the agent is away when it ends': async (node) => {
    await node.advance(10 * SECOND);
    node.kill();
    await node.advance(20 * SECOND);
    await node.startAgent();
  },
  'both are away when it ends, and the server is back first': async (node) => {
    await node.advance(10 * SECOND);
    away(node, 20 * SECOND);
    node.kill();
    await node.advance(40 * SECOND);
    await node.startAgent();
  },
  'both are away when it ends, and the agent is back first': async (node) => {
    await node.advance(10 * SECOND);
    away(node, 5 * MINUTE);
    node.kill();
    await node.advance(20 * SECOND);
    await node.startAgent();
  },
  'the agent ends while the server is away, and has seen it end': async (node) => {
    await node.advance(10 * SECOND);
    away(node, 5 * MINUTE);
    await node.advance(20 * SECOND);
    node.kill();
    await node.startAgent();
  },
  'the runtime is emptied before the server is back': async (node) => {
    await node.advance(10 * SECOND);
    away(node, 5 * MINUTE);
    await node.advance(20 * SECOND);
    node.kill();
    node.perform({ kind: 'runtimeDown', downMs: 0, keepContainers: false });
    await node.startAgent();
  },
};

describe.each(Object.entries(ORDERS))('if %s, a terminal status is never lost', (_, happens) => {
  test('of a pod that is not deleted', async () => {
    const { node, pod, runs } = await clusterNode();
    node.perform({ kind: 'createPod', pod: failing(20) });
    await happens(node);
    await node.advance(6 * MINUTE);
    expect(pod('once')).toMatchObject(FAILED);
    expect(runs('once').length).toBeLessThanOrEqual(1);
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  });

  test('of a pod that is deleted meanwhile', async () => {
    const { node, cluster } = await clusterNode();
    const writes: PodWrite[] = [];
    cluster.watchPods((write) => writes.push(write));
    node.perform({ kind: 'createPod', pod: failing(20) });
    await happens(node);
    node.perform({ kind: 'deletePod', pod: 'default/once', graceSeconds: 60 });
    await node.advance(6 * MINUTE);
    expect(writes.at(-1)).toMatchObject({ type: 'DELETED', before: { phase: 'Failed' } });
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  });
});

const FATES: readonly CallFault[] = [
  { kind: 'fail', code: 'ECONNRESET' },
  { kind: 'fail', code: '500' },
  { kind: 'fail', code: '429' },
  { kind: 'fail', code: '403' },
  { kind: 'hang' },
  { kind: 'lostReply', code: 'ECONNRESET' },
  { kind: 'death', when: 'before' },
  { kind: 'death', when: 'after' },
];
const REQUESTS = ['get pods', 'patch pods/status', 'delete pods', 'watch pods', 'create nodes', 'update leases'];

test.each(REQUESTS)(
  'pods run and are deleted even if a request is lost before or after it takes effect: %s',
  async (name) => {
    for (const [index, fault] of FATES.entries()) {
      // `skip` selects one of the first three requests.
      const lostRequest: TargetedFault = { call: { target: 'api', name }, fault, skip: index % 3, times: 1 };
      const { node, pod, runs } = await clusterNode({ faults: planTargetedFaults([lostRequest]) });
      node.perform({ kind: 'createPod', pod: manifest('web') });
      node.perform({ kind: 'createPod', pod: failing(5) });
      await node.advance(MINUTE);
      expect(pod('web')).toMatchObject({ phase: 'Running' });
      expect(runs('web').length).toBe(1);
      node.perform({ kind: 'deletePod', pod: 'default/web' });
      node.perform({ kind: 'deletePod', pod: 'default/once' });
      await node.advance(2 * MINUTE);
      expect([pod('web'), pod('once')]).toEqual([undefined, undefined]);
      node.endFaults();
      expect(await node.settle(MINUTE)).toBe(true);
      node.kill();
    }
  },
);

test('a pod that others marked as failed while the agent was down is reported with the exits of its containers', async () => {
  const { node, pod, runs } = await clusterNode();
  node.perform({ kind: 'createPod', pod: manifest('web') });
  await node.advance(10 * SECOND);
  node.kill();
  node.perform({ kind: 'failPod', pod: 'default/web' });
  await node.startAgent();
  await node.advance(MINUTE);
  expect(runs('web').map(({ state }) => state)).toEqual(['exited']);
  expect(pod('web')?.status).toMatchObject({
    phase: 'Failed',
    reason: 'NodeLost',
    containerStatuses: [{ ready: false, state: { terminated: { exitCode: 143 } } }],
  });
  expect(await node.settle(MINUTE)).toBe(true);
  node.kill();
});

function forget({ host: { files, disk } }: Node, directory: string): void {
  for (const file of files.readdirSync(directory)) disk.unlink(`${directory}/${file}`);
}

test('a pod that is terminal at the API server never runs again, even if all other state is lost', async () => {
  const { node, pod, runs } = await clusterNode();
  node.perform({ kind: 'createPod', pod: failing(5) });
  await node.advance(20 * SECOND);
  away(node, 2 * MINUTE);
  node.kill();
  node.perform({ kind: 'runtimeDown', downMs: 0, keepContainers: false });
  for (const kind of ['statuses', 'unacknowledged', 'allocations']) forget(node, `${PATHS.root}/statelet/${kind}`);
  await node.startAgent();
  await node.advance(10 * MINUTE);
  expect(pod('once')).toMatchObject(FAILED);
  expect(runs('once').filter(({ state }) => state === 'running')).toEqual([]);
  node.kill();
});

describe('a deleted pod', () => {
  const stubborn = manifest('web', {
    terminationGracePeriodSeconds: 120,
    containers: [container('main', { command: STUBBORN })],
  });

  test('terminates sooner if its grace period is shortened, and is then gone', async () => {
    const { node, pod } = await clusterNode();
    node.perform({ kind: 'createPod', pod: stubborn });
    await node.advance(10 * SECOND);
    node.perform({ kind: 'deletePod', pod: 'default/web' });
    await node.advance(5 * SECOND);
    expect(pod('web')).toMatchObject({ isDeleted: true });
    node.perform({ kind: 'deletePod', pod: 'default/web', graceSeconds: 10 });
    await node.advance(20 * SECOND);
    expect(pod('web')).toBeUndefined();
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  });

  test('that was also changed during an outage of the API server terminates within the grace period of the deletion', async () => {
    const { node, runs } = await clusterNode();
    node.perform({
      kind: 'createPod',
      pod: { ...stubborn, spec: { ...stubborn.spec, terminationGracePeriodSeconds: 2 } },
    });
    await node.advance(10 * SECOND);
    away(node, 20 * SECOND);
    const image = 'registry.local/pulled:1';
    node.perform({ kind: 'setImage', pod: 'default/web', container: 'main', image });
    node.perform({ kind: 'deletePod', pod: 'default/web', graceSeconds: 60 });
    await node.advance(70 * SECOND);
    expect(runs('web')).toMatchObject([{ state: 'running' }]);
    await node.advance(40 * SECOND);
    expect(runs('web')).toEqual([]);
    node.kill();
  });

  test('is gone at once if the deletion is forced, and its containers stop within its own grace period', async () => {
    const { node, pod, runs } = await clusterNode();
    node.perform({ kind: 'createPod', pod: stubborn });
    await node.advance(10 * SECOND);
    node.perform({ kind: 'deletePod', pod: 'default/web', graceSeconds: 0 });
    await node.advance(100 * SECOND);
    expect(pod('web')).toBeUndefined();
    expect(runs('web')).toMatchObject([{ state: 'running' }]);
    await node.advance(30 * SECOND);
    expect(runs('web')).toEqual([]);
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  });

  test('releases its name at once, so that two pods with the same name run side by side', async () => {
    const { node, pod, runs } = await clusterNode();
    node.perform({ kind: 'createPod', pod: stubborn });
    await node.advance(10 * SECOND);
    node.perform({ kind: 'replacePod', pod: stubborn });
    await node.advance(10 * SECOND);
    const [old, next] = runs('web');
    expect([old?.state, next?.state]).toEqual(['running', 'running']);
    expect(pod('web')).toMatchObject({ uid: next?.podUid, phase: 'Running', isDeleted: false });
    await node.advance(2 * MINUTE);
    expect(runs('web')).toEqual([next]);
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  });

  test('that is static reserves its name until it has terminated, while its successor waits', async () => {
    const { node, runs } = await clusterNode();
    node.apply(stubborn);
    await node.advance(10 * SECOND);
    node.apply({ ...stubborn, metadata: { ...stubborn.metadata, labels: { version: '2' } } });
    await node.advance(10 * SECOND);
    expect(runs('web-node-1').length).toBe(1);
    await node.advance(3 * MINUTE);
    expect(runs('web-node-1').filter(({ state }) => state === 'running').length).toBe(1);
    expect(await node.settle(MINUTE)).toBe(true);
    node.kill();
  });
});
