import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../testing/apiserver/json.ts';
import { strategicPatch } from '../../../../testing/apiserver/patch/strategicPatch.ts';
import { readTypes } from '../../../../testing/apiserver/schema/types.ts';

const types = readTypes();
const [pod, node] = ['Pod', 'Node'].map((kind) => types.kind('', 'v1', kind));
const ofPod = (original: JsonObject, patch: JsonObject) => strategicPatch(original, patch, pod);
const ofNode = (original: JsonObject, patch: JsonObject) => strategicPatch(original, patch, node);

const containers = (...names: string[]) => ({
  spec: { containers: names.map((name) => ({ name, image: `${name}:1` })) },
});

describe('a merged list', () => {
  test('changes entries by their merge key, and adds new ones before the rest that only the server has', () => {
    const patch = { spec: { containers: [{ name: 'b', image: 'b:2' }, { name: 'new' }] } };
    expect(ofPod(containers('a', 'b', 'c'), patch)).toEqual({
      spec: {
        containers: [
          { name: 'a', image: 'a:1' },
          { name: 'b', image: 'b:2' },
          { name: 'new' },
          { name: 'c', image: 'c:1' },
        ],
      },
    });
    // Recorded from a kube-apiserver for finalizers, which have no merge key.
    const finalizers = { metadata: { finalizers: ['example.com/a', 'example.com/b'] } };
    expect(ofPod(finalizers, { metadata: { finalizers: ['example.com/c'] } })).toEqual({
      metadata: { finalizers: ['example.com/c', 'example.com/a', 'example.com/b'] },
    });
  });

  test('removes entries by key, all entries, or primitive entries by value', () => {
    const one = { spec: { containers: [{ $patch: 'delete', name: 'a' }] } };
    expect(ofPod(containers('a', 'b'), one)).toEqual(containers('b'));
    const address = (type: string, at: string) => ({ type, address: at });
    const addresses = [address('InternalIP', '192.0.2.3'), address('InternalIP', 'fd00::3'), address('Hostname', 'h')];
    expect(
      ofNode(
        { status: { addresses: [address('ExternalIP', '192.0.2.9')] } },
        { status: { addresses: [...addresses, { $patch: 'replace' }] } },
      ),
    ).toEqual({ status: { addresses } });
    expect(
      ofPod(
        { metadata: { finalizers: ['a', 'b'] } },
        { metadata: { '$deleteFromPrimitiveList/finalizers': ['a', 'none'] } },
      ),
    ).toEqual({ metadata: { finalizers: ['b'] } });
  });

  test('has the order that the patch requests', () => {
    const order = { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }] };
    expect(ofPod(containers('a', 'b', 'c'), { spec: order })).toEqual(containers('b', 'c', 'a'));
    const patch = { spec: { ...order, containers: [{ name: 'c', image: 'c:2' }] } };
    expect(ofPod(containers('a'), patch)).toEqual({
      spec: {
        containers: [
          { name: 'c', image: 'c:2' },
          { name: 'a', image: 'a:1' },
        ],
      },
    });
  });
});

test('a list that is not merged, or a value of a different type, replaces the existing value', () => {
  const before = { spec: { tolerations: [{ key: 'a' }], nodeName: 'n' }, status: { phase: 'Running' } };
  const patch = { spec: { tolerations: [{ key: 'b' }], nodeName: null }, status: 'odd' };
  expect(ofPod(before, patch)).toEqual({ spec: { tolerations: [{ key: 'b' }] }, status: 'odd' });
});

test('null fields are dropped from a new object, and a new object with a delete directive is not created', () => {
  const patch = {
    metadata: { labels: { a: null, b: '1' } },
    spec: { $patch: 'delete' },
    status: { $retainKeys: ['a'] },
  };
  expect(ofPod({}, patch)).toEqual({ metadata: { labels: { b: '1' } }, status: { $retainKeys: ['a'] } });
});

test('an object can be emptied, replaced, or reduced to retained keys', () => {
  const before = { metadata: { labels: { a: '1' } } };
  expect(ofPod(before, { metadata: { labels: { $patch: 'delete' } } })).toEqual({ metadata: { labels: {} } });
  expect(ofPod(before, { metadata: { labels: { $patch: 'replace', b: '2' } } })).toEqual({
    metadata: { labels: { b: '2' } },
  });
  const volumes = { spec: { volumes: [{ name: 'v', emptyDir: {} }] } };
  const retained = { name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } };
  expect(ofPod(volumes, { spec: { volumes: [retained] } })).toEqual({
    spec: { volumes: [{ name: 'v', hostPath: { path: '/x' } }] },
  });
});

test.each<[string, number, JsonObject]>([
  [
    "The order in patch list:\n[map[type:Ready] map[type:MemoryPressure]]\n doesn't match $setElementOrder list:\n" +
      '[map[type:MemoryPressure] map[type:Ready]]\n',
    500,
    {
      '$setElementOrder/conditions': [{ type: 'MemoryPressure' }, { type: 'Ready' }],
      conditions: [{ type: 'Ready' }, { type: 'MemoryPressure' }],
    },
  ],
  ['map: map[status:True] does not contain declared merge key: type', 500, { conditions: [{ status: 'True' }] }],
  ['unknown patch type: odd in map: map[$patch:odd]', 500, { nodeInfo: { $patch: 'odd' } }],
  ['invalid patch format of setElementOrder list', 400, { '$setElementOrder/conditions': 'x' }],
  ['invalid patch format of primitive list', 400, { '$deleteFromPrimitiveList/volumesInUse': 'x' }],
  ['invalid patch format of retainKeys', 400, { nodeInfo: { $retainKeys: ['a'], b: 1 } }],
])('a patch that cannot be applied is rejected with the message of a kube-apiserver: %s', (message, code, status) => {
  const before = { status: { conditions: [{ type: 'Ready' }], nodeInfo: { machineID: '' } } };
  expect(() => ofNode(before, { status })).toThrow(expect.objectContaining({ message, code }));
});
