/** Values that are not valid stories are rejected before anything is played. */
import { expect, test } from '@jest/globals';
import { checkStory } from '../../../../testing/simulation/stories/checkStory.ts';
import { findViolation, formatFinding } from '../../../../testing/simulation/stories/findings/finding.ts';
import { randomStory, storyOfAnySize } from '../../../../testing/simulation/stories/random/randomStory.ts';
import { manyKinds } from '../../../../testing/simulation/stories/scenarios/manyKinds.ts';
import { shortStories } from '../../../../testing/simulation/stories/scenarios/shortStories.ts';

const story = { seed: 1, actions: [], faults: [], lastsMs: 5 };
const size = { pods: 1, actions: 1, faults: 1, lastsMs: 10 };

/** Stands for a value that a caller without type checking may pass. */
const untyped = <T>(value: unknown): T => value as T;

test('all random and predefined stories are valid', () => {
  const drawn = Array.from({ length: 40 }, (_, seed) => storyOfAnySize(seed));
  for (const each of [...drawn, ...Object.values(shortStories), manyKinds])
    expect(() => checkStory(each)).not.toThrow();
});

test.each([
  ['its story: Required value', undefined],
  ['actions: Required value', { seed: 1, faults: [], lastsMs: 5 }],
  ['lastsMs: expected number, got NaN', { ...story, lastsMs: Number.NaN }],
  ['lastsMs: Invalid value: -5: ', { ...story, lastsMs: -5 }],
  ['lastsMs: Invalid value: the number is too large: ', { ...story, lastsMs: 1e300 }],
  ['actions[0]: expected object, got null', { ...story, actions: [null] }],
  ['actions[0].at: Invalid value: -5: ', { ...story, actions: [{ at: -5, action: { kind: 'oom' } }] }],
  [
    'actions[0].action: there is no such action: {"kind":"nope"}',
    { ...story, actions: [{ at: 5, action: { kind: 'nope' } }] },
  ],
  [
    'faults[0].call: expected an integer, got a fraction',
    { ...story, faults: [{ call: 0.5, fault: { kind: 'hang' } }] },
  ],
  [
    'faults[0].fault: there is no such fault: {"kind":"late","ms":-5}',
    { ...story, faults: [{ call: 5, fault: { kind: 'late', ms: -5 } }] },
  ],
  ['faults[0].fault: Required value', { ...story, faults: [{ call: 5 }] }],
  [
    'topology.policy: Unsupported value: "none"',
    { ...story, machine: 'altra', topology: { policy: 'none', isPerPod: true } },
  ],
  ['cgroups: Unsupported value: "none"', { ...story, cgroups: 'none' }],
  ['speed: unknown field', { ...story, speed: 2 }],
])('an invalid story is rejected: %s', async (message, given) => {
  await expect(findViolation(untyped(given), { invariants: [] })).rejects.toThrow(`findViolation: ${message}`);
});

test('invalid options and seeds of a story are rejected', async () => {
  await expect(findViolation(story, untyped(undefined))).rejects.toThrow('findViolation: its options: Required value');
  await expect(findViolation({ ...story, seed: -1 }, { invariants: [] })).rejects.toThrow('a seed is a whole number');
});

test.each([
  ['its size: Required value', undefined],
  ['pods: Invalid value: 0: ', { ...size, pods: 0 }],
  ['pods: expected an integer, got a fraction', { ...size, pods: 1.5 }],
  ['actions: expected number, got NaN', { ...size, actions: Number.NaN }],
  ['faults: Invalid value: -1: ', { ...size, faults: -1 }],
  ['lastsMs: Invalid value: the number is too large: ', { ...size, lastsMs: 1e300 }],
  ['crowdedShare: Invalid value: 5: ', { ...size, crowdedShare: 5 }],
  ['speed: unknown field', { ...size, speed: 2 }],
])('an invalid size of a random story is rejected: %s', (message, given) => {
  expect(() => randomStory(1, untyped(given))).toThrow(`randomStory: ${message}`);
});

test('an invalid seed of a random story is rejected', () => {
  expect(() => randomStory(1.5, size)).toThrow('a seed is a whole number from 0 to 4294967295');
});

test.each([
  ['the finding: Required value', undefined],
  ['message: Required value', {}],
  [
    'story.actions: Required value',
    {
      number: 1,
      message: '',
      step: 1,
      elapsed: 1,
      explanations: [],
      story: { seed: 1, lastsMs: 5, faults: [] },
    },
  ],
])('an invalid finding is rejected: %s', (message, given) => {
  expect(() => formatFinding(untyped(given))).toThrow(`formatFinding: ${message}`);
});
