import { expect, test } from '@jest/globals';
import { simulateNode } from '../../simulation/simulateNode.ts';
import { manifest } from '../../simulation/stories/manifests.ts';

test('what would have ended an outage that a power cut ended before does not end the next', async () => {
  const node = await simulateNode({ seed: 1 });
  const { host } = node;
  node.apply(manifest('web'));
  await node.advance(10_000);
  host.stopRuntime({ downMs: 20_000, keepContainers: true, forgets: 1 });
  node.cutPower();
  expect(host.runtime.isUp).toBe(true);
  const sandboxes = host.sandboxes().length;
  host.stopRuntime({ downMs: 40_000, keepContainers: true });
  await node.advance(30_000);
  expect(host.runtime.isUp).toBe(false);
  await node.advance(10_000);
  expect(host.runtime.isUp).toBe(true);
  expect(host.sandboxes()).toHaveLength(sandboxes);
});
