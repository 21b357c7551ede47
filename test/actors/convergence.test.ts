import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { IMAGE } from '../fakes/pods.ts';
import { OTHER_IMAGE, type Trouble, Troublemaker, troubles } from '../fakes/trouble.ts';

/** The phases that a pod of each kind may have in the end. */
const ENDS = [['Running'], ['Running'], ['Running'], ['Succeeded'], ['Running', 'Succeeded', 'Failed'], ['Running']];

/** Returns the containers that run more than once, by the UID of the pod and the name of the container. */
function doubles(node: SimulatedNode): string[] {
  const { containers } = node.runtime.contents();
  const running = containers.filter(({ state }) => state === 1);
  const names = running.map(({ labels, metadata }) => `${labels['io.kubernetes.pod.uid']}/${metadata?.name}`);
  return names.filter((name, index) => names.indexOf(name) !== index);
}

async function survive(sequence: readonly Trouble[]): Promise<void> {
  const node = await simulatedNode({
    runtime: { images: { present: [IMAGE, OTHER_IMAGE] } },
    config: { startSlots: 2, crashLoop: { baseMs: 2_000, maxMs: 10_000 } },
  });
  const maker = new Troublemaker(node);
  for (const trouble of sequence) {
    await maker.make(trouble);
    expect(doubles(node)).toEqual([]);
  }
  await maker.end();
  await node.advance('90s');
  const wanted = [...maker.wanted];
  for (const kind of wanted) {
    const { phase } = node.pod(`pod-${kind}`);
    expect([kind, phase, node.view(`pod-${kind}`).state]).toEqual([
      kind,
      expect.stringMatching(ENDS[kind]?.join('|') ?? ''),
      expect.anything(),
    ]);
    if (phase === 'Running' && kind !== 2) {
      expect([kind, node.pod(`pod-${kind}`).containerStatuses?.every(({ ready }) => ready)]).toEqual([kind, true]);
    }
  }
  expect(
    node
      .views()
      .map(({ pod }) => pod.metadata.name)
      .sort(),
  ).toEqual(wanted.map((kind) => `pod-${kind}`).sort());
  expect(doubles(node)).toEqual([]);
  const ready = node.runtime.contents().sandboxes.filter(({ state }) => state === 0);
  expect(ready.length).toBeLessThanOrEqual(wanted.length);
  node.remove(...wanted.map((kind) => `pod-${kind}`));
  await node.advance('1m');
  expect(await node.leftovers()).toEqual([]);
  await node.end();
}

test('after any sequence of faults the node converges to exactly the wanted pods', async () => {
  // `npm run soak` plays random stories with the same kinds of faults for as long as desired.
  await fc.assert(fc.asyncProperty(troubles, survive), { numRuns: 15, seed: 1 });
}, 120_000);
