import { expect, test } from '@jest/globals';
import type { Watched } from '../../../simulation/invariants/invariant.ts';
import { startOrder } from '../../../simulation/invariants/startOrder.ts';
import { simulateNode } from '../../../simulation/simulateNode.ts';
import { manifest } from '../../../simulation/stories/manifests.ts';

test('no sandbox is made before the volumes of its pod', async () => {
  const node = await simulateNode({ seed: 1 });
  const volumes = [
    { name: 'there', emptyDir: {} },
    { name: 'host', hostPath: { path: '/etc/hosts' } },
  ];
  node.apply(manifest('web', { volumes }));
  await node.advance(10_000);
  const [pod] = node.pods();
  const [sandbox] = node.host.sandboxes();
  if (pod === undefined || sandbox === undefined) throw new Error('the pod does not run');
  const broken: string[] = [];
  const watched = { host: node.host, podOf: () => pod };
  const { onEffect } = startOrder.follow(watched as unknown as Watched, (message) => void broken.push(message));
  onEffect?.({ kind: 'created', sandbox });
  expect(broken).toEqual([]);
  pod.spec.volumes?.push({ name: 'memory', emptyDir: { medium: 'Memory' } });
  onEffect?.({ kind: 'created', sandbox });
  expect(broken).toEqual(['default/web-node-1: its sandbox was made before its volume memory']);
  node.kill();
});
