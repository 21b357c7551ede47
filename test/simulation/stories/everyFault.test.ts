import { expect, test } from '@jest/globals';
import { Random } from '../../../simulation/random.ts';
import {
  type CallOfStory,
  callsOf,
  fatesOf,
  withDrawnPair,
  withEveryFault,
  withEveryKindOfFault,
  withEveryPair,
} from '../../../simulation/stories/everyFault.ts';
import { play } from '../../../simulation/stories/play.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';
import type { Fault, Story } from '../../../simulation/stories/story.ts';

test('each call fails as its room does, and only what changes something can lose its reply or die half-way', () => {
  const at = { about: '/a', room: 'disk' } as const;
  const kinds = (name: string, writes: boolean) =>
    fatesOf({ ...at, name, writes }).map((fate) => ('code' in fate ? fate.code : fate.kind));
  expect(kinds('readFile', false)).toEqual(['EIO', 'EMFILE', 'ENFILE', 'hang', 'late', 'death']);
  expect(kinds('readFileSync', false)).toEqual(['EIO', 'EMFILE', 'ENFILE', 'death']);
  const lost = ['EIO', 'hang', 'late'];
  expect(kinds('symlink', true)).toEqual(['EIO', 'ENOSPC', 'EROFS', 'EMFILE', 'ENFILE', ...lost, 'death', 'death']);
  expect(kinds('removeTree', true)).toEqual([
    'EIO',
    'ENOSPC',
    'EROFS',
    'EMFILE',
    'ENFILE',
    ...lost,
    'death',
    'ENOSPC',
    'death',
    'death',
  ]);
  expect(fatesOf({ ...at, name: 'removeTree', writes: true })).toContainEqual({
    kind: 'fail',
    code: 'ENOSPC',
    inPart: true,
  });
  const unmount = fatesOf({ room: 'mounts', name: 'unmount', about: '/a', writes: true });
  expect(unmount).toContainEqual({ kind: 'fail', code: 'EBUSY' });
});

const story: Story = { seed: 1, moments: [], faults: [], lastsMs: 0 };
const calls = [
  { room: 'disk', name: 'symlink', about: '/a', writes: true, at: 1 },
  { room: 'disk', name: 'stat', about: '/a', writes: false, at: 2 },
  { room: 'runtime', name: 'version', about: '', writes: false, at: 3 },
] as const;

test('a story is told with every fault at every call, with every error that the call gives, or with one and seldom slow', () => {
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(all).toEqual(calls.flatMap((each, call) => fatesOf(each).map((fate) => ({ call, fate }))));
  const kinds = [...withEveryKindOfFault(story, calls, 1)].flatMap(({ faults }) => faults);
  expect(kinds.filter(({ fate }) => fate.kind === 'fail')).toEqual([
    { call: 0, fate: { kind: 'fail', code: 'ENOSPC' } },
    { call: 1, fate: { kind: 'fail', code: 'ENFILE' } },
    { call: 2, fate: { kind: 'fail', code: 'CANCELLED' } },
  ]);
  const isSlow = ({ fate }: Fault) => fate.kind === 'hang' || fate.kind === 'late';
  expect(kinds.filter(isSlow)).toEqual([
    { call: 0, fate: { kind: 'late', ms: 3_000 } },
    { call: 2, fate: { kind: 'hang' } },
  ]);
  const others = all.filter((each) => each.fate.kind !== 'fail' && !isSlow(each));
  expect(kinds.filter((each) => each.fate.kind !== 'fail' && !isSlow(each))).toEqual(others);
});

test('in turns each call meets each of its errors, hangs and is late', () => {
  const turns = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
  const told = turns.flatMap((turn) => [...withEveryKindOfFault(story, calls, turn)].flatMap(({ faults }) => faults));
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(told).toEqual(expect.arrayContaining(all));
});

test('of deaths that leave the same, with only looks at the host between them, the last is told', () => {
  const look = { room: 'disk', name: 'stat', about: '/a', writes: false } as const;
  const version = { room: 'runtime', name: 'version', about: '', writes: false } as const;
  const all: CallOfStory[] = [
    ...[1, 1, 2].map((at) => ({ ...look, at })),
    ...[3, 3].map((at) => ({ ...look, at, writes: true })),
    ...[4, 4].map((at) => ({ ...version, at })),
  ];
  const deaths = [...withEveryKindOfFault(story, all, 0)].flatMap(({ faults }) =>
    faults.flatMap(({ call, fate }) => (fate.kind === 'death' ? [`${call} ${fate.when}`] : [])),
  );
  expect(deaths).toEqual([
    '1 before',
    '2 before',
    '3 before',
    '3 after',
    '4 before',
    '4 after',
    '5 before',
    '6 before',
  ]);
});

test('what is left out comes to the same as what is told instead', async () => {
  const short = shortStories['a pod comes, runs and goes'] ?? story;
  const all = await callsOf(short);
  const kept = new Set([...withEveryKindOfFault(short, all, 0)].map(({ faults }) => JSON.stringify(faults)));
  const fate = { kind: 'death', when: 'before' } as const;
  const left = [...all.keys()].filter((call) => !kept.has(JSON.stringify([{ call, fate }])));
  const comesTo = async (call: number) => {
    const after: object[] = [];
    const faults = ({ about, ...each }: object & { about: string }, index: number, at: number) => {
      // Temporary files have names of their own.
      if (index > call) after.push({ ...each, about: about.replace(/[^/]+tmp$/, ''), at });
      return undefined;
    };
    await play({ ...short, faults: [{ call, fate }] }, { invariants: [], faults, isBrief: true });
    return after;
  };
  const looked = left.filter((_, index) => index % 20 === 0);
  expect(looked.length).toBeGreaterThan(4);
  for (const call of looked) expect(await comesTo(call)).toEqual(await comesTo(call + 1));
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
