import { describe, expect, test } from '@jest/globals';
import { readConfigObject } from '../../../kubernetes/objects/configObject.ts';

const metadata = { namespace: 'default', name: 'app', uid: 'u1', resourceVersion: '7', managedFields: [{}] };
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a ConfigMap', () => {
  test('has texts and bytes by key, with any key', () => {
    const data = JSON.parse('{"__proto__":"p","constructor":"c","plain":"text"}');
    const read = readConfigObject('ConfigMap', { metadata, data, binaryData: { raw: base64('\xff\0') } });
    expect([...read.data]).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['plain', 'text'],
      ['raw', Buffer.from('\xff\0')],
    ]);
    expect(read).toMatchObject({ kind: 'ConfigMap', namespace: 'default', name: 'app', uid: 'u1', isImmutable: false });
  });

  test('may be empty', () => {
    expect(readConfigObject('ConfigMap', { metadata, data: null }).data.size).toBe(0);
  });
});

test('the bytes and the type of a Secret are read', () => {
  const secret = { metadata, immutable: true, type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('{}') } };
  expect(readConfigObject('Secret', secret)).toMatchObject({
    kind: 'Secret',
    isImmutable: true,
    type: 'kubernetes.io/dockercfg',
    data: new Map([['.dockercfg', Buffer.from('{}')]]),
  });
});

test('an object of a different kind is rejected', () => {
  expect(() => readConfigObject('ConfigMap', { metadata, data: { a: 5 } })).toThrow(
    'data.a: expected string, got number',
  );
  expect(() => readConfigObject('Secret', {})).toThrow('metadata');
});

test('data of an invalid Secret is not revealed', () => {
  const secret = { metadata, data: { good: base64('hidden'), bad: { deep: 'hidden too' } } };
  expect(() => readConfigObject('Secret', secret)).toThrow(
    /^this is no Secret: data\.bad: expected string, got object$/,
  );
});
