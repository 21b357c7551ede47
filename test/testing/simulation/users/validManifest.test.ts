import { expect, test } from '@jest/globals';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { validManifest } from '../../../../testing/simulation/users/validManifest.ts';

const named = (name: string, namespace = 'default') => ({ ...manifest('web'), metadata: { name, namespace } });

test('a valid manifest is returned unchanged', () => {
  const web = manifest('web');
  expect(validManifest(web)).toEqual(web);
});

test.each([
  [undefined, 'the node takes no such manifest: the file is empty'],
  [null, 'the node takes no such manifest: '],
  [[manifest('web')], 'the node takes no such manifest: '],
  [{ ...manifest('web'), spec: null }, 'the node takes no such manifest: spec.containers: Required value'],
  [named('__proto__'), 'metadata.name: Invalid value: "__proto__'],
  [named('a\u001bb'), 'metadata.name: Invalid value: "a\\u001bb'],
  [named('x'.repeat(247)), 'metadata.name: '],
  [manifest('web', { volumes: [{ name: 'key', secret: { secretName: 'key' } }] }), 'spec.volumes[0]'],
])('an invalid manifest is rejected with the reason (%#)', (pod, message) => {
  expect(() => validManifest(pod)).toThrow(TypeError);
  expect(() => validManifest(pod)).toThrow(message);
});

test('a manifest is valid if a lenient node ignores its problems', () => {
  const pod = manifest('web', { volumes: [{ name: 'key', secret: { secretName: 'key', optional: true } }] });
  expect(() => validManifest(pod)).toThrow('spec.volumes[0]');
  expect(validManifest(pod, { isLenient: true })).toEqual(pod);
});

test('a node can run pods with the same name in two namespaces', async () => {
  const node = await simulateNode({ seed: 1, invariants });
  for (const namespace of ['default', 'other']) node.apply(named('web', namespace));
  await node.settle(60_000);
  const names = () => node.pods().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(names().toSorted()).toEqual(['default/web-node-1', 'other/web-node-1']);
  node.remove('web');
  await node.settle(600_000);
  expect(names()).toEqual(['other/web-node-1']);
  node.remove('other/web-node-1');
  await node.settle(600_000);
  expect(names()).toEqual([]);
});

test('a manifest with the longest pod name fits into the manifest directory', async () => {
  const node = await simulateNode({ seed: 1 });
  const name = 'x'.repeat(246);
  node.apply(named(name));
  await node.advance(60_000);
  // The name of the pod's log directory also contains the UID.
  expect(node.explain(name)?.answer).toMatch(/name too long/);
});

test('a manifest that the node rejects is not written', async () => {
  const node = await simulateNode({ seed: 1, invariants });
  expect(() => node.apply(named('UPPER'))).toThrow('metadata.name');
  expect(await node.settle(60_000)).toBe(true);
});

const web = { ...manifest('web') };
const circular = { ...web };
Object.assign(circular, { self: [circular] });
const deep = Array.from({ length: 20_000 }).reduce((inner: object) => ({ inner }), {});

test.each([
  [
    'spec.terminationGracePeriodSeconds: expected JSON, got bigint',
    { ...web, spec: { terminationGracePeriodSeconds: 5n } },
  ],
  ['spec.containers[0]: expected JSON, got bigint', { ...web, spec: { containers: [5n] } }],
  ['self[0]: contains itself', circular],
  ['inner: is nested deeper than 500 levels', deep],
  ['expected JSON, got bigint', 5n],
])('a value that is not JSON is rejected with its field: %s', (message, pod) => {
  expect(() => validManifest(pod)).toThrow(new TypeError(`the node takes no such manifest: ${message}`));
});
