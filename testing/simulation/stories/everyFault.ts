/** What can become of the calls of a story: every fault at each of them, alone and in pairs. */
import { codesOf } from '../faults/failures.ts';
import type { Random } from '../random.ts';
import type { Fate, OutsideCall } from '../run/outside.ts';
import { play } from './play.ts';
import type { Fault, Story } from './story.ts';

/** What can be done in part. */
const IN_PARTS: ReadonlySet<string> = new Set(['writeFile', 'removeTree', 'rm', 'gzip', 'mkdir', 'setOwnership']);
const LATE_MS = 3_000;
const BEFORE: Fate = { kind: 'death', when: 'before' };
const AFTER: Fate = { kind: 'death', when: 'after' };

/** What is answered on the spot neither hangs nor is late. */
const AT_ONCE: ReadonlySet<string> = new Set([
  'readFileSync',
  'lstatSync',
  'isSamePathSync',
  'watch',
  'getContainerEvents',
  'restartRuntime',
]);

/** What can become of a call, each only once: one that changes nothing has no reply to lose but its failure. */
export function fatesOf(call: OutsideCall): readonly Fate[] {
  const codes = codesOf(call);
  const fails = codes.map((code): Fate => ({ kind: 'fail', code }));
  const slow: readonly Fate[] = AT_ONCE.has(call.name) ? [] : [{ kind: 'hang' }, { kind: 'late', ms: LATE_MS }];
  if (!call.writes) return [...fails, ...slow, BEFORE];
  const lost: Fate = { kind: 'lostReply', ...(codes[0] === undefined ? {} : { code: codes[0] }) };
  return [...fails, lost, ...slow, BEFORE, ...(IN_PARTS.has(call.name) ? inPartOf(codes) : []), AFTER];
}

/** What is done in part where the agent dies with it, or where there is no more room. */
function inPartOf(codes: readonly string[]): readonly Fate[] {
  const code = codes.find((each) => each === 'ENOSPC') ?? codes[0];
  return [
    { kind: 'fail', inPart: true, ...(code === undefined ? {} : { code }) },
    { kind: 'death', when: 'during' },
  ];
}

/** A call of a story, with when it is made. */
export interface CallOfStory extends OutsideCall {
  /** Milliseconds of node time. */
  readonly at: number;
}

/** The calls of a story that can meet a fault, in their order. */
export async function callsOf(story: Story): Promise<readonly CallOfStory[]> {
  const calls: CallOfStory[] = [];
  await play(story, { invariants: [], faults: (call, _, at) => void calls.push({ ...call, at }) });
  return calls;
}

/** With how many calls all of these stories begin alike: an agent starts on a host without pods. */
export function beginAlike(stories: readonly (readonly OutsideCall[])[]): number {
  const [first = [], ...others] = stories.map((calls) =>
    calls.map(({ room, name, about }) => `${room} ${name} ${about}`),
  );
  const differs = first.findIndex((call, index) => others.some((calls) => calls[index] !== call));
  return differs < 0 ? first.length : differs;
}

/** Whether an agent that dies before a call leaves what it leaves if it dies before the next one, at the same moment. */
function leavesWhatTheNextDoes({ room, writes, at }: CallOfStory, next: CallOfStory | undefined): boolean {
  // What the runtime is asked takes a time that is drawn.
  return !writes && room !== 'runtime' && at === next?.at;
}

/** The story with each fate at each of its calls. */
export function* withEveryFault(story: Story, calls: readonly OutsideCall[]): Generator<Story> {
  for (const [call, each] of calls.entries()) {
    for (const fate of fatesOf(each)) yield { ...story, faults: [{ call, fate }] };
  }
}

/** What a call that only looks meets, in turns; one that changes something fails each time. */
const IN_TURNS = ['fail', 'hang', 'late'] as const;

/** Whether it is left to another turn: each call meets one of its errors, looks fail or are slow, and changes are seldom slow. */
function isOfAnotherTurn(fate: Fate, call: OutsideCall, turn: number): boolean {
  const kind = IN_TURNS[turn % IN_TURNS.length];
  if (fate.kind === 'hang' || fate.kind === 'late') return fate.kind !== kind;
  if (fate.kind !== 'fail' || fate.inPart) return false;
  const codes = codesOf(call);
  const isSlow = kind !== 'fail' && !call.writes && !AT_ONCE.has(call.name);
  return isSlow || fate.code !== codes[Math.floor(turn / IN_TURNS.length) % codes.length];
}

/** Whether a death with this call leaves what another one does that is told: of those, the last is. */
function isToldLater(fate: Fate, call: CallOfStory, next: CallOfStory | undefined): boolean {
  return fate.kind === 'death' && leavesWhatTheNextDoes(call, next);
}

/**
 * The same with less: a call meets one of its errors, hangs or is late in turns, and of deaths that leave the same, with
 * only looks between them, there is the last. `turn`: that of the first call.
 */
export function* withEveryKindOfFault(story: Story, calls: readonly CallOfStory[], turn: number): Generator<Story> {
  for (const [call, each] of calls.entries()) {
    for (const fate of fatesOf(each)) {
      if (isOfAnotherTurn(fate, each, call + turn) || isToldLater(fate, each, calls[call + 1])) continue;
      yield { ...story, faults: [{ call, fate }] };
    }
  }
}

/** The story with two faults, at each pair of its calls; which ones is drawn. */
export function* withEveryPair(story: Story, calls: readonly OutsideCall[], random: Random): Generator<Story> {
  for (const [first, one] of calls.entries()) {
    for (const [second, other] of calls.entries()) {
      if (second <= first) continue;
      yield { ...story, faults: [drawnFault(first, one, random), drawnFault(second, other, random)] };
    }
  }
}

/** The story with faults at two of its calls, which are two different ones; both are drawn. */
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
