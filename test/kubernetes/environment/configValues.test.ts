import { describe, expect, test } from '@jest/globals';
import { textToBytes } from '../../../base/text/byteText.ts';
import {
  objectKey,
  type ResolvedObjects,
  readAllValues,
  readKeyValue,
  referencedObjects,
} from '../../../kubernetes/environment/configValues.ts';
import { type ConfigObject, readConfigObject } from '../../../kubernetes/objects/configObject.ts';
import { ObjectNotFound } from '../../../kubernetes/objects/podObjects.ts';
import { aContainer } from '../fixtures.ts';

const metadata = (name: string) => ({ namespace: 'shop', name, uid: name, resourceVersion: '1' });
const base64 = (bytes: string | number[]) => Buffer.from(bytes as string).toString('base64');
const settings = readConfigObject('ConfigMap', {
  metadata: metadata('settings'),
  data: { color: 'blue', empty: '', constructor: 'a key' },
  binaryData: { logo: base64([0, 255]) },
});
const key = readConfigObject('Secret', {
  metadata: metadata('key'),
  data: { password: base64('größe'), bytes: base64([0xff]), bom: base64([0xef, 0xbb, 0xbf, 65]) },
});
const found: ResolvedObjects = new Map<string, ConfigObject | Error>([
  ...[settings, key].map((object) => [objectKey(object), object] as const),
  ['Secret/gone', new ObjectNotFound('Secret', 'gone')],
  ['Secret/unread', new Error('secrets "unread" is forbidden: no relationship found')],
]);

const refusal = (message: string, reason = 'CreateContainerConfigError') =>
  expect.objectContaining({ reason, message });
const ofMap = (name: string, of: string, optional = false) =>
  readKeyValue({ configMapKeyRef: { name, key: of, optional } }, found, 'shop');
const ofSecret = (name: string, of: string, optional = false) =>
  readKeyValue({ secretKeyRef: { name, key: of, optional } }, found, 'shop');

describe('C37: a variable from one key', () => {
  test('has the text of the key, even if it is empty', () => {
    expect([ofMap('settings', 'color'), ofMap('settings', 'empty'), ofMap('settings', 'constructor')]).toEqual([
      'blue',
      '',
      'a key',
    ]);
    expect([ofSecret('key', 'password'), ofSecret('key', 'bom')]).toEqual(['größe', '\ufeffA']);
  });

  test.each<[string, () => unknown, string]>([
    ['object', () => ofSecret('gone', 'a'), 'secret "gone" not found'],
    ['object that was never requested', () => ofMap('never', 'a'), 'configmap "never" not found'],
    ['key', () => ofMap('settings', 'toString'), "couldn't find key toString in ConfigMap shop/settings"],
    ['key of a Secret', () => ofSecret('key', 'none'), "couldn't find key none in Secret shop/key"],
    ['text, as it is bytes', () => ofMap('settings', 'logo'), "couldn't find key logo in ConfigMap shop/settings"],
    ['right', () => ofSecret('unread', 'a', true), 'secrets "unread" is forbidden: no relationship found'],
  ])("fails with the kubelet's message without its %s", (_what, look, message) => {
    expect(look).toThrow(refusal(message));
  });

  test('is left out if it is optional and the object or key does not exist', () => {
    expect([ofSecret('gone', 'a', true), ofMap('settings', 'none', true)]).toEqual([undefined, undefined]);
  });

  test('preserves the bytes of a Secret', () => {
    expect(textToBytes(ofSecret('key', 'bytes') ?? '')).toEqual(Buffer.from([0xff]));
  });
});

describe('C37: variables from all keys of an object', () => {
  test('have the texts of the object', () => {
    expect(readAllValues({ configMapRef: { name: 'settings' } }, found)).toEqual({
      color: 'blue',
      empty: '',
      constructor: 'a key',
    });
  });

  test("fail with the kubelet's message if the object does not exist, unless it is optional", () => {
    expect(() => readAllValues({ secretRef: { name: 'gone' } }, found)).toThrow(refusal('secret "gone" not found'));
    expect(readAllValues({ secretRef: { name: 'gone', optional: true } }, found)).toBeUndefined();
    expect(() => readAllValues({ secretRef: { name: 'unread', optional: true } }, found)).toThrow('is forbidden');
  });
});

test('the objects that a container references in either way are listed without duplicates', () => {
  const container = aContainer({
    envFrom: [{ configMapRef: { name: 'a' } }, { prefix: 'P_', secretRef: { name: 'a' } }],
    env: [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'k' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'b', key: 'k' } } },
      { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'D', value: 'd' },
    ],
  });
  expect(referencedObjects(container).map(objectKey)).toEqual(['ConfigMap/a', 'Secret/a', 'Secret/b']);
});
