import { expect, test } from '@jest/globals';
import type * as z from 'zod/mini';
import type { volumeClaimTemplateSchema } from '../../../../../kubernetes/api/schema/volumeClaim.ts';
import { aPod, problemsIn } from '../../../fixtures.ts';

type ClaimTemplate = z.infer<typeof volumeClaimTemplateSchema>;

const at = 'spec.volumes[0].ephemeral.volumeClaimTemplate';
const good: ClaimTemplate['spec'] = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

function problems(spec: ClaimTemplate['spec'], metadata: NonNullable<ClaimTemplate['metadata']> = {}): string[] {
  const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { metadata, spec } } }];
  return problemsIn(aPod({ volumes })).map(({ path, message }) => `${path}: ${message}`);
}

test('a claim must have an access mode and a size', () => {
  expect(problems(good, { labels: { a: 'b' }, annotations: { c: 'd' } })).toEqual([]);
  expect(problems({})).toEqual([
    `${at}.spec.accessModes: Required value: at least 1 access mode is required`,
    `${at}.spec.resources[storage]: Required value`,
  ]);
  expect(problems({ ...good, resources: { requests: { storage: '0' } } })).toEqual([
    `${at}.spec.resources[storage]: Invalid value: "0": must be greater than zero`,
  ]);
});

test('ReadWriteOncePod is rejected together with other modes', () => {
  expect(problems({ ...good, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] })).toEqual([
    `${at}.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`,
  ]);
});

test('metadata other than labels and annotations is rejected', () => {
  expect(problems(good, { name: 'a' })).toEqual([`${at}.metadata.name: Forbidden: cannot be set`]);
  const volumes = [
    { name: 'v', ephemeral: { volumeClaimTemplate: { spec: good } } },
    { name: 'w', persistentVolumeClaim: { claimName: 'web-v' } },
  ];
  expect(problemsIn(aPod({ volumes })).map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "web-v": must not reference a PVC that gets created for an ephemeral volume',
  ]);
});

test('a data source must be a claim or have an API group', () => {
  const dataSource = { kind: 'Other', name: '' };
  expect(problems({ ...good, dataSource })).toEqual([
    `${at}.spec.dataSource.name: Required value`,
    `${at}.spec.dataSource: Invalid value: "Other": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
  ]);
  expect(problems({ ...good, dataSource: { kind: 'Other', name: 'a', apiGroup: 'example.com' } })).toEqual([]);
});
