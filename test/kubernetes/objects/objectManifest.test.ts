import { describe, expect, test } from '@jest/globals';
import type { ConfigKind } from '../../../kubernetes/objects/configObject.ts';
import { objectOfManifest, readObjectManifest } from '../../../kubernetes/objects/objectManifest.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const read = (kind: ConfigKind, more: object) =>
  readObjectManifest(kind, { apiVersion: 'v1', kind, metadata: { name: 'app' }, ...more });
const objectIn = (kind: ConfigKind, more: object) => {
  const result = read(kind, more);
  if (!('object' in result)) throw new Error(JSON.stringify(result.problems));
  return objectOfManifest(result.object);
};
const problemsIn = (kind: ConfigKind, more: object) => {
  const result = read(kind, more);
  return 'problems' in result ? result.problems.map(({ path, message }) => `${path}: ${message}`) : [];
};

describe('a ConfigMap from a file', () => {
  test('has texts and bytes by key, with any key, in the default namespace', () => {
    const data = JSON.parse('{"__proto__":"p","plain":"text","none":null}');
    const object = objectIn('ConfigMap', { data, binaryData: { raw: base64('\xff\0') } });
    expect(object).toMatchObject({
      kind: 'ConfigMap',
      namespace: 'default',
      name: 'app',
      isImmutable: false,
      type: '',
    });
    expect([...object.data]).toEqual([
      ['__proto__', 'p'],
      ['plain', 'text'],
      ['none', ''],
      ['raw', Buffer.from('\xff\0')],
    ]);
  });

  test('has a new version if its data changes, but not if only the order changes', () => {
    const [first, same, other] = [
      { a: '1', b: '2' },
      { b: '2', a: '1' },
      { a: '1', b: '3' },
    ].map((data) => objectIn('ConfigMap', { data }));
    expect(same?.resourceVersion).toBe(first?.resourceVersion);
    expect(other?.resourceVersion).not.toBe(first?.resourceVersion);
    expect(other?.uid).toBe(first?.uid);
    expect(objectIn('ConfigMap', { metadata: { name: 'other' } }).uid).not.toBe(first?.uid);
  });
});

test('the bytes and the type of a Secret are read, and its texts override its data', () => {
  const metadata = { name: 'app', namespace: 'shop' };
  const wrapped = `${base64('a long value').slice(0, 8)}\n${base64('a long value').slice(8)}\n`;
  const data = { wrapped, both: base64('data') };
  const object = objectIn('Secret', { metadata, immutable: true, data, stringData: { both: 'text', plain: 'é' } });
  expect(object).toMatchObject({ kind: 'Secret', namespace: 'shop', isImmutable: true, type: 'Opaque' });
  expect([...object.data]).toEqual([
    ['wrapped', Buffer.from('a long value')],
    ['both', Buffer.from('text')],
    ['plain', Buffer.from('é')],
  ]);
  expect(objectIn('Secret', { type: 'example.com/t' }).type).toBe('example.com/t');
});

describe('problems of a manifest', () => {
  const key = (name: string, why: string) => `data[${name}]: Invalid value: "${name}": ${why}`;
  test.each<[string, ConfigKind, object, string[]]>([
    ['no name', 'ConfigMap', { metadata: {} }, ['metadata.name: Required value']],
    ['a name that is none', 'Secret', { metadata: { name: 7 } }, ['metadata.name: expected string, got number']],
    [
      'a namespace that is none',
      'Secret',
      { metadata: { name: 'a', namespace: [] } },
      ['metadata.namespace: expected string, got array'],
    ],
    [
      'another version',
      'ConfigMap',
      { apiVersion: 'v2' },
      ['apiVersion: Unsupported value: "v2": supported values: "v1"'],
    ],
    ['a text for a truth', 'ConfigMap', { immutable: 'yes' }, ['immutable: expected boolean, got string']],
    ['a type that is none', 'Secret', { type: {} }, ['type: expected string, got object']],
    ['data that are a list', 'ConfigMap', { data: [] }, ['data: expected object, got array']],
    ['data that are a text', 'Secret', { stringData: 'a' }, ['stringData: expected object, got string']],
    ['a number', 'ConfigMap', { data: { port: 80 } }, ['data.port: expected string, got number']],
    [
      'plain text for base64',
      'Secret',
      { data: { password: 'hunter2!' } },
      ['data.password: Invalid value: illegal base64 data: plain text belongs in stringData'],
    ],
    ['base64 cut off', 'ConfigMap', { binaryData: { a: 'YWJ' } }, ['binaryData.a: Invalid value: illegal base64 data']],
    [
      'a key twice',
      'ConfigMap',
      { data: { a: '' }, binaryData: { a: '' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    ['a key that leads away', 'ConfigMap', { data: { '..': '' } }, [key('..', "must not be '..'")]],
    [
      'a hidden way out',
      'Secret',
      { stringData: { '..a': '' } },
      [key('..a', "must not start with '..'").replace('data', 'stringData')],
    ],
    [
      'a key of several names',
      'ConfigMap',
      { data: { 'a/b': '' } },
      [expect.stringMatching(/^data\[a\/b\]: Invalid value: "a\/b": a valid config key/) as unknown as string],
    ],
    [
      'a key that is missing',
      'Secret',
      { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
      ['data[tls.key]: Required value'],
    ],
    [
      'a name that is no subdomain',
      'Secret',
      { metadata: { name: 'A' } },
      [expect.stringMatching(/^metadata\.name: Invalid value: "A"/) as unknown as string],
    ],
    [
      'an unknown field beside a wrong one',
      'ConfigMap',
      { data: 'a', dat: {} },
      ['data: expected object, got string', 'dat: unknown field, did you mean "data"?'],
    ],
    [
      'credentials of neither name',
      'Secret',
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]: Required value', 'data[password]: Required value'],
    ],
    [
      'an empty key',
      'Secret',
      { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
      ['data[ssh-privatekey]: Required value'],
    ],
    [
      'a token of no account',
      'Secret',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'a configuration that is no JSON',
      'Secret',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'hunter2' } },
      ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": it must be a JSON object'],
    ],
    [
      'more than 1 MiB',
      'ConfigMap',
      { data: { a: 'x'.repeat(2 ** 19) }, binaryData: { b: base64('x'.repeat(2 ** 19 + 1)) } },
      [': Too long: may not be more than 1048576 bytes'],
    ],
  ])('%s', (_what, kind, more, problems) => {
    expect(problemsIn(kind, more)).toEqual(problems);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('accepts 1 MiB, and warns about an unknown field', () => {
    expect(read('Secret', { stringData: { a: 'x'.repeat(2 ** 20) }, stringdata: {} })).toMatchObject({
      warnings: [{ path: 'stringdata', message: 'unknown field, did you mean "stringData"?' }],
    });
    expect(read('ConfigMap', { type: 'a' })).toMatchObject({ warnings: [{ path: 'type' }] });
  });

  test('identify the object if it has a name', () => {
    const reference = { kind: 'Secret', namespace: 'default', name: 'app' };
    expect(read('Secret', { data: { a: '?' } })).toMatchObject({ reference });
    expect(read('Secret', { metadata: null })).not.toHaveProperty('reference');
  });
});
