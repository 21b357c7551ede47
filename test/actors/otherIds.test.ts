import { expect, test } from '@jest/globals';
import type { ExecScript } from '../../cri/simulated/calls/exec.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podRunning, podWith } from '../fakes/pods.ts';

/** Restarts the runtime, after which its sandboxes and containers have other IDs. */
async function giveOtherIds(node: SimulatedNode, awayFor = '1s'): Promise<void> {
  node.runtime.down();
  await node.advance(awayFor);
  node.runtime.restart({ rename: () => true });
}

const running = (node: SimulatedNode) =>
  [...node.runtime.containers()].flatMap(({ id, containerName, state }) =>
    state === 'running' ? [`${containerName} ${id}`] : [],
  );
const statusId = (node: SimulatedNode, name?: string) => node.container('web', name).containerID?.split('//')[1];

test('a running pod whose container IDs change continues to run, and reports its new IDs', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('2s');
  const before = node.container('web');
  await giveOtherIds(node);
  await node.advance('5s');
  const now = node.container('web');
  expect(running(node)).toEqual([`main ${statusId(node)}`]);
  expect(now.containerID).not.toBe(before.containerID);
  expect({ ...now, containerID: before.containerID }).toEqual(before);
  expect(node.sandboxId('web')).toBe([...node.runtime.sandboxes()][0]?.id);
  expect(node.calls('stopContainer', 'stopPodSandbox')).toEqual([]);
  // The removal of the pod stops the container with the new ID.
  node.remove('web');
  await node.advance('40s');
  expect(await node.leftovers()).toEqual([]);
});

test('a container known only by its new ID exits and restarts like any other', async () => {
  const node = await simulatedNode({ pods: [podRunning('web', 'sleep 20; exit 3')] });
  await node.advance('5s');
  await giveOtherIds(node);
  await node.advance('17s');
  expect(node.container('web')).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } });
});

test('C29: under a new container ID the probes start over, and the container is ready once they have passed', async () => {
  const probe = { exec: { command: ['check'] }, periodSeconds: 1, failureThreshold: 30 };
  const pod = podWith('web', { containers: [containerWith('main', { startupProbe: probe, readinessProbe: probe })] });
  const probed = { passes: true, ids: new Set<string>() };
  const exec: ExecScript = ({ containerId }) => {
    probed.ids.add(containerId);
    return { exitCode: probed.passes ? 0 : 1 };
  };
  const node = await simulatedNode({ pods: [pod], runtime: { exec } });
  await node.advance('5s');
  expect(node.container('web')).toMatchObject({ started: true, ready: true });
  const former = statusId(node);
  probed.passes = false;
  await giveOtherIds(node, '0s');
  await node.advance('3500ms');
  expect(node.container('web')).toMatchObject({ started: false, ready: false, restartCount: 0 });
  probed.passes = true;
  await node.advance('3s');
  expect(node.container('web')).toMatchObject({ started: true, ready: true, restartCount: 0 });
  expect([...probed.ids]).toEqual([former, statusId(node)]);
});

test('C29: probe results of a container that was started by an earlier agent survive a new container ID', async () => {
  const probe = { exec: { command: ['check'] }, periodSeconds: 60 };
  const pod = podWith('web', { containers: [containerWith('main', { startupProbe: probe, readinessProbe: probe })] });
  const node = await simulatedNode({ pods: [pod] });
  await node.advance('5s');
  await node.restartAgent();
  await node.advance('5s');
  await giveOtherIds(node, '0s');
  await node.advance('5s');
  expect(node.container('web')).toMatchObject({ started: true, ready: true, restartCount: 0 });
  expect(running(node)).toEqual([`main ${statusId(node)}`]);
});

test.each(['0s', '1s', '20s'])(
  'a terminating pod stops within its grace period if the runtime returns with new IDs after %s',
  async (away) => {
    const behaviours = { 'statelet.local/app:1': { ignoresSigterm: true } };
    const node = await simulatedNode({ pods: [podWith('web')], runtime: { behaviours } });
    await node.advance('5s');
    node.remove('web');
    await node.advance('5s');
    await giveOtherIds(node, away);
    const timeouts = () =>
      node.calls('stopContainer').map(({ request }) => Number((request as { timeout: bigint }).timeout));
    await node.advance('40s');
    expect(timeouts()[0]).toBe(30);
    expect(timeouts().toSorted((a, b) => b - a)).toEqual(timeouts());
    expect(Math.max(...timeouts().slice(1))).toBeLessThanOrEqual(25);
    expect(await node.leftovers()).toEqual([]);
  },
);

test.each(Array.from({ length: 12 }, (_, i) => i * 300))(
  'init containers and sidecars continue where they were if all IDs change %i ms after their pod arrives',
  async (ms) => {
    const pod = podWith('web', {
      initContainers: [
        containerWith('setup', { command: ['sleep', '1'] }),
        containerWith('sidecar', { restartPolicy: 'Always' }),
        containerWith('check', { command: ['sleep', '1'] }),
      ],
    });
    const node = await simulatedNode({ pods: [pod] });
    await node.advance(`${ms}ms`);
    await giveOtherIds(node, '100ms');
    await node.advance('20s');
    const names = ['setup', 'sidecar', 'check', 'main'];
    expect(names.map((name) => node.container('web', name).restartCount)).toEqual([0, 0, 0, 0]);
    expect([...node.runtime.containers()].map(({ containerName }) => containerName)).toEqual(names);
    expect([...node.runtime.sandboxes()]).toHaveLength(1);
    expect(names.map((name) => statusId(node, name))).toEqual([...node.runtime.containers()].map(({ id }) => id));
  },
);

test('a new agent adopts containers whose IDs changed while no agent was running', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('5s');
  const { restartCount, state } = node.container('web');
  node.killAgent();
  await giveOtherIds(node);
  await node.startAgent();
  await node.advance('10s');
  expect(node.container('web')).toMatchObject({ restartCount, state, ready: true });
  expect(running(node)).toEqual([`main ${statusId(node)}`]);
});

test('a new agent that has listed the old container IDs still adopts the container', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('5s');
  for (const call of ['podSandboxStatus', 'containerStatus'] as const) {
    node.runtime.faults.add({ call, delayMs: 1_000 });
    await node.restartAgent();
    await node.advance('200ms');
    await giveOtherIds(node, '0s');
    await node.advance('20s');
    expect([call, node.container('web').restartCount, running(node).length]).toEqual([call, 0, 1]);
    expect(running(node)).toEqual([`main ${statusId(node)}`]);
  }
});

test('a container in back-off shows its dead runs under their new IDs', async () => {
  const node = await simulatedNode({ pods: [podRunning('web', 'exit 3')] });
  await node.advance('16s');
  const before = node.container('web');
  expect(before).toMatchObject({ state: { waiting: { reason: 'CrashLoopBackOff' } } });
  await giveOtherIds(node, '0s');
  await node.advance('3s');
  const ids = [...node.runtime.containers()].map(({ id }) => id);
  const now = node.container('web');
  expect(now.restartCount).toBe(before.restartCount);
  expect(now.lastState?.terminated?.containerID?.split('//')[1]).toBe(ids.at(-1));
  await node.advance('40s');
  expect(node.container('web').restartCount).toBe(before.restartCount + 1);
});
