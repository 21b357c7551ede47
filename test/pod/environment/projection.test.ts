import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../pod/api/schema/volume.ts';
import { projectedFiles } from '../../../pod/environment/projection.ts';
import { aContainer, aPod } from '../fixtures.ts';

const pod = aPod(
  { containers: [aContainer({ resources: { limits: { memory: '96Mi' }, requests: { cpu: '250m' } } })] },
  { labels: { app: 'web' }, annotations: { note: 'one\ntwo' } },
);
const allocatable = { cpu: '4', memory: '8Gi' };
const filesOf = (volume: Omit<Volume, 'name'>) => projectedFiles(pod, { name: 'info', ...volume }, allocatable);

type Items = NonNullable<NonNullable<Volume['downwardAPI']>['items']>;
const textOf = (item: Omit<Items[number], 'path'>) =>
  filesOf({ downwardAPI: { items: [{ path: 'a', ...item }] } })[0]?.text;

describe('C21: a file shows', () => {
  test.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'uid-1'],
    ['metadata.labels', 'app="web"'],
    ['metadata.annotations', 'note="one\\ntwo"'],
    ["metadata.annotations['note']", 'one\ntwo'],
    ["metadata.labels['none']", ''],
  ])('%s', (fieldPath, text) => {
    expect(textOf({ fieldRef: { fieldPath } })).toBe(text);
  });

  test.each([
    ['limits.memory', '1Mi', '96'],
    ['limits.memory', undefined, String(96 << 20)],
    ['limits.cpu', undefined, '4'],
    ['requests.cpu', '1m', '250'],
    ['requests.cpu', undefined, '1'],
    ['requests.memory', undefined, '0'],
  ])('%s in units of %s', (resource, divisor, text) => {
    const resourceFieldRef = { containerName: 'main', resource, ...(divisor === undefined ? {} : { divisor }) };
    expect(textOf({ resourceFieldRef })).toBe(text);
  });
});

test('its own mode goes before that of the volume, which goes before 0644', () => {
  const fieldRef = { fieldPath: 'metadata.name' };
  const items = [
    { path: 'a', fieldRef, mode: 0o400 },
    { path: './b//c', fieldRef },
  ];
  expect(filesOf({ downwardAPI: { defaultMode: 0o600, items } })).toEqual([
    { path: 'a', text: 'web', mode: 0o400 },
    { path: 'b/c', text: 'web', mode: 0o600 },
  ]);
  expect(filesOf({ projected: { sources: [{ downwardAPI: { items } }] } })[1]?.mode).toBe(0o644);
});

describe('a projected volume', () => {
  test('leaves out what is optional and only an API server has', () => {
    const sources = [
      { configMap: { name: 'a', optional: true } },
      { secret: { name: 'b', optional: true } },
      { clusterTrustBundle: { name: 'c', path: 'c', optional: true } },
      { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ];
    expect(filesOf({ projected: { sources } }).map(({ path }) => path)).toEqual(['name']);
  });

  test('of a ConfigMap or Secret alone is empty when it is optional', () => {
    const optional = true;
    expect(filesOf({ configMap: { name: 'a', optional } })).toEqual([]);
    expect(filesOf({ secret: { secretName: 'a', optional } })).toEqual([]);
    expect(() => filesOf({ configMap: { name: 'a' } })).toThrow('configMap "a" is not available');
    expect(() => filesOf({ secret: { secretName: 'a', optional: false } })).toThrow('secret "a" is not available');
  });

  test.each<[NonNullable<NonNullable<Volume['projected']>['sources']>[number], string]>([
    [{ configMap: { name: 'a' } }, 'configMap "a"'],
    [{ secret: { name: 'a', optional: false } }, 'secret "a"'],
    [{ serviceAccountToken: { path: 'token' } }, 'serviceAccountToken "token"'],
    [{ clusterTrustBundle: { signerName: 'x/y', path: 'ca' } }, 'clusterTrustBundle "x/y"'],
    [{ podCertificate: { signerName: 'x/y', keyType: 'ED25519' } }, 'podCertificate of "x/y"'],
  ])('with %j is refused by the name of the source', (source, named) => {
    expect(() => filesOf({ projected: { sources: [source] } })).toThrow(
      expect.objectContaining({
        reason: 'FailedMount',
        message: `volume "info": ${named} is not available: this node has no API server`,
      }),
    );
  });
});

test.each([
  ['/etc/passwd', 'must be relative path'],
  ['a/../b', "must not contain '..'"],
  ['..data', "must not start with '..'"],
  ['./', 'must not be empty'],
])('the path %s is refused', (path, why) => {
  const items = [{ path, fieldRef: { fieldPath: 'metadata.name' } }];
  expect(() => filesOf({ downwardAPI: { items } })).toThrow(
    expect.objectContaining({ reason: 'FailedMount', message: `volume "info": invalid path "${path}": ${why}` }),
  );
});

test('a field that there is none of is refused', () => {
  expect(() => textOf({ fieldRef: { fieldPath: 'spec.containers' } })).toThrow('unsupported fieldPath spec.containers');
});
