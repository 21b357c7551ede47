import { expect, test } from '@jest/globals';
import { Random } from '../../../simulation/random.ts';
import {
  fatesOf,
  withDrawnPair,
  withEveryFault,
  withEveryKindOfFault,
  withEveryPair,
} from '../../../simulation/stories/everyFault.ts';
import type { Story } from '../../../simulation/stories/story.ts';

test('each call fails as its room does, and only what changes something can lose its reply or die half-way', () => {
  const at = { about: '/a', room: 'disk' } as const;
  const kinds = (name: string, writes: boolean) =>
    fatesOf({ ...at, name, writes }).map((fate) => ('code' in fate ? fate.code : fate.kind));
  expect(kinds('readFile', false)).toEqual(['EIO', 'EMFILE', 'hang', 'late', 'death']);
  expect(kinds('readFileSync', false)).toEqual(['EIO', 'EMFILE', 'death']);
  const lost = ['EIO', 'hang', 'late'];
  expect(kinds('mkdir', true)).toEqual(['EIO', 'ENOSPC', 'EROFS', 'EMFILE', ...lost, 'death', 'death']);
  expect(kinds('removeTree', true)).toEqual(['EIO', 'ENOSPC', 'EROFS', 'EMFILE', ...lost, 'death', 'death', 'death']);
  const unmount = fatesOf({ room: 'mounts', name: 'unmount', about: '/a', writes: true });
  expect(unmount).toContainEqual({ kind: 'fail', code: 'EBUSY' });
});

const story: Story = { seed: 1, moments: [], faults: [], lastsMs: 0 };
const calls = [
  { room: 'disk', name: 'mkdir', about: '/a', writes: true },
  { room: 'disk', name: 'stat', about: '/a', writes: false },
  { room: 'runtime', name: 'version', about: '', writes: false },
] as const;

test('a story is told with every fault at every call, with every error that the call gives, or with one and never late', () => {
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(all).toEqual(calls.flatMap((each, call) => fatesOf(each).map((fate) => ({ call, fate }))));
  const kinds = [...withEveryKindOfFault(story, calls)].flatMap(({ faults }) => faults);
  expect(kinds.filter(({ fate }) => fate.kind === 'fail')).toEqual([
    { call: 0, fate: { kind: 'fail', code: 'EIO' } },
    { call: 1, fate: { kind: 'fail', code: 'EMFILE' } },
    { call: 2, fate: { kind: 'fail', code: 'UNKNOWN' } },
  ]);
  const others = all.filter(({ fate }) => fate.kind !== 'fail' && fate.kind !== 'late');
  expect(kinds.filter(({ fate }) => fate.kind !== 'fail')).toEqual(others);
});

test('a story is told with a fault at each pair of its calls, or at one that is drawn', () => {
  const at = ({ faults }: Story) => faults.map(({ call }) => call);
  expect([...withEveryPair(story, calls, new Random(1))].map(at)).toEqual([
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  const random = new Random(2);
  const drawn = Array.from({ length: 50 }, () => withDrawnPair(story, calls, random));
  expect(new Set(drawn.flatMap(at))).toEqual(new Set([0, 1, 2]));
  expect(drawn.map((each) => new Set(at(each)).size)).toEqual(drawn.map(() => 2));
  for (const { call, fate } of drawn.flatMap(({ faults }) => faults)) {
    const of = calls[call];
    expect(of && fatesOf(of)).toContainEqual(fate);
  }
});
