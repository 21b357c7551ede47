import { expect, test } from '@jest/globals';
import { simulateNode } from '../../simulation/simulateNode.ts';
import { manifest } from '../../simulation/stories/manifests.ts';
import { striking } from '../../simulation/stories/striking.ts';

test.each([
  ['UNKNOWN', 'exited', 128],
  ['UNAVAILABLE', 'created', undefined],
])('a container whose start fails with %s is %s, as with containerd', async (code, state, exitCode) => {
  const faults = striking([{ call: { room: 'runtime', name: 'startContainer' }, fate: { kind: 'fail', code } }]);
  const node = await simulateNode({ seed: 1, faults });
  node.apply(manifest('web'));
  while (faults.left() > 0) await node.advance(1);
  expect(node.host.containers()).toMatchObject([{ state, exitCode }]);
});
