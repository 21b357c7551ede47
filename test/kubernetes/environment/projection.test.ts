import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../kubernetes/api/schema/volume.ts';
import {
  dependsOnObjects,
  downwardFiles,
  normalizeFiles,
  objectFiles,
  projectionsOf,
  throwUnlessOptional,
} from '../../../kubernetes/environment/projection.ts';
import { aContainer, aPod } from '../fixtures.ts';

const pod = aPod(
  { containers: [aContainer({ resources: { limits: { memory: '96Mi' }, requests: { cpu: '250m' } } })] },
  { labels: { app: 'web' }, annotations: { note: 'one\ntwo' } },
);
const allocatable = { cpu: '4', memory: '8Gi' };

type Items = NonNullable<NonNullable<Volume['downwardAPI']>['items']>;
const filesOf = (volume: Omit<Volume, 'name'>, items: Items) =>
  downwardFiles(pod, { name: 'info', ...volume }, { items, allocatable });
const textOf = (item: Omit<Items[number], 'path'>) =>
  filesOf({ downwardAPI: {} }, [{ path: 'a', ...item }])[0]?.data.toString();

describe('C21: a downward API file', () => {
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
  ])('contains %s in units of %s', (resource, divisor, text) => {
    const resourceFieldRef = { containerName: 'main', resource, ...(divisor === undefined ? {} : { divisor }) };
    expect(textOf({ resourceFieldRef })).toBe(text);
  });
});

test('a file has its own mode, else the mode of the volume, else 0644', () => {
  const fieldRef = { fieldPath: 'metadata.name' };
  const items = [
    { path: 'a', fieldRef, mode: 0o400 },
    { path: 'b', fieldRef },
  ];
  expect(filesOf({ downwardAPI: { defaultMode: 0o600 } }, items).map(({ mode }) => mode)).toEqual([0o400, 0o600]);
  expect(filesOf({ projected: {} }, items)[1]?.mode).toBe(0o644);
});

test('an unsupported field is rejected', () => {
  expect(() => textOf({ fieldRef: { fieldPath: 'spec.containers' } })).toThrow('unsupported fieldPath spec.containers');
});

describe('C37: files of an object', () => {
  const data = new Map<string, string | Buffer>([
    ['text', 'größe'],
    ['bytes', Buffer.from([0, 255, 10])],
    ['constructor', 'a key like any other'],
  ]);
  const shown = (files: ReturnType<typeof objectFiles>) =>
    files.map(({ path, data: bytes, mode }) => [path, bytes.toString('hex'), mode]);

  test('are all keys with their bytes, or the listed items with their paths and modes', () => {
    expect(shown(objectFiles('ConfigMap', { data }, { mode: 0o640 }))).toEqual([
      ['text', Buffer.from('größe').toString('hex'), 0o640],
      ['bytes', '00ff0a', 0o640],
      ['constructor', Buffer.from('a key like any other').toString('hex'), 0o640],
    ]);
    const items = [
      { key: 'bytes', path: 'deep/one', mode: 0o400 },
      { key: 'bytes', path: 'two' },
    ];
    expect(shown(objectFiles('Secret', { data }, { items, mode: 0o640 }))).toEqual([
      ['deep/one', '00ff0a', 0o400],
      ['two', '00ff0a', 0o640],
    ]);
  });

  test.each([
    ['ConfigMap', 'configmap references non-existent config key: none'],
    ['Secret', 'references non-existent secret key: none'],
  ] as const)(
    "fail with the kubelet's message if a key of a %s does not exist, unless it is optional",
    (kind, message) => {
      const items = [
        { key: 'none', path: 'a' },
        { key: 'text', path: 'b' },
      ];
      expect(() => objectFiles(kind, { data }, { items, mode: 0o644 })).toThrow(
        expect.objectContaining({ reason: 'FailedMount', message }),
      );
      const optional = objectFiles(kind, { data }, { items, optional: true, mode: 0o644 });
      expect(optional.map(({ path }) => path)).toEqual(['b']);
      expect(objectFiles(kind, undefined, { items, optional: true, mode: 0o644 })).toEqual([]);
    },
  );
});

test('volumes that depend on objects are detected', () => {
  const shows = (volume: Omit<Volume, 'name'>) => dependsOnObjects({ name: 'v', ...volume });
  expect([{ configMap: {} }, { secret: {} }].map(shows)).toEqual([true, true]);
  expect(shows({ projected: { sources: [{ downwardAPI: {} }, { serviceAccountToken: { path: 't' } }] } })).toBe(true);
  expect([{ emptyDir: {} }, { downwardAPI: {} }, { projected: { sources: [{ downwardAPI: {} }] } }].map(shows)).toEqual(
    [false, false, false],
  );
});

describe('a source of an API server, on a node without one', () => {
  const sources = (volume: Omit<Volume, 'name'>) => projectionsOf({ name: 'info', ...volume });
  const refuse = (volume: Omit<Volume, 'name'>) => {
    for (const source of sources(volume)) throwUnlessOptional({ name: 'info', ...volume }, source);
  };

  test('is left out if it is optional', () => {
    const optional = true;
    refuse({ configMap: { name: 'a', optional } });
    refuse({ secret: { secretName: 'a', optional } });
    refuse({
      projected: { sources: [{ clusterTrustBundle: { name: 'c', path: 'c', optional } }, { downwardAPI: {} }] },
    });
    expect(() => refuse({ configMap: { name: 'a' } })).toThrow('configMap "a" is not available');
    expect(() => refuse({ secret: { secretName: 'a', optional: false } })).toThrow('secret "a" is not available');
  });

  test.each<[NonNullable<NonNullable<Volume['projected']>['sources']>[number], string]>([
    [{ configMap: { name: 'a' } }, 'configMap "a"'],
    [{ secret: { name: 'a', optional: false } }, 'secret "a"'],
    [{ serviceAccountToken: { path: 'token' } }, 'serviceAccountToken "token"'],
    [{ clusterTrustBundle: { signerName: 'x/y', path: 'ca' } }, 'clusterTrustBundle "x/y"'],
  ])('%j is rejected with the name of the source', (source, named) => {
    expect(() => refuse({ projected: { sources: [source] } })).toThrow(
      expect.objectContaining({
        reason: 'FailedMount',
        message: `volume "info": ${named} is not available: this node has no API server`,
      }),
    );
  });
});

test('C37: a pod certificate is rejected in a cluster as well, with a message that does not mention an API server', () => {
  const podCertificate = { signerName: 'x/y', keyType: 'ED25519' };
  expect(() => throwUnlessOptional({ name: 'info' }, { podCertificate })).toThrow(
    expect.objectContaining({
      reason: 'FailedMount',
      message:
        'volume "info": podCertificate of "x/y" is not available: this node does not request certificates for pods',
    }),
  );
});

const file = (path: string, text = '') => ({ path, data: Buffer.from(text), mode: 0o644 });

test('C37: paths are normalized, and the last of several files with the same path is used', () => {
  const clean = normalizeFiles([file('./b//c', '1'), file('a'), file('b/c', '2')]);
  expect(clean.map(({ path, data }) => [path, data.toString()])).toEqual([
    ['b/c', '2'],
    ['a', ''],
  ]);
});

test.each([
  ['/etc/passwd', 'must be relative path: /etc/passwd'],
  ['a/../b', "must not contain '..': a/../b"],
  ['..', "must not contain '..': .."],
  ['..data', "must not start with '..': ..data"],
  ['./..data', "must not start with '..': ./..data"],
  ['', 'must not be empty: ""'],
  ['./', 'must not be empty: "."'],
  ['x'.repeat(256), 'filenames must be less than or equal to 255 characters'],
  ['x/'.repeat(2_100), 'must be less than or equal to 4096 characters'],
])('C37: the path %.20s is rejected', (path, why) => {
  expect(() => normalizeFiles([file(path)])).toThrow(
    expect.objectContaining({ reason: 'FailedMount', message: `invalid path: ${why}` }),
  );
});
