import { describe, expect, test } from '@jest/globals';
import { readStatus } from '../../../kubernetes/api/pods/apiStatus.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { claimsToPrepare, isAllocatedAsDevice, requireNoDevices } from '../../../kubernetes/resources/devices.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { aContainer, aPod } from '../fixtures.ts';

/** Returns a pod with claims and with the status of an API server. */
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

describe('C46: claims whose devices a pod needs before it runs', () => {
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

  test('prevent the pod from running, with a message that names each claim', () => {
    expect(() => requireNoDevices(podWithClaims(['gpu', 'nic']))).toThrow(
      expect.objectContaining({
        reason: 'FailedPrepareDynamicResources',
        message: expect.stringMatching(/^Failed to prepare dynamic resources: .*devices.*claim "gpu", "nic"$/),
      }),
    );
    expect(() => requireNoDevices(podWithClaims([]))).not.toThrow();
  });
});

test('C46: does not count an extended resource that the scheduler has allocated as devices', () => {
  const requests = { 'example.com/gpu': '1', 'example.com/nic': '2' };
  const pod = { ...podWithClaims([], EXTENDED), spec: { containers: [aContainer({ resources: { requests } })] } };
  expect(isAllocatedAsDevice(pod, 'example.com/gpu')).toBe(true);
  expect(requestsOf(pod).extra).toEqual({ 'example.com/nic': 2 });
});
