import { expect, test } from '@jest/globals';
import { dnsSubdomainProblems } from '../../../../../kubernetes/api/validation/metadata/nameRules.ts';
import { type ObjectMeta, validateObjectMeta } from '../../../../../kubernetes/api/validation/metadata/objectMeta.ts';

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1', controller: true };
const problems = (over: Partial<ObjectMeta>) =>
  validateObjectMeta(
    { name: 'a', namespace: 'default', ...over },
    { isNamespaced: true, name: dnsSubdomainProblems },
  ).map(({ path, message }) => `${path}: ${message}`);

test('at most one of the owners may be a controller', () => {
  expect(problems({ ownerReferences: [owner, { ...owner, name: 'b', controller: false }] })).toEqual([]);
  const both = [owner, { ...owner, name: 'b' }];
  expect(problems({ ownerReferences: both })).toEqual([
    `metadata.ownerReferences: Invalid value: ${JSON.stringify(both)}: Only one reference can have Controller set to ` +
      'true. Found "true" in references for Pod/a and Pod/b',
  ]);
});

test('owner references must be complete', () => {
  expect(problems({ ownerReferences: [{ apiVersion: 'apps/', kind: '', name: '', uid: '' }] })).toEqual([
    'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
    ...['kind', 'name', 'uid'].map((name) => `metadata.ownerReferences.${name}: Invalid value: "": must not be empty`),
  ]);
});

test('annotations are limited to 256 KiB, including their keys', () => {
  const annotations = (bytes: number) => ({ a: 'x'.repeat(bytes - 1) });
  expect(problems({ annotations: annotations(262_144) })).toEqual([]);
  expect(problems({ annotations: annotations(262_145) })).toEqual([
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ]);
});

test('the prefix of a generated name is validated, and may end with a dash', () => {
  expect(problems({ generateName: 'web-' })).toEqual([]);
  expect(problems({ generateName: '-web' })[0]).toMatch(/^metadata\.generateName: Invalid value: "-web": a lowercase/);
});

test('managed fields must have an operation', () => {
  expect(
    problems({ managedFields: [{ operation: 'Apply', manager: 'm'.repeat(129) }, { operation: 'Patch' }] }),
  ).toEqual([
    'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
    'metadata.managedFields[1].operation: Invalid value: "Patch": must be `Apply` or `Update`',
  ]);
});
