import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../../../kubernetes/api/schema/volume.ts';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

type Items = NonNullable<NonNullable<Volume['downwardAPI']>['items']>;

const problemsOf = (volume: Omit<Volume, 'name'>) =>
  problemsIn(aPod({ volumes: [{ name: 'v', ...volume }] })).map(({ path, message }) => `${path}: ${message}`);
const item = 'spec.volumes[0].downwardAPI';
const name = { fieldRef: { fieldPath: 'metadata.name' } };
const mode = 'must be a number between 0 and 0777 (octal), both inclusive';

describe('a downwardAPI item with', () => {
  test.each<[string, Items[number], string[]]>([
    ['all that it needs', { path: 'a/b', mode: 0o400, fieldRef: { fieldPath: "metadata.labels['a']" } }, []],
    ['no path', { path: '', ...name }, [`${item}.path: Required value`]],
    ['an absolute path', { path: '/a', ...name }, [`${item}.path: Invalid value: "/a": must be a relative path`]],
    ['a path upwards', { path: 'a/../b', ...name }, [`${item}.path: Invalid value: "a/../b": must not contain '..'`]],
    ['a reserved path', { path: '..a', ...name }, [`${item}.path: Invalid value: "..a": must not start with '..'`]],
    ['a mode that is none', { path: 'a', mode: 0o1000, ...name }, [`${item}.mode: Invalid value: 512: ${mode}`]],
    ['no field', { path: 'a' }, [`${item}: Required value: one of fieldRef and resourceFieldRef is required`]],
    [
      'two fields',
      { path: 'a', ...name, resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
      [`${item}: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously`],
    ],
    [
      'a field that only variables have',
      { path: 'a', fieldRef: { fieldPath: 'status.podIP' } },
      [
        `${item}.fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"`,
      ],
    ],
    [
      'a resource of no container',
      { path: 'a', resourceFieldRef: { resource: 'limits.gpu' } },
      [`${item}.resourceFieldRef.containerName: Required value`],
    ],
  ])('%s', (_what, each, problems) => {
    expect(problemsOf({ downwardAPI: { items: [each] } })).toEqual(problems);
  });
});

test('a default mode is validated like other modes', () => {
  const at = (kind: string) => `spec.volumes[0].${kind}.defaultMode: Invalid value: -1: ${mode}`;
  expect(problemsOf({ downwardAPI: { defaultMode: -1 } })).toEqual([at('downwardAPI')]);
  expect(problemsOf({ projected: { defaultMode: -1 } })).toEqual([at('projected')]);
});

test('duplicate paths in a projected volume are rejected, and so are sources of several types', () => {
  const downwardAPI = { items: [{ path: 'a', ...name }] };
  const sources = [{ downwardAPI }, { downwardAPI, configMap: { name: 'c' } }];
  expect(problemsOf({ projected: { sources } })).toEqual([
    'spec.volumes[0].projected: Invalid value: "a": conflicting duplicate paths',
    'spec.volumes[0].projected.sources[1]: Forbidden: may not specify more than 1 volume type per source',
  ]);
});

describe('C37: volumes of objects', () => {
  const at = 'spec.volumes[0]';
  const items = (path: string, key = 'k') => [{ key, path }];

  test.each<[string, Omit<Volume, 'name'>, string[]]>([
    ['a ConfigMap has a name', { configMap: {} }, [`${at}.configMap.name: Required value`]],
    ['a Secret has a name', { secret: {} }, [`${at}.secret.secretName: Required value`]],
    [
      'a mode is a mode',
      { secret: { secretName: 's', defaultMode: 0o1000 } },
      [`${at}.secret.defaultMode: Invalid value: 512: ${mode}`],
    ],
    [
      'no path leads out',
      { configMap: { name: 'c', items: items('../a') } },
      [`${at}.configMap.items[0].path: Invalid value: "../a": must not contain '..'`],
    ],
    [
      'an item has a key and a path',
      { secret: { secretName: 's', items: [{ key: '', path: '', mode: -1 }] } },
      [
        `${at}.secret.items[0].key: Required value`,
        `${at}.secret.items[0].path: Required value`,
        `${at}.secret.items[0].mode: Invalid value: -1: ${mode}`,
      ],
    ],
    [
      'projected sources have names, and paths of their own',
      {
        projected: {
          sources: [
            { configMap: { items: items('a') } },
            { secret: { name: 's', items: items('a') } },
            { clusterTrustBundle: { name: 'b', path: 'a' } },
          ],
        },
      },
      [
        `${at}.projected.sources[0].configMap.name: Required value`,
        `${at}.projected: Invalid value: "s": conflicting duplicate paths`,
        `${at}.projected: Invalid value: "a": conflicting duplicate paths`,
      ],
    ],
    [
      'a token lives ten minutes at least, at a path within',
      { projected: { sources: [{ serviceAccountToken: { path: '..token', expirationSeconds: 599 } }] } },
      [
        `${at}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
        `${at}.projected.path: Invalid value: "..token": must not start with '..'`,
      ],
    ],
    [
      'a token lives no longer than it can, and anchors have a path',
      {
        projected: {
          sources: [
            { serviceAccountToken: { path: 't', expirationSeconds: 2 ** 32 + 1 } },
            { clusterTrustBundle: { name: 'b', path: '' } },
          ],
        },
      },
      [
        `${at}.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
        `${at}.projected.sources[1].clusterTrustBundle.path: Required value`,
      ],
    ],
    ['all may be right', { configMap: { name: 'c', items: items('a/b') } }, []],
  ])('%s', (_what, volume, problems) => {
    expect(problemsOf(volume)).toEqual(problems);
  });
});

test('C37: variables from objects must have names and keys', () => {
  const container = aContainer({
    envFrom: [{ prefix: 'a=', configMapRef: { name: 'c' } }, {}, { configMapRef: {}, secretRef: { name: 'S' } }],
    env: [
      { name: 'A', valueFrom: { secretKeyRef: { key: '' } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: '../k' } } },
    ],
  });
  const at = 'spec.containers[0]';
  const found = problemsIn(aPod({ containers: [container] })).map(({ path, message }) => `${path}: ${message}`);
  expect(found.map((problem) => problem.replace(/ (a valid|a lowercase).*/, ' …'))).toEqual([
    `${at}.env[0].valueFrom.secretKeyRef.name: Invalid value: "": …`,
    `${at}.env[0].valueFrom.secretKeyRef.key: Required value`,
    `${at}.env[1].valueFrom.configMapKeyRef.key: Invalid value: "../k": …`,
    `${at}.env[1].valueFrom.configMapKeyRef.key: Invalid value: "../k": must not start with '..'`,
    `${at}.envFrom[0].prefix: Invalid value: "a=": …`,
    `${at}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
    `${at}.envFrom[2].configMapRef.name: Required value`,
    `${at}.envFrom[2].secretRef.name: Invalid value: "S": …`,
    `${at}.envFrom: Invalid value: "": may not have more than one field specified at a time`,
  ]);
});

test('an image volume must have a reference', () => {
  expect(problemsOf({ image: {} })).toEqual(['spec.volumes[0].image.reference: Required value']);
  expect(problemsOf({ image: { reference: 'site:1' } })).toEqual([]);
});

test('block devices must be claims', () => {
  const volumeDevices = [
    { name: 'v', devicePath: '/dev/a' },
    { name: 'w', devicePath: '/dev/b' },
  ];
  const pod = aPod({ volumes: [{ name: 'v', emptyDir: {} }], containers: [aContainer({ volumeDevices })] });
  expect(problemsIn(pod).map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    'spec.containers[0].volumeDevices[1].name: Not found: "w"',
  ]);
});

test('mount propagation of a recursively read-only mount is rejected', () => {
  const mount = { name: 'v', mountPath: '/a', readOnly: true, recursiveReadOnly: 'Enabled' as const };
  const container = (mountPropagation: 'None' | 'HostToContainer') =>
    aContainer({ volumeMounts: [{ ...mount, mountPropagation }] });
  const found = (propagation: 'None' | 'HostToContainer') =>
    problemsIn(aPod({ volumes: [{ name: 'v', emptyDir: {} }], containers: [container(propagation)] }));
  expect(found('None')).toEqual([]);
  expect(found('HostToContainer').map(({ message }) => message)).toEqual([
    'Forbidden: may only be specified when mountPropagation is None or not specified',
  ]);
});

test('C21: a variable from a file must have a volume, a relative path and a key', () => {
  const fileKeyRef = { volumeName: '', path: '../a', key: '' };
  const pod = aPod({ containers: [aContainer({ env: [{ name: 'A', valueFrom: { fileKeyRef } }] })] });
  const at = 'spec.containers[0].env[0].valueFrom.fileKeyRef';
  expect(problemsIn(pod).map(({ path, message }) => `${path}: ${message}`)).toEqual([
    `${at}.key: Required value`,
    `${at}.volumeName: Required value`,
    `${at}.path: Invalid value: "../a": must not contain '..'`,
    `${at}.volumeName: Not found: ""`,
  ]);
});
