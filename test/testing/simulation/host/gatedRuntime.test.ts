import { expect, test } from '@jest/globals';
import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { planTargetedFaults } from '../../../../testing/simulation/stories/variants/targetedFaults.ts';

test.each([
  ['UNKNOWN', 'exited', 128],
  ['NOT_FOUND', 'exited', 128],
  ['ALREADY_EXISTS', 'exited', 128],
  ['UNAVAILABLE', 'created', undefined],
  ['CANCELLED', 'created', undefined],
  ['RESOURCE_EXHAUSTED', 'created', undefined],
])('a container whose start fails with %s is %s, as with containerd', async (code, state, exitCode) => {
  const faults = planTargetedFaults([
    { call: { target: 'runtime', name: 'startContainer' }, fault: { kind: 'fail', code } },
  ]);
  const node = await simulateNode({ seed: 1, faults });
  node.apply(manifest('web'));
  while (faults.left() > 0) await node.advance(1);
  expect(node.host.containers()).toMatchObject([{ state, exitCode }]);
});

test('a container whose start fails is reported as exited to an observer', async () => {
  const effects: string[] = [];
  const onEffect = ({ kind, container }: RuntimeEffect) => {
    if (container?.podName.startsWith('web-')) effects.push(kind);
  };
  const lookingOn: Invariant = { number: 4, description: '', follow: () => ({ onEffect }) };
  const fault = { kind: 'fail', code: 'UNKNOWN' } as const;
  const faults = planTargetedFaults([{ call: { target: 'runtime', name: 'startContainer' }, fault }]);
  const node = await simulateNode({ seed: 1, faults, invariants: [lookingOn] });
  node.apply(manifest('web'));
  while (faults.left() > 0) await node.advance(1);
  expect(effects).toEqual(['created', 'ended']);
});

test('an agent whose event stream fails notices an exit by its next list, and reopens the stream', async () => {
  const { call, ...struck } = { call: { target: 'runtime', name: 'getContainerEvents' } as const, times: 1 };
  const faults = planTargetedFaults([{ call, fault: { kind: 'fail', code: 'UNAVAILABLE' }, ...struck }]);
  const asked: number[] = [];
  const node = await simulateNode({
    seed: 1,
    faults: (each, index, at) => {
      if (each.name === call.name) asked.push(at);
      return faults(each, index, at);
    },
  });
  node.apply(manifest('web'));
  await node.advance(60_000);
  expect(asked.length).toBe(2);
  const [first] = node.host.running();
  node.host.exit(0, 1);
  await node.advance(30_000);
  const [second] = node.host.running();
  expect(second?.id).not.toBe(first?.id);
  expect(second?.podName).toBe(first?.podName);
  node.kill();
});
