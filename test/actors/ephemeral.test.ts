import { expect, test } from '@jest/globals';
import * as wire from '../../cri/generated/runtime.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const debugged = (target: string) =>
  podWith('web', { ephemeralContainers: [{ ...containerWith('debug'), targetContainerName: target }] });

test('an ephemeral container shares the process namespace of its target, and has its own status', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('2s');
  node.apply(debugged('main'));
  await node.advance('2s');
  const request = node.calls('createContainer').at(-1)?.request as wire.CreateContainerRequest | undefined;
  expect(request?.config?.linux?.securityContext?.namespaceOptions).toMatchObject({
    pid: wire.NamespaceMode.TARGET,
    targetId: node.containerId('web'),
  });
  expect(node.pod('web')).toMatchObject({
    phase: 'Running',
    ephemeralContainerStatuses: [{ name: 'debug', state: { running: {} }, ready: false, restartCount: 0 }],
  });
  node.runtime.exitContainer(node.containerId('web', 'debug'), 1);
  await node.advance('1m');
  expect(node.pod('web')).toMatchObject({
    phase: 'Running',
    ephemeralContainerStatuses: [{ state: { terminated: { exitCode: 1, reason: 'Error' } } }],
  });
  expect(node.pod('web').conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
});

test('an ephemeral container with a missing target is not created, and its status says why', async () => {
  const node = await simulatedNode({ pods: [podWith('web')] });
  await node.advance('2s');
  node.apply(debugged('nobody'));
  await node.advance('2s');
  const message = 'unable to find target container nobody';
  expect(node.pod('web').ephemeralContainerStatuses).toMatchObject([
    { state: { waiting: { reason: 'CreateContainerConfigError', message } } },
  ]);
});
