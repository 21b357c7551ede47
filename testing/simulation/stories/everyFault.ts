/** Variants of a story with every fault at each of its calls, one at a time or in pairs. */
import { codesOf } from '../faults/failures.ts';
import type { Random } from '../random.ts';
import type { Fate, OutsideCall } from '../run/outside.ts';
import { play } from './play.ts';
import type { Fault, Story } from './story.ts';

/** The calls that can be interrupted halfway. */
const IN_PARTS: ReadonlySet<string> = new Set(['writeFile', 'removeTree', 'rm', 'gzip', 'mkdir', 'setOwnership']);
const LATE_MS = 3_000;
const BEFORE: Fate = { kind: 'death', when: 'before' };
const AFTER: Fate = { kind: 'death', when: 'after' };

/** Synchronous calls, which can neither hang nor be late. */
const AT_ONCE: ReadonlySet<string> = new Set([
  'readFileSync',
  'lstatSync',
  'isSamePathSync',
  'watch',
  'getContainerEvents',
  'restartRuntime',
]);

/**
 * Returns the faults that a call can meet, without equivalent ones. A read without a reply is the same as a failed
 * read.
 */
export function fatesOf(call: OutsideCall): readonly Fate[] {
  const codes = codesOf(call);
  const fails = codes.map((code): Fate => ({ kind: 'fail', code }));
  const slow: readonly Fate[] = AT_ONCE.has(call.name) ? [] : [{ kind: 'hang' }, { kind: 'late', ms: LATE_MS }];
  if (!call.writes) return [...fails, ...slow, BEFORE];
  const lost: Fate = { kind: 'lostReply', ...(codes[0] === undefined ? {} : { code: codes[0] }) };
  return [...fails, lost, ...slow, BEFORE, ...(IN_PARTS.has(call.name) ? inPartOf(codes) : []), AFTER];
}

/** Faults that leave a call half done, because the agent dies halfway or the disk fills up. */
function inPartOf(codes: readonly string[]): readonly Fate[] {
  const code = codes.find((each) => each === 'ENOSPC') ?? codes[0];
  return [
    { kind: 'fail', inPart: true, ...(code === undefined ? {} : { code }) },
    { kind: 'death', when: 'during' },
  ];
}

/** A call of a story with its time. */
export interface CallOfStory extends OutsideCall {
  /** Milliseconds of node time. */
  readonly at: number;
}

/** Returns the calls of a story that can meet a fault, in order. */
export async function callsOf(story: Story): Promise<readonly CallOfStory[]> {
  const calls: CallOfStory[] = [];
  await play(story, { invariants: [], faults: (call, _, at) => void calls.push({ ...call, at }) });
  return calls;
}

/**
 * Returns the number of calls at the start that all stories have in common, because each starts an agent on a host
 * without pods.
 */
export function beginAlike(stories: readonly (readonly OutsideCall[])[]): number {
  const [first = [], ...others] = stories.map((calls) =>
    calls.map(({ room, name, about }) => `${room} ${name} ${about}`),
  );
  const differs = first.findIndex((call, index) => others.some((calls) => calls[index] !== call));
  return differs < 0 ? first.length : differs;
}

/**
 * Whether an agent that dies before a call leaves the same state as one that dies before the next call at the same
 * time.
 */
function leavesWhatTheNextDoes({ room, writes, at }: CallOfStory, next: CallOfStory | undefined): boolean {
  // Calls to the runtime have a random latency.
  return !writes && room !== 'runtime' && at === next?.at;
}

/** Yields the story with each fault at each of its calls. */
export function* withEveryFault(story: Story, calls: readonly OutsideCall[]): Generator<Story> {
  for (const [call, each] of calls.entries()) {
    for (const fate of fatesOf(each)) yield { ...story, faults: [{ call, fate }] };
  }
}

/** The faults of reads, by the call's turn. Writes fail in every turn. */
const IN_TURNS = ['fail', 'hang', 'late'] as const;

/**
 * Whether a fault is left to a different turn. In each turn a call meets one of its errors, reads either fail or are
 * slow, and writes are rarely slow.
 */
function isOfAnotherTurn(fate: Fate, call: OutsideCall, turn: number): boolean {
  const kind = IN_TURNS[turn % IN_TURNS.length];
  if (fate.kind === 'hang' || fate.kind === 'late') return fate.kind !== kind;
  if (fate.kind !== 'fail' || fate.inPart) return false;
  const codes = codesOf(call);
  const isSlow = kind !== 'fail' && !call.writes && !AT_ONCE.has(call.name);
  return isSlow || fate.code !== codes[Math.floor(turn / IN_TURNS.length) % codes.length];
}

/** Whether the agent's death at this call leaves the same state as its death at the next call. */
function isToldLater(fate: Fate, call: CallOfStory, next: CallOfStory | undefined): boolean {
  return fate.kind === 'death' && leavesWhatTheNextDoes(call, next);
}

/**
 * Yields a smaller selection of `withEveryFault`. A call meets one of its errors, hangs or is late depending on its
 * turn, and of several equivalent deaths only the last is tried. `turn` is the turn of the first call.
 */
export function* withEveryKindOfFault(story: Story, calls: readonly CallOfStory[], turn: number): Generator<Story> {
  for (const [call, each] of calls.entries()) {
    for (const fate of fatesOf(each)) {
      if (isOfAnotherTurn(fate, each, call + turn) || isToldLater(fate, each, calls[call + 1])) continue;
      yield { ...story, faults: [{ call, fate }] };
    }
  }
}

/** Yields the story with two random faults at each pair of its calls. */
export function* withEveryPair(story: Story, calls: readonly OutsideCall[], random: Random): Generator<Story> {
  for (const [first, one] of calls.entries()) {
    for (const [second, other] of calls.entries()) {
      if (second <= first) continue;
      yield { ...story, faults: [drawnFault(first, one, random), drawnFault(second, other, random)] };
    }
  }
}

/** Returns the story with random faults at two different random calls. */
export function withDrawnPair(story: Story, calls: readonly OutsideCall[], random: Random): Story {
  const first = random.pick([...calls.entries()]);
  const others = [...calls.entries()].filter(([call]) => call !== first[0]);
  const faults = [first, random.pick(others)].map((each) => drawnFault(...each, random));
  return { ...story, faults };
}

const drawnFault = (call: number, at: OutsideCall, random: Random): Fault => ({
  call,
  fate: random.pick(fatesOf(at)),
});
