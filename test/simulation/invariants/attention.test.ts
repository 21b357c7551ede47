import { expect, test } from '@jest/globals';
import { Attention } from '../../../simulation/invariants/attention.ts';
import { ACTS_FOR_MS } from '../../../simulation/touches.ts';

test('a reason must be one now, unless the agent has begun after it and has just heard of the pod', () => {
  const attention = new Attention();
  attention.noteCall(1_000);
  expect(attention.momentFor('a', 5_000)).toBe(5_000);
  attention.noteLife();
  expect(attention.momentFor('a', 900_000)).toBe(1_000);
  attention.noteStatus('a', 900_000);
  attention.noteStatus('a', 950_000);
  attention.noteCall(900_000);
  expect(attention.momentFor('a', 900_000 + ACTS_FOR_MS)).toBe(1_000);
  expect(attention.momentFor('a', 900_001 + ACTS_FOR_MS)).toBe(900_001 + ACTS_FOR_MS);
  expect(attention.momentFor('b', 901_000)).toBe(1_000);
  attention.noteLife();
  expect(attention.momentFor('a', 1_000_000)).toBe(900_000);
});
