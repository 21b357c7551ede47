import { expect, test } from '@jest/globals';
import { dnsSubdomainProblems } from '../../../../kubernetes/api/validation/metadata/nameRules.ts';
import type { JsonObject } from '../../../../testing/apiserver/json.ts';
import { createdMetaCauses, updatedMetaCauses } from '../../../../testing/apiserver/validation/objectMeta.ts';

const META = {
  name: 'a',
  namespace: 'default',
  resourceVersion: '5',
  uid: '1',
  creationTimestamp: '2020-01-01T00:00:00Z',
};
const rule = { isNamespaced: true, name: dnsSubdomainProblems };

const created = (change: JsonObject, isNamespaced = true) =>
  createdMetaCauses({ ...META, ...change }, { ...rule, isNamespaced }).map(
    ({ field, message }) => `${field}: ${message}`,
  );
const updated = (change: JsonObject, before: JsonObject = {}) =>
  updatedMetaCauses({ ...META, ...before, ...change }, { ...META, ...before }).map(
    ({ field, message }) => `${field}: ${message}`,
  );

test('a new object must have a name, and a namespace if its kind is namespaced', () => {
  expect(created({})).toEqual([]);
  expect(created({ name: '' })).toEqual(['metadata.name: Required value: name or generateName is required']);
  expect(created({ name: 'A' })[0]).toMatch(/^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/);
  expect(created({ namespace: '' })).toEqual(['metadata.namespace: Required value']);
  expect(created({ namespace: 'a.b' })).toEqual(['metadata.namespace: Invalid value: "a.b": must not contain dots']);
  expect(created({}, false)).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
});

test('labels and annotations are validated with their keys', () => {
  const [key, value] = ['l'.repeat(64), 'v'.repeat(64)];
  expect(created({ labels: { [key]: value } })).toEqual([
    `metadata.labels: Invalid value: "${key}": name part must be no more than 63 bytes`,
    `metadata.labels: Invalid value: "${value}": must be no more than 63 bytes`,
  ]);
  expect(created({ annotations: { 'Example.com/A': 'any text at all' } })).toEqual([]);
  expect(created({ annotations: { a: 'x'.repeat(262_144) } })).toEqual([
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ]);
});

test('finalizers must be valid names, and the two finalizers of a deletion exclude each other', () => {
  expect(created({ finalizers: ['example.com/hold'] })).toEqual([]);
  expect(created({ finalizers: ['a b'] })[0]).toMatch(/^metadata\.finalizers: Invalid value: "a b": name part/);
  expect(created({ finalizers: ['orphan', 'foregroundDeletion'] })[0]).toMatch(/cannot be both set$/);
});

test('an update cannot change the fields that the server has set', () => {
  expect(updated({ labels: { a: 'b' } })).toEqual([]);
  expect(updated({ uid: '2' })).toEqual(['metadata.uid: Invalid value: "2": field is immutable']);
  expect(updated({ deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 })).toEqual([
    'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
    'metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable',
  ]);
  expect(updated({ resourceVersion: '' })[0]).toMatch(/must be specified for an update$/);
  expect(updated({ generation: 1 }, { generation: 2 })).toEqual([
    'metadata.generation: Invalid value: 1: must not be decremented',
  ]);
});

test('no finalizer can be added to an object that is being deleted', () => {
  const deleted = { deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: ['example.com/hold'] };
  expect(updated({ finalizers: [] }, deleted)).toEqual([]);
  expect(updated({ finalizers: ['example.com/hold', 'example.com/more'] }, deleted)).toEqual([
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new ' +
      'finalizers []string{"example.com/more"}',
  ]);
});
