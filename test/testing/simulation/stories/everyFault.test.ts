import { expect, test } from '@jest/globals';
import { codesOf } from '../../../../testing/simulation/faults/failures.ts';
import { Random } from '../../../../testing/simulation/random.ts';
import {
  beginAlike,
  type CallOfStory,
  callsOf,
  fatesOf,
  withDrawnPair,
  withEveryFault,
  withEveryKindOfFault,
  withEveryPair,
} from '../../../../testing/simulation/stories/everyFault.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { shortStories } from '../../../../testing/simulation/stories/shortStories.ts';
import type { Fault, Story } from '../../../../testing/simulation/stories/story.ts';

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

test('a story is told with every fault at every call, with every error that the call gives, or with what has its turn', () => {
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(all).toEqual(calls.flatMap((each, call) => fatesOf(each).map((fate) => ({ call, fate }))));
  const isOfTurns = ({ fate }: Fault) => ['fail', 'hang', 'late'].includes(fate.kind);
  const inTurn = (turn: number) =>
    [...withEveryKindOfFault(story, calls, turn)].flatMap(({ faults }) => faults).filter(isOfTurns);
  const late = { kind: 'late', ms: 3_000 };
  // What changes something fails each time.
  expect(inTurn(1)).toEqual([
    { call: 0, fate: { kind: 'fail', code: 'EIO' } },
    { call: 0, fate: { kind: 'hang' } },
    { call: 1, fate: late },
    { call: 2, fate: { kind: 'fail', code: codesOf(calls[2])[1] } },
  ]);
  expect(inTurn(5)).toEqual([
    { call: 0, fate: { kind: 'fail', code: 'ENOSPC' } },
    { call: 0, fate: late },
    { call: 1, fate: { kind: 'fail', code: 'ENFILE' } },
    { call: 2, fate: { kind: 'hang' } },
  ]);
  const kinds = [...withEveryKindOfFault(story, calls, 1)].flatMap(({ faults }) => faults);
  expect(kinds.filter((each) => !isOfTurns(each))).toEqual(all.filter((each) => !isOfTurns(each)));
});

test('what is answered on the spot fails in every turn', () => {
  const look = { room: 'disk', name: 'lstatSync', about: '/a', writes: false, at: 1 } as const;
  const told = [0, 1, 2].map((turn) => [...withEveryKindOfFault(story, [look], turn)].flatMap(({ faults }) => faults));
  const fault = { call: 0, fate: { kind: 'fail', code: 'EIO' } };
  for (const faults of told) expect(faults).toContainEqual(fault);
});

test('in turns each call meets each of its errors, hangs and is late', () => {
  const turns = Array.from({ length: 36 }, (_, turn) => turn);
  const told = turns.flatMap((turn) => [...withEveryKindOfFault(story, calls, turn)].flatMap(({ faults }) => faults));
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(told).toEqual(expect.arrayContaining(all));
});

test('stories begin alike with the calls that are the same up to the first that is not', () => {
  const [one, two, three] = calls;
  expect(beginAlike([[one, two, three], [one, two, one], calls])).toBe(2);
  expect(beginAlike([[one], [one, two]])).toBe(1);
  expect(beginAlike([[], [one]])).toBe(0);
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
