import { describe, expect, test } from '@jest/globals';
import type { ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { canUseSwap } from '../../../kubernetes/resources/swap.ts';
import { aContainer, aPod } from '../fixtures.ts';

const memory = (request: string, limit: string): ResourceRequirements => ({
  requests: { memory: request },
  limits: { memory: limit },
});
const all = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } };
const critical = { priority: 2_000_000_000 };

describe('C25: under LimitedSwap', () => {
  test.each<[string, ResourceRequirements | undefined, Partial<Pod['spec']>, boolean]>([
    ['a container whose memory request is less than its limit', memory('1Mi', '2Mi'), {}, true],
    ['a container without a limit', { requests: { memory: '1Mi' } }, {}, true],
    ['a container whose memory request equals its limit', memory('1Gi', '1024Mi'), {}, false],
    ['a container of a Guaranteed pod', all, {}, false],
    ['a container of a BestEffort pod', undefined, {}, false],
    ['a container of a critical pod', memory('1Mi', '2Mi'), critical, false],
  ])('%s', (_, resources, spec, expected) => {
    const container = aContainer(resources ? { resources } : {});
    expect(canUseSwap(aPod({ containers: [container], ...spec }), container)).toBe(expected);
  });

  test('denies swap to a container without memory requests in a Burstable pod', () => {
    const container = aContainer({ name: 'other' });
    const containers = [aContainer({ resources: memory('1Mi', '2Mi') }), container];
    expect(canUseSwap(aPod({ containers }), container)).toBe(false);
  });
});
