import { expect, test } from '@jest/globals';
import { groupVersion, storageVersionHash, storedAs } from '../../../../testing/apiserver/resources/resource.ts';

const lease = { group: 'coordination.k8s.io', version: 'v1', name: 'leases', kind: 'Lease' };

test('a resource is identified by its group and version, and stored under its group and name', () => {
  expect([groupVersion(lease), storedAs(lease)]).toEqual(['coordination.k8s.io/v1', 'coordination.k8s.io/leases']);
  expect([groupVersion({ group: '', version: 'v1' }), storedAs({ group: '', name: 'pods' })]).toEqual(['v1', '/pods']);
});

test('the storage version of a resource has the recorded hash', () =>
  expect(storageVersionHash(lease)).toBe('gqkMMb/YqFM='));
