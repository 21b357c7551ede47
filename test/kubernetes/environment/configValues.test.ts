import { describe, expect, test } from '@jest/globals';
import { bytesOfText } from '../../../base/byteText.ts';
import {
  allValues,
  type FoundObjects,
  keyOfObject,
  objectsOf,
  oneValue,
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
const found: FoundObjects = new Map<string, ConfigObject | Error>([
  ...[settings, key].map((object) => [keyOfObject(object), object] as const),
  ['Secret/gone', new ObjectNotFound('Secret', 'gone')],
  ['Secret/unread', new Error('secrets "unread" is forbidden: no relationship found')],
]);

const refusal = (message: string, reason = 'CreateContainerConfigError') =>
  expect.objectContaining({ reason, message });
const ofMap = (name: string, of: string, optional = false) =>
  oneValue({ configMapKeyRef: { name, key: of, optional } }, found, 'shop');
const ofSecret = (name: string, of: string, optional = false) =>
  oneValue({ secretKeyRef: { name, key: of, optional } }, found, 'shop');

describe('C37: a variable of one key', () => {
  test('is its text, be it empty', () => {
    expect([ofMap('settings', 'color'), ofMap('settings', 'empty'), ofMap('settings', 'constructor')]).toEqual([
      'blue',
      '',
      'a key',
    ]);
    expect([ofSecret('key', 'password'), ofSecret('key', 'bom')]).toEqual(['größe', '\ufeffA']);
  });

  test.each<[string, () => unknown, string]>([
    ['object', () => ofSecret('gone', 'a'), 'secret "gone" not found'],
    ['object that nobody was asked for', () => ofMap('never', 'a'), 'configmap "never" not found'],
    ['key', () => ofMap('settings', 'toString'), "couldn't find key toString in ConfigMap shop/settings"],
    ['key of a Secret', () => ofSecret('key', 'none'), "couldn't find key none in Secret shop/key"],
    ['text, as it is bytes', () => ofMap('settings', 'logo'), "couldn't find key logo in ConfigMap shop/settings"],
    ['right', () => ofSecret('unread', 'a', true), 'secrets "unread" is forbidden: no relationship found'],
  ])('without its %s is told in the words of a kubelet', (_what, look, message) => {
    expect(look).toThrow(refusal(message));
  });

  test('that is optional is left out where the object or the key is not there', () => {
    expect([ofSecret('gone', 'a', true), ofMap('settings', 'none', true)]).toEqual([undefined, undefined]);
  });

  test('is whatever bytes a Secret has', () => {
    expect(bytesOfText(ofSecret('key', 'bytes') ?? '')).toEqual(Buffer.from([0xff]));
  });
});

describe('C37: all keys of an object', () => {
  test('are its texts', () => {
    expect(allValues({ configMapRef: { name: 'settings' } }, found)).toEqual({
      color: 'blue',
      empty: '',
      constructor: 'a key',
    });
  });

  test('of one that is not there are told in the words of a kubelet, or none where it is optional', () => {
    expect(() => allValues({ secretRef: { name: 'gone' } }, found)).toThrow(refusal('secret "gone" not found'));
    expect(allValues({ secretRef: { name: 'gone', optional: true } }, found)).toBeUndefined();
    expect(() => allValues({ secretRef: { name: 'unread', optional: true } }, found)).toThrow('is forbidden');
  });
});

test('the objects of a container are those of both kinds of references, each once', () => {
  const container = aContainer({
    envFrom: [{ configMapRef: { name: 'a' } }, { prefix: 'P_', secretRef: { name: 'a' } }],
    env: [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'k' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'b', key: 'k' } } },
      { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'D', value: 'd' },
    ],
  });
  expect(objectsOf(container).map(keyOfObject)).toEqual(['ConfigMap/a', 'Secret/a', 'Secret/b']);
});
