/** Containers that the runtime loses while no agent runs: the last reported status stands in for them (C13). */
import { readdir, rm } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { boundPod, joinedNode, PODS } from '../fakes/joinedNode.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podWith } from '../fakes/pods.ts';

const initialized = (): Pod =>
  podWith('web', {
    initContainers: [containerWith('setup', { command: ['true'] })],
    containers: [containerWith('main')],
  });

/** Restarts the agent over a runtime that has lost the exited containers with this name. */
async function restartWithout(node: SimulatedNode, name: string): Promise<void> {
  node.killAgent();
  node.runtime.restart({
    forget: (each) => 'containerName' in each && each.containerName === name && each.state === 'exited',
  });
  await node.startAgent();
}

describe('C13: after a restart of the agent', () => {
  test('reports a completed init container that the runtime has lost as before', async () => {
    const node = await simulatedNode({ pods: [initialized()] });
    await node.advance('3s');
    const before = node.container('web', 'setup');
    expect(before).toMatchObject({ ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } });
    await restartWithout(node, 'setup');
    await node.advance('3s');
    expect(node.container('web', 'setup')).toEqual(before);
    expect(node.pod('web').conditions).toContainEqual(expect.objectContaining({ type: 'Initialized', status: 'True' }));
    expect(node.calls('startContainer')).toHaveLength(2);
    node.remove('web');
    await node.advance('40s');
    expect(await node.leftovers()).toEqual([]);
    expect(await readdir(node.path('root/statelet/containerEnds'))).toEqual([]);
  });

  test('infers the completion of an unpersisted init container from the running pod', async () => {
    const node = await simulatedNode({
      pods: [initialized()],
      store: (real) => ({
        ...real,
        write: (...fact) => (fact[0] === 'containerEnds' ? Promise.resolve() : real.write(...fact)),
      }),
    });
    await node.advance('3s');
    await restartWithout(node, 'setup');
    await node.advance('3s');
    expect(node.container('web', 'setup')).toMatchObject({
      ready: true,
      state: {
        terminated: {
          exitCode: 0,
          reason: 'Completed',
          message:
            'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
        },
      },
    });
  });

  test('preserves the reported last state of a container whose previous run the runtime has lost', async () => {
    const node = await simulatedNode({
      pods: [podWith('web', { containers: [containerWith('main', { command: ['sh', '-c', 'sleep 2; exit 3'] })] })],
    });
    await node.advance('3s');
    const before = node.container('web');
    expect(before).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 3 } } });
    await restartWithout(node, 'main');
    await node.advance('500ms');
    expect(node.container('web')).toMatchObject({ restartCount: 1, lastState: before.lastState });
  });

  test('preserves the reported restart count and exit of a container even if its logs are lost as well', async () => {
    const { ask, node } = await joinedNode();
    const main = { name: 'main', image: IMAGE, command: ['sh', '-c', 'sleep 2; exit 3'] };
    await ask('POST', PODS, boundPod('web', { containers: [main] }));
    await node.advance('20s');
    const before = node.container('web');
    expect(before).toMatchObject({ state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 2 });
    node.killAgent();
    node.runtime.restart({ forget: () => true });
    await rm(node.path('logs'), { recursive: true });
    await node.startAgent();
    await node.advance('1500ms');
    expect(node.container('web')).toMatchObject({
      state: { running: {} },
      restartCount: 3,
      lastState: before.lastState,
    });
  });

  test('updates the API server with the last status of a lost init container and with every later status', async () => {
    const { ask, node } = await joinedNode();
    const setup = { name: 'setup', image: IMAGE, command: ['true'] };
    await ask('POST', PODS, boundPod('web', { initContainers: [setup] }));
    await node.advance('5s');
    const statusOf = async () => {
      const { status } = await ask('GET', `${PODS}/web`);
      return status instanceof Object && 'initContainerStatuses' in status ? status.initContainerStatuses : undefined;
    };
    const before = await statusOf();
    expect(before).toMatchObject([{ state: { terminated: { exitCode: 0 } } }]);
    await restartWithout(node, 'setup');
    await node.advance('30s');
    expect(await statusOf()).toEqual(before);
    expect([node.container('web', 'setup')]).toEqual(before);
    expect(node.errors).toEqual([]);
  });
});
