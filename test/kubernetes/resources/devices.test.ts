import { expect, test } from '@jest/globals';
import { readStatus } from '../../../kubernetes/api/pods/apiStatus.ts';
import { isAllocatedAsDevice } from '../../../kubernetes/resources/devices.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { aContainer, aPod } from '../fixtures.ts';

test('C46: an extended resource that the scheduler has allocated as devices is not counted', () => {
  const requests = { 'example.com/gpu': '1', 'example.com/nic': '2' };
  const status = readStatus({
    extendedResourceClaimStatus: {
      resourceClaimName: 'web-extended',
      requestMappings: [{ containerName: 'main', resourceName: 'example.com/gpu', requestName: 'a' }],
    },
  });
  const pod = { ...aPod({ containers: [aContainer({ resources: { requests } })] }), ...(status ? { status } : {}) };
  expect(isAllocatedAsDevice(pod, 'example.com/gpu')).toBe(true);
  expect(requestsOf(pod).extra).toEqual({ 'example.com/nic': 2 });
});
