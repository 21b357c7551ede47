import { expect, test } from '@jest/globals';
import { type Simulation, simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';

const SECOND = 1_000;
/** Interval at which the directory is listed. */
const LIST_MS = 20 * SECOND;

/**
 * Returns the milliseconds from writing a manifest, just after the directory was listed, until the node has the pod.
 */
async function heardAfter(node: Simulation, name: string): Promise<number> {
  const began = node.elapsed;
  node.apply(manifest(name));
  while (!node.pods().some(({ metadata }) => metadata.name.startsWith(name))) await node.advance(100);
  return node.elapsed - began;
}

async function node(): Promise<Simulation> {
  const made = await simulateNode({ seed: 1 });
  await made.advance(SECOND);
  return made;
}

const sourceOf = (it: Simulation) => JSON.stringify(it.explainNode());

test('a new pod is noticed at once, late if file events are delayed, and by the next list if they are dropped', async () => {
  const it = await node();
  expect(await heardAfter(it, 'well')).toBeLessThan(SECOND);
  it.perform({ kind: 'watches', fault: 'doubled', forMs: SECOND });
  expect(await heardAfter(it, 'doubled')).toBeLessThan(SECOND);
  it.perform({ kind: 'watches', fault: 'late', forMs: SECOND });
  const late = await heardAfter(it, 'late');
  expect(late).toBeGreaterThan(2 * SECOND);
  expect(late).toBeLessThan(4 * SECOND);
  it.perform({ kind: 'watches', fault: 'dropped', forMs: SECOND });
  const lost = await heardAfter(it, 'lost');
  expect(lost).toBeGreaterThan(5 * SECOND);
  expect(lost).toBeLessThan(LIST_MS);
  it.kill();
});

test('lists make up for a directory watch that has failed, until it can be restarted', async () => {
  const it = await node();
  it.perform({ kind: 'watches', fault: 'exhausted', forMs: 15 * SECOND });
  await it.advance(2 * SECOND);
  expect(sourceOf(it)).toContain('ENOSPC');
  expect(await heardAfter(it, 'listed')).toBeGreaterThan(5 * SECOND);
  await it.advance(LIST_MS);
  expect(sourceOf(it)).not.toContain('ENOSPC');
  expect(await heardAfter(it, 'watched')).toBeLessThan(SECOND);
  it.kill();
});

test.each(['ENOSPC', 'EMFILE'])(
  'a directory watch that fails with %s when the agent starts is retried with a later list',
  async (code) => {
    let struck = 0;
    const it = await simulateNode({
      seed: 1,
      faults: ({ name }) => (name === 'watch' && struck++ === 0 ? { kind: 'fail', code } : undefined),
    });
    await it.advance(SECOND);
    expect(sourceOf(it)).toContain(code);
    await it.advance(LIST_MS);
    expect(struck).toBe(2);
    expect(await heardAfter(it, 'watched')).toBeLessThan(SECOND);
    it.kill();
  },
);
