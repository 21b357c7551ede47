import { expect, test } from '@jest/globals';
import { nextPodCidr, podCidrViews } from '../../../../machines/node/runtime/podCidr.ts';

const failure = (message: string, at: number) => ({ reason: 'RuntimeUnavailable', message, at }) as const;

test('an unchanged failure does not change the pod CIDR view; a different failure, other addresses and a success do', () => {
  const failed = nextPodCidr(undefined, { podCidr: '10.1.0.0/24', failure: failure('away', 1) }, 1);
  expect(nextPodCidr(failed, { podCidr: '10.1.0.0/24', failure: failure('away', 2) }, 2)).toBe(failed);
  expect(nextPodCidr(failed, { podCidr: '10.1.0.0/24', failure: failure('refused', 2) }, 2)).not.toBe(failed);
  expect(nextPodCidr(failed, { podCidr: '10.2.0.0/24', failure: failure('away', 2) }, 2)).not.toBe(failed);
  const applied = nextPodCidr(failed, { podCidr: '10.1.0.0/24' }, 3);
  expect(applied).toEqual({ podCidr: '10.1.0.0/24', since: 3 });
  expect(nextPodCidr(applied, { podCidr: '10.1.0.0/24' }, 4)).toBe(applied);
});

test('a node without pod addresses shows none', () => {
  expect(podCidrViews(undefined)).toEqual([]);
});
