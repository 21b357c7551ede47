import { expect, test } from '@jest/globals';
import type { PodPhase, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isPressing } from '../../../kubernetes/status/pressing.ts';

const status = (phase: PodPhase, ready: 'True' | 'False', more: Partial<PodStatus> = {}): PodStatus => ({
  phase,
  conditions: [{ type: 'Ready', status: ready }],
  ...more,
});

test('what others act on is pressing: the phase, and whether the pod is ready', () => {
  expect(isPressing(undefined, status('Failed', 'False'), false)).toBe(true);
  expect(isPressing(undefined, status('Running', 'False'), false)).toBe(true);
  expect(isPressing(undefined, status('Pending', 'True'), false)).toBe(true);
  expect(isPressing(status('Pending', 'False'), status('Running', 'False'), false)).toBe(true);
  expect(isPressing(status('Running', 'False'), status('Running', 'True'), false)).toBe(true);
  expect(isPressing(status('Running', 'True'), status('Running', 'False'), false)).toBe(true);
});

test('what else changes can wait, and the first word of a pod that only waits', () => {
  expect(isPressing(undefined, status('Pending', 'False'), false)).toBe(false);
  expect(isPressing(status('Pending', 'False'), status('Pending', 'False', { podIP: '10.0.0.1' }), false)).toBe(false);
});

test('of a pod that is being deleted only its end is pressing', () => {
  expect(isPressing(undefined, status('Running', 'False'), true)).toBe(false);
  expect(isPressing(status('Running', 'True'), status('Running', 'False'), true)).toBe(false);
  expect(isPressing(status('Running', 'False'), status('Succeeded', 'False'), true)).toBe(true);
});
