import { expect, test } from '@jest/globals';
import { ownerCauses } from '../../../apiserver/validation/owners.ts';

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1', controller: true };
const messages = (references: Parameters<typeof ownerCauses>[0]) =>
  ownerCauses(references).map(({ field, message }) => `${field}: ${message}`);

test('one owner may be in charge', () => {
  expect(ownerCauses(undefined)).toEqual([]);
  expect(ownerCauses([owner, { ...owner, name: 'b', controller: false }])).toEqual([]);
  const both = [owner, { ...owner, name: 'b' }];
  expect(messages(both)).toEqual([
    `metadata.ownerReferences: Invalid value: ${JSON.stringify(both)}: Only one reference can have Controller set to ` +
      'true. Found "true" in references for Pod/a and Pod/b',
  ]);
});

test('a reference says whom it means', () => {
  expect(messages([{ apiVersion: 'apps/', kind: '', name: '' }])).toEqual([
    'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
    ...['kind', 'name', 'uid'].map((name) => `metadata.ownerReferences.${name}: Invalid value: "": must not be empty`),
  ]);
});

test('an event owns nothing', () => {
  expect(messages([{ ...owner, kind: 'Event' }])[0]).toMatch(/: \/v1, Kind=Event is disallowed from being an owner$/);
});
