/** A sandbox that another client removes while the lists of the runtime are outdated. */
import { expect, test } from '@jest/globals';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const image = 'registry.local/app:2';
const pods = [podWith('web', { containers: [containerWith('main', { image })] })];
const pulledIn = (pullMs: number) => ({ pods, runtime: { images: { registry: { [image]: { pullMs } } } } });

test('C8: a sandbox in which no container can be created is checked by its status, although lists still show it', async () => {
  const node = await simulatedNode(pulledIn(20_000));
  await node.advance('15s');
  const first = node.sandboxId('web');
  node.runtime.listResults.freeze();
  node.runtime.removeSandbox(first);
  await node.advance('6s');
  expect(node.calls('runPodSandbox')).toHaveLength(2);
  expect(node.calls('createContainer')).toHaveLength(2);
  await node.advance('30s');
  node.runtime.listResults.thaw();
  await node.advance('15s');
  expect(node.container('web').state).toHaveProperty('running');
  expect(node.sandboxId('web')).not.toBe(first);
  expect(node.calls('runPodSandbox')).toHaveLength(2);
});

test('C8: a lost sandbox that no list has shown yet is detected by the first current list', async () => {
  const node = await simulatedNode(pulledIn(40_000));
  node.runtime.listResults.freeze();
  await node.advance('15s');
  const first = node.sandboxId('web');
  // Each list without the sandbox is a reason to request its status.
  expect(node.calls('podSandboxStatus').length).toBeGreaterThan(1);
  node.runtime.removeSandbox(first);
  node.runtime.listResults.thaw();
  await node.advance('11s');
  expect(node.calls('runPodSandbox')).toHaveLength(2);
  expect(node.sandboxId('web')).not.toBe(first);
});
