import { expect, test } from '@jest/globals';
import { runAllSteps, runStepsInTurns } from '../../../base/async/steps.ts';

/** Counts up to a number, with one step per number. */
function* countTo(last: number, seen: number[] = []): Generator<void, number[]> {
  for (let number = 1; number <= last; number += 1) {
    seen.push(number);
    yield;
  }
  return seen;
}

test('takes some steps in each turn, and lets others have their turn between', async () => {
  const seen: number[] = [];
  const counts: number[] = [];
  const turn = async () => void counts.push(seen.length);
  expect(await runStepsInTurns(countTo(7, seen), 3, turn)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(counts).toEqual([3, 6]);
});

test('takes few steps without waiting', async () => {
  const turn = () => Promise.reject(new Error('it waits'));
  expect(await runStepsInTurns(countTo(2), 3, turn)).toEqual([1, 2]);
});

test('takes all steps at once', () => {
  expect(runAllSteps(countTo(3))).toEqual([1, 2, 3]);
});

test('rethrows the error of a step', async () => {
  function* failing(): Generator<void, void> {
    yield;
    throw new Error('no room');
  }
  expect(() => runAllSteps(failing())).toThrow('no room');
  await expect(runStepsInTurns(failing(), 1)).rejects.toThrow('no room');
});
