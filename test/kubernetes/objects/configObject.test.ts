import { describe, expect, test } from '@jest/globals';
import { readConfigObject } from '../../../kubernetes/objects/configObject.ts';

const metadata = { namespace: 'default', name: 'app', uid: 'u1', resourceVersion: '7', managedFields: [{}] };
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a ConfigMap', () => {
  test('has its texts and its bytes by key, whatever they are called', () => {
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

  test('may have nothing', () => {
    expect(readConfigObject('ConfigMap', { metadata, data: null }).data.size).toBe(0);
  });
});

test('a Secret has bytes and a type', () => {
  const secret = { metadata, immutable: true, type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('{}') } };
  expect(readConfigObject('Secret', secret)).toMatchObject({
    kind: 'Secret',
    isImmutable: true,
    type: 'kubernetes.io/dockercfg',
    data: new Map([['.dockercfg', Buffer.from('{}')]]),
  });
});

test('what is neither is refused', () => {
  expect(() => readConfigObject('ConfigMap', { metadata, data: { a: 5 } })).toThrow(
    'data.a: expected string, got number',
  );
  expect(() => readConfigObject('Secret', {})).toThrow('metadata');
});

test('what is wrong with a Secret tells nothing of what stands in it', () => {
  const secret = { metadata, data: { good: base64('hidden'), bad: { deep: 'hidden too' } } };
  expect(() => readConfigObject('Secret', secret)).toThrow(
    /^this is no Secret: data\.bad: expected string, got object$/,
  );
});
