import { describe, expect, test } from '@jest/globals';
import { readStatus } from '../../../kubernetes/api/pods/apiStatus.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import {
  allocatedDrivers,
  mayHaveClaims,
  podClaims,
  resourceClaimSchema,
} from '../../../kubernetes/claims/podClaims.ts';
import { aPod } from '../fixtures.ts';

/** Returns a pod with the status of an API server. */
function podWith(resourceClaims: PodSpec['resourceClaims'], status?: unknown): Pod {
  const parsedStatus = readStatus(status);
  const pod = aPod(resourceClaims === undefined ? {} : { resourceClaims });
  return parsedStatus === undefined ? pod : { ...pod, status: parsedStatus };
}

const NAMED = { name: 'gpu', resourceClaimName: 'gpu-1' };
const TEMPLATE = { name: 'nic', resourceClaimTemplateName: 'nics' };
const EXTENDED = {
  extendedResourceClaimStatus: {
    resourceClaimName: 'web-extended',
    requestMappings: [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'a' }],
  },
};

describe('C50: the ResourceClaims of a pod', () => {
  test.each([
    ['none without claims', undefined, undefined, []],
    ['a claim that the spec names', [NAMED], undefined, [['gpu', 'gpu-1', false]]],
    [
      'a claim that was created from a template',
      [TEMPLATE],
      { resourceClaimStatuses: [{ name: 'nic', resourceClaimName: 'web-nic-x' }] },
      [['nic', 'web-nic-x', true]],
    ],
    ['none for a template that needs no claim', [TEMPLATE], { resourceClaimStatuses: [{ name: 'nic' }] }, []],
    ['the claim for extended resources', undefined, EXTENDED, [['', 'web-extended', false]]],
  ])('%s', (_, claims, status, expected) => {
    expect(podClaims(podWith(claims, status)).map(Object.values)).toEqual(expected);
  });

  test('cannot be determined before the claim of a template exists', () => {
    const pod = podWith([NAMED, TEMPLATE], { resourceClaimStatuses: [{ name: 'gpu' }] });
    expect(() => podClaims(pod)).toThrow(`pod "default/${pod.metadata.name}": ResourceClaim not created yet`);
  });

  test('are prepared only for a pod that may have some', () => {
    expect(
      [podWith(undefined), podWith([]), podWith([NAMED]), podWith(undefined, EXTENDED)].map(mayHaveClaims),
    ).toEqual([false, false, true, true]);
  });
});

describe('C50: a pod may use a claim', () => {
  const pod = podWith([NAMED]);
  const { uid, name: podName } = pod.metadata;
  const allocation = {
    devices: { results: ['a.example.com', 'b.example.com', 'a.example.com'].map((driver) => ({ driver })) },
  };
  const owner = { uid, controller: true };
  const claim = (metadata: object, status: object) =>
    resourceClaimSchema.parse({ metadata: { name: 'gpu-1', namespace: 'default', uid: 'u1', ...metadata }, status });
  const drivers = (metadata: object, status: object, isGenerated = false) =>
    allocatedDrivers(pod, claim(metadata, status), { isGenerated });

  test('that is reserved for it and allocated, by each of its drivers', () => {
    const expected = ['a.example.com', 'b.example.com'];
    expect(drivers({}, { reservedFor: [{ uid: 'other' }, { uid }], allocation })).toEqual(expected);
    expect(drivers({ ownerReferences: [owner] }, { reservedFor: [{ uid }], allocation }, true)).toEqual(expected);
    expect(drivers({}, { reservedFor: [{ uid }], allocation: {} })).toEqual([]);
  });

  test.each([
    [
      'is not reserved for it',
      {},
      { reservedFor: [{ uid: 'other' }], allocation },
      false,
      `pod ${podName} (${uid}) is not allowed to use ResourceClaim gpu-1 (u1)`,
    ],
    ['is not allocated', {}, { reservedFor: [{ uid }] }, false, 'ResourceClaim gpu-1: not allocated'],
    [
      'was created for another pod',
      { ownerReferences: [{ uid: 'other', controller: true }, { uid }] },
      { reservedFor: [{ uid }], allocation },
      true,
      `ResourceClaim default/gpu-1 was not created for Pod default/${podName} (Pod is not owner)`,
    ],
    [
      'is in another namespace',
      { namespace: 'other', ownerReferences: [owner] },
      { reservedFor: [{ uid }], allocation },
      true,
      `ResourceClaim other/gpu-1 is not in the same namespace as Pod default/${podName}`,
    ],
  ])('unless the claim %s', (_, metadata, status, isGenerated, message) => {
    expect(() => drivers(metadata, status, isGenerated)).toThrow(new Error(message));
  });
});
