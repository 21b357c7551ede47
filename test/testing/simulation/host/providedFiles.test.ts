import { expect, test } from '@jest/globals';
import { PRIVATE_IMAGE, RUNTIME_CLASS } from '../../../../testing/simulation/host/providedFiles.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';

const SECOND = 1_000;
const hidden = manifest('hidden', { containers: [container('main', { image: PRIVATE_IMAGE })] });

test('an image that requires authentication is pulled with the credentials of the node', async () => {
  const node = await simulateNode({ seed: 1 });
  node.apply(hidden);
  await node.advance(20 * SECOND);
  expect(node.host.running()).toHaveLength(1);
  node.kill();
});

test('an image that requires authentication is denied until the credentials can be read', async () => {
  const node = await simulateNode({
    seed: 1,
    faults: ({ about }) => (about.endsWith('/config.json') ? { kind: 'fail', code: 'EIO' } : undefined),
  });
  node.apply(hidden);
  await node.advance(20 * SECOND);
  expect(node.explain('hidden')?.answer).toContain('pull access denied');
  node.endFaults();
  await node.advance(30 * SECOND);
  expect(node.host.running()).toHaveLength(1);
  node.kill();
});

test('a pod gets the overhead of its RuntimeClass, and a pod whose RuntimeClass is missing is not admitted', async () => {
  const node = await simulateNode({ seed: 1 });
  node.apply(manifest('roomy', { runtimeClassName: RUNTIME_CLASS }));
  const lost = manifest('lost', { runtimeClassName: 'not-there' });
  expect(() => node.apply(lost)).toThrow('RuntimeClass "not-there" not found');
  node.perform({ kind: 'scribble', file: 'lost.json', text: JSON.stringify(lost) });
  await node.advance(20 * SECOND);
  expect(node.pods().map(({ metadata, spec }) => [metadata.name, spec.overhead])).toEqual([
    ['roomy-node-1', { cpu: '50m', memory: '8Mi' }],
  ]);
  node.kill();
});
