import { expect, test } from '@jest/globals';
import type { RuntimeEffect } from '../../cri/simulated/views.ts';
import type { Invariant } from '../../simulation/invariants/invariant.ts';
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

test('a container whose start fails has ended for whoever looks on', async () => {
  const effects: string[] = [];
  const onEffect = ({ kind, container }: RuntimeEffect) => {
    if (container?.podName.startsWith('web-')) effects.push(kind);
  };
  const lookingOn: Invariant = { number: 4, says: '', follow: () => ({ onEffect }) };
  const fate = { kind: 'fail', code: 'UNKNOWN' } as const;
  const faults = striking([{ call: { room: 'runtime', name: 'startContainer' }, fate }]);
  const node = await simulateNode({ seed: 1, faults, invariants: [lookingOn] });
  node.apply(manifest('web'));
  while (faults.left() > 0) await node.advance(1);
  expect(effects).toEqual(['created', 'ended']);
});
