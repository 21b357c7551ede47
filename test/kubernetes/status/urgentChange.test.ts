import { expect, test } from '@jest/globals';
import type { PodPhase, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isUrgentChange } from '../../../kubernetes/status/urgentChange.ts';

const status = (phase: PodPhase, ready: 'True' | 'False', more: Partial<PodStatus> = {}): PodStatus => ({
  phase,
  conditions: [{ type: 'Ready', status: ready }],
  ...more,
});

test('changes of the phase and of readiness are urgent', () => {
  expect(isUrgentChange(undefined, status('Failed', 'False'), false)).toBe(true);
  expect(isUrgentChange(undefined, status('Running', 'False'), false)).toBe(true);
  expect(isUrgentChange(undefined, status('Pending', 'True'), false)).toBe(true);
  expect(isUrgentChange(status('Pending', 'False'), status('Running', 'False'), false)).toBe(true);
  expect(isUrgentChange(status('Running', 'False'), status('Running', 'True'), false)).toBe(true);
  expect(isUrgentChange(status('Running', 'True'), status('Running', 'False'), false)).toBe(true);
});

test('other changes, and the first status of a waiting pod, are not urgent', () => {
  expect(isUrgentChange(undefined, status('Pending', 'False'), false)).toBe(false);
  expect(isUrgentChange(status('Pending', 'False'), status('Pending', 'False', { podIP: '10.0.0.1' }), false)).toBe(
    false,
  );
});

test('only the terminal phase is urgent for a pod that is being deleted', () => {
  expect(isUrgentChange(undefined, status('Running', 'False'), true)).toBe(false);
  expect(isUrgentChange(status('Running', 'True'), status('Running', 'False'), true)).toBe(false);
  expect(isUrgentChange(status('Running', 'False'), status('Succeeded', 'False'), true)).toBe(true);
});
