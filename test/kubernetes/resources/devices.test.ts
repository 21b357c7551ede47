import { describe, expect, test } from '@jest/globals';
import { readStatus } from '../../../kubernetes/api/apiStatus.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { claimsToPrepare, isAllocatedAsDevice, requireNoDevices } from '../../../kubernetes/resources/devices.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { aContainer, aPod } from '../fixtures.ts';

/** A pod with claims, and with the status that an API server has of it. */
function podWithClaims(names: readonly string[], status?: unknown): Pod {
  const read = readStatus(status);
  const resourceClaims = names.map((name) => ({ name, resourceClaimTemplateName: 'gpus' }));
  return { ...aPod(names.length > 0 ? { resourceClaims } : {}), ...(read ? { status: read } : {}) };
}

const EXTENDED = {
  extendedResourceClaimStatus: {
    resourceClaimName: 'web-extended',
    requestMappings: [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'a' }],
  },
};

describe('C46: the claims whose devices a pod must have before it runs', () => {
  test.each([
    ['none without claims', [], undefined, []],
    ['all of its spec', ['gpu', 'nic'], undefined, ['gpu', 'nic']],
    [
      'one that has its ResourceClaim',
      ['gpu'],
      { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'a' }] },
      ['gpu'],
    ],
    ['none that turned out to be unneeded', ['gpu', 'nic'], { resourceClaimStatuses: [{ name: 'gpu' }] }, ['nic']],
    ['the one for its extended resources', [], EXTENDED, ['web-extended']],
    ['none for a status that cannot be read', [], { extendedResourceClaimStatus: { requestMappings: 1 } }, []],
  ])('%s', (_, names, status, expected) => {
    expect(claimsToPrepare(podWithClaims(names, status))).toEqual(expected);
  });

  test('the pod does not run without them, and the message names each', () => {
    expect(() => requireNoDevices(podWithClaims(['gpu', 'nic']))).toThrow(
      expect.objectContaining({
        reason: 'FailedPrepareDynamicResources',
        message: expect.stringMatching(/^Failed to prepare dynamic resources: .*devices.*claim "gpu", "nic"$/),
      }),
    );
    expect(() => requireNoDevices(podWithClaims([]))).not.toThrow();
  });
});

test('C46: an extended resource that the scheduler has allocated as a device is not counted by the node', () => {
  const requests = { 'example.com/gpu': '1', 'example.com/nic': '2' };
  const pod = { ...podWithClaims([], EXTENDED), spec: { containers: [aContainer({ resources: { requests } })] } };
  expect(isAllocatedAsDevice(pod, 'example.com/gpu')).toBe(true);
  expect(requestsOf(pod).extra).toEqual({ 'example.com/nic': 2 });
});
