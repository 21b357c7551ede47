import { expect, test } from '@jest/globals';
import { codesOf } from '../../../../../testing/simulation/faults/failures.ts';
import { Random } from '../../../../../testing/simulation/random.ts';
import { play } from '../../../../../testing/simulation/stories/play.ts';
import { shortStories } from '../../../../../testing/simulation/stories/scenarios/shortStories.ts';
import type { Story, StoryFault } from '../../../../../testing/simulation/stories/story.ts';
import {
  faultsOf,
  recordCalls,
  type StoryCall,
  selectCalls,
  withEveryFault,
  withEveryKindOfFault,
  withEveryPair,
  withRandomPair,
} from '../../../../../testing/simulation/stories/variants/everyFault.ts';

test('each call fails like its target, and only a write can lose its reply or die halfway', () => {
  const at = { about: '/a', target: 'disk' } as const;
  const kinds = (name: string, writes: boolean) =>
    faultsOf({ ...at, name, writes }).map((fault) => ('code' in fault ? fault.code : fault.kind));
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
  expect(faultsOf({ ...at, name: 'removeTree', writes: true })).toContainEqual({
    kind: 'fail',
    code: 'ENOSPC',
    inPart: true,
  });
  const unmount = faultsOf({ target: 'mounts', name: 'unmount', about: '/a', writes: true });
  expect(unmount).toContainEqual({ kind: 'fail', code: 'EBUSY' });
});

const story: Story = { seed: 1, actions: [], faults: [], lastsMs: 0 };
const calls = [
  { target: 'disk', name: 'symlink', about: '/a', writes: true, at: 1, situation: 'a' },
  { target: 'disk', name: 'stat', about: '/a', writes: false, at: 2, situation: 'b' },
  { target: 'runtime', name: 'version', about: '', writes: false, at: 3, situation: 'c' },
] as const;

test('the variants of a story have every fault at every call, every error of each call, or the fault whose turn it is', () => {
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(all).toEqual(calls.flatMap((each, call) => faultsOf(each).map((fault) => ({ call, fault }))));
  const isOfTurns = ({ fault }: StoryFault) => ['fail', 'hang', 'late'].includes(fault.kind);
  const inTurn = (turn: number) =>
    [...withEveryKindOfFault(story, calls, turn)].flatMap(({ faults }) => faults).filter(isOfTurns);
  const late = { kind: 'late', ms: 3_000 };
  // A call that changes something fails in each turn.
  expect(inTurn(1)).toEqual([
    { call: 0, fault: { kind: 'fail', code: 'EIO' } },
    { call: 0, fault: { kind: 'hang' } },
    { call: 1, fault: late },
    { call: 2, fault: { kind: 'fail', code: codesOf(calls[2])[1] } },
  ]);
  expect(inTurn(5)).toEqual([
    { call: 0, fault: { kind: 'fail', code: 'ENOSPC' } },
    { call: 0, fault: late },
    { call: 1, fault: { kind: 'fail', code: 'ENFILE' } },
    { call: 2, fault: { kind: 'hang' } },
  ]);
  const kinds = [...withEveryKindOfFault(story, calls, 1)].flatMap(({ faults }) => faults);
  expect(kinds.filter((each) => !isOfTurns(each))).toEqual(all.filter((each) => !isOfTurns(each)));
});

test('a synchronous call fails in every turn', () => {
  const look = { target: 'disk', name: 'lstatSync', about: '/a', writes: false, at: 1, situation: '' } as const;
  const told = [0, 1, 2].map((turn) => [...withEveryKindOfFault(story, [look], turn)].flatMap(({ faults }) => faults));
  const fault = { call: 0, fault: { kind: 'fail', code: 'EIO' } };
  for (const faults of told) expect(faults).toContainEqual(fault);
});

test('over all turns, each call has each of its errors, hangs and is late', () => {
  const turns = Array.from({ length: 36 }, (_, turn) => turn);
  const told = turns.flatMap((turn) => [...withEveryKindOfFault(story, calls, turn)].flatMap(({ faults }) => faults));
  const all = [...withEveryFault(story, calls)].flatMap(({ faults }) => faults);
  expect(told).toEqual(expect.arrayContaining(all));
});

const [inA, inB, inC] = calls;

test('in each turn, exactly one call of each situation is selected from all stories', () => {
  const stories = [[inA, inB, inA, inC], [inA, inB], [inA]];
  for (let turn = 0; turn < 8; turn += 1) {
    const selected = selectCalls(stories, turn);
    const situations = selected.flatMap((indexes, story) =>
      [...indexes].map((call) => stories[story]?.[call]?.situation),
    );
    expect(situations.sort()).toEqual(['a', 'b', 'c']);
  }
});

test('over the turns, every call of every story is selected', () => {
  const stories = [[inA, inB, inA, inC], [inA, inB], [inA]];
  const selected = stories.map(() => new Set<number>());
  for (let turn = 0; turn < 4; turn += 1) {
    for (const [story, indexes] of selectCalls(stories, turn).entries())
      for (const call of indexes) selected[story]?.add(call);
  }
  expect(selected).toEqual(stories.map((story) => new Set(story.keys())));
});

const title = 'a pod comes, runs and goes';

test('a call has a different situation if the story repeats it, or if the pod or a container is in a different state', async () => {
  const recorded = await recordCalls(shortStories[title] ?? story);
  const situations = recorded.filter(({ name }) => name === 'put').map(({ situation }) => situation);
  expect(situations.slice(0, 3)).toEqual([
    'sink put #, first, pod {"preparing":"creatingCgroup"}',
    'sink put #, again, container {"launching":{"creatingContainer":"creating"}} pod {"active":{"running":"steady"}}',
    'sink put #, again, container {"launching":{"creatingContainer":"starting"}} pod {"active":{"running":"steady"}}',
  ]);
  const beforePod = recorded.filter(({ at }) => at === 0).map(({ situation }) => situation);
  expect(beforePod).toContain('runtime version , first, ');
});

test('the situations of a story do not depend on the name of its pod and the IDs of its objects', async () => {
  const short = shortStories[title] ?? story;
  const renamed: Story = JSON.parse(JSON.stringify(short).replaceAll('web', 'other'));
  const [situations, others] = await Promise.all(
    [short, renamed].map(async (each) => (await recordCalls(each)).map(({ situation }) => situation)),
  );
  expect(new Set(others)).toEqual(new Set(situations));
});

test('of several crashes with only reads between them, only the last is played', () => {
  const look = { target: 'disk', name: 'stat', about: '/a', writes: false, situation: '' } as const;
  const version = { target: 'runtime', name: 'version', about: '', writes: false, situation: '' } as const;
  const all: StoryCall[] = [
    ...[1, 1, 2].map((at) => ({ ...look, at })),
    ...[3, 3].map((at) => ({ ...look, at, writes: true })),
    ...[4, 4].map((at) => ({ ...version, at })),
  ];
  const deaths = [...withEveryKindOfFault(story, all, 0)].flatMap(({ faults }) =>
    faults.flatMap(({ call, fault }) => (fault.kind === 'death' ? [`${call} ${fault.when}`] : [])),
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

test('an omitted variant has the same result as the one that is played instead', async () => {
  const short = shortStories[title] ?? story;
  const all = await recordCalls(short);
  const kept = new Set([...withEveryKindOfFault(short, all, 0)].map(({ faults }) => JSON.stringify(faults)));
  const fault = { kind: 'death', when: 'before' } as const;
  const left = [...all.keys()].filter((call) => !kept.has(JSON.stringify([{ call, fault }])));
  const comesTo = async (call: number) => {
    const after: object[] = [];
    const faults = ({ about, ...each }: object & { about: string }, index: number, at: number) => {
      // Temporary files have random names.
      if (index > call) after.push({ ...each, about: about.replace(/[^/]+tmp$/, ''), at });
      return undefined;
    };
    await play({ ...short, faults: [{ call, fault }] }, { invariants: [], faults, isBrief: true });
    return after;
  };
  const looked = left.filter((_, index) => index % 20 === 0);
  expect(looked.length).toBeGreaterThan(4);
  for (const call of looked) expect(await comesTo(call)).toEqual(await comesTo(call + 1));
});

test('the variants of a story have faults at each pair of calls, or at a random pair', () => {
  const at = ({ faults }: Story) => faults.map(({ call }) => call);
  expect([...withEveryPair(story, calls, new Random(1))].map(at)).toEqual([
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  const random = new Random(2);
  const drawn = Array.from({ length: 50 }, () => withRandomPair(story, calls, random));
  expect(new Set(drawn.flatMap(at))).toEqual(new Set([0, 1, 2]));
  expect(drawn.map((each) => new Set(at(each)).size)).toEqual(drawn.map(() => 2));
  for (const { call, fault } of drawn.flatMap(({ faults }) => faults)) {
    const of = calls[call];
    expect(of && faultsOf(of)).toContainEqual(fault);
  }
});
