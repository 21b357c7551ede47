/** Generates variants of a story with every fault at each of its calls, one at a time or in pairs. */
import { Actor, type InspectionEvent, StateMachine } from 'xstate';
import { codesOf } from '../../faults/failures.ts';
import type { Random } from '../../random.ts';
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import { play } from '../play.ts';
import type { Story, StoryFault } from '../story.ts';

/** Calls that can be interrupted halfway. */
const INTERRUPTIBLE: ReadonlySet<string> = new Set(['writeFile', 'removeTree', 'rm', 'gzip', 'mkdir', 'setOwnership']);
const LATE_MS = 3_000;
const BEFORE: CallFault = { kind: 'death', when: 'before' };
const AFTER: CallFault = { kind: 'death', when: 'after' };

/** Synchronous calls, which can neither hang nor be late. */
const SYNCHRONOUS: ReadonlySet<string> = new Set([
  'readFileSync',
  'lstatSync',
  'isSamePathSync',
  'watch',
  'getContainerEvents',
  'restartRuntime',
]);

/**
 * Returns the faults that a call can meet, without equivalent ones. For a read, a lost reply is the same as a failure.
 */
export function faultsOf(call: OutsideCall): readonly CallFault[] {
  const codes = codesOf(call);
  const fails = codes.map((code): CallFault => ({ kind: 'fail', code }));
  const slow: readonly CallFault[] = SYNCHRONOUS.has(call.name)
    ? []
    : [{ kind: 'hang' }, { kind: 'late', ms: LATE_MS }];
  if (!call.writes) return [...fails, ...slow, BEFORE];
  const lost: CallFault = { kind: 'lostReply', ...(codes[0] === undefined ? {} : { code: codes[0] }) };
  return [...fails, lost, ...slow, BEFORE, ...(INTERRUPTIBLE.has(call.name) ? partialFaults(codes) : []), AFTER];
}

/** Returns faults that leave a call half done, because the agent crashes halfway or the disk fills up. */
function partialFaults(codes: readonly string[]): readonly CallFault[] {
  const code = codes.find((each) => each === 'ENOSPC') ?? codes[0];
  return [
    { kind: 'fail', inPart: true, ...(code === undefined ? {} : { code }) },
    { kind: 'death', when: 'during' },
  ];
}

/** A call of a story with its time. */
export interface StoryCall extends OutsideCall {
  /** Node time in milliseconds. */
  readonly at: number;
  /**
   * The call without the names of its objects, whether the story has already made such a call, and the states of the
   * pod and its containers. Two calls in the same situation differ in nothing on which the effect of a fault could
   * depend.
   */
  readonly situation: string;
}

/** Plays a story and returns its calls in order. */
export async function recordCalls(story: Story): Promise<readonly StoryCall[]> {
  const calls: StoryCall[] = [];
  const states = new PodStates();
  const previousCalls = new Set<string>();
  const faults = (call: OutsideCall, _: number, at: number) => {
    const kindOfCall = `${call.target} ${call.name} ${withoutNames(call.about)}`;
    const situation = `${kindOfCall}, ${previousCalls.has(kindOfCall) ? 'again' : 'first'}, ${states.summary()}`;
    previousCalls.add(kindOfCall);
    calls.push({ ...call, at, situation });
    return undefined;
  };
  await play(story, { invariants: [], faults, inspect: states.note });
  return calls;
}

/** Replaces IDs, UIDs, attempt numbers and the name of the pod in a path or ID. */
function withoutNames(about: string): string {
  return about
    .replace(/uid-of-[a-z]+|[0-9a-f]{12,}/g, '#')
    .replace(/[a-z]+-node-1/, '#')
    .replace(/\/[a-z]+\.json$/, '/#.json')
    .replace(/\/\d+(?=$|\.log$)/, '/#');
}

/** Tracks the states of the pods and containers of the current agent. */
class PodStates {
  #system: unknown;
  readonly #stateByActor = new Map<string, string>();

  readonly note = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.snapshot' || !('value' in event.snapshot)) return;
    const { actorRef } = event;
    if (!(actorRef instanceof Actor && actorRef.logic instanceof StateMachine)) return;
    const { sessionId, system, logic } = actorRef;
    const machineId: string = logic.id;
    if (machineId !== 'pod' && machineId !== 'container') return;
    if (system !== this.#system) this.#stateByActor.clear();
    this.#system = system;
    if (event.snapshot.status === 'active')
      this.#stateByActor.set(sessionId, `${machineId} ${JSON.stringify(event.snapshot.value)}`);
    else this.#stateByActor.delete(sessionId);
  };

  /** Returns the distinct states as text. Several containers in the same state count once. */
  summary(): string {
    return [...new Set(this.#stateByActor.values())].sort().join(' ');
  }
}

/**
 * Selects the calls of several stories at which faults are tried in this turn. For each situation, selects one call,
 * and a different one in each turn, so that every call is selected after enough turns. Returns a set of call indexes
 * for each story.
 */
export function selectCalls(stories: readonly (readonly StoryCall[])[], turn: number): readonly ReadonlySet<number>[] {
  const callsBySituation = new Map<string, { readonly story: number; readonly call: number }[]>();
  for (const [story, calls] of stories.entries()) {
    for (const [call, { situation }] of calls.entries()) {
      const others = callsBySituation.get(situation) ?? [];
      others.push({ story, call });
      callsBySituation.set(situation, others);
    }
  }
  const selected = stories.map(() => new Set<number>());
  // Starts each situation at a different story, so that a similar number of calls is selected from each story.
  for (const [index, calls] of [...callsBySituation.values()].entries()) {
    const { story, call } = calls[(turn + index) % calls.length] ?? { story: 0, call: 0 };
    selected[story]?.add(call);
  }
  return selected;
}

/**
 * Whether an agent that crashes before a call leaves the same state as one that crashes before the next call at the
 * same time.
 */
function leavesSameStateAsNext({ target, writes, at }: StoryCall, next: StoryCall | undefined): boolean {
  // Calls to the runtime have random latencies, so they are never equivalent.
  return !writes && target !== 'runtime' && at === next?.at;
}

/** Yields the story with each fault at each of its calls. */
export function* withEveryFault(story: Story, calls: readonly OutsideCall[]): Generator<Story> {
  for (const [call, each] of calls.entries()) {
    for (const fault of faultsOf(each)) yield { ...story, faults: [{ call, fault }] };
  }
}

/** Faults of reads, by the turn of the call. Writes fail in every turn. */
const TURN_FAULTS = ['fail', 'hang', 'late'] as const;

/**
 * Whether a fault is left for a different turn. In each turn, a call meets one of its errors, reads either fail or are
 * slow, and writes are rarely slow.
 */
function isLeftToOtherTurn(fault: CallFault, call: OutsideCall, turn: number): boolean {
  const kind = TURN_FAULTS[turn % TURN_FAULTS.length];
  if (fault.kind === 'hang' || fault.kind === 'late') return fault.kind !== kind;
  if (fault.kind !== 'fail' || fault.inPart) return false;
  const codes = codesOf(call);
  const isSlow = kind !== 'fail' && !call.writes && !SYNCHRONOUS.has(call.name);
  return isSlow || fault.code !== codes[Math.floor(turn / TURN_FAULTS.length) % codes.length];
}

/** Whether a crash of the agent at this call leaves the same state as a crash at the next call. */
function isCoveredByNext(fault: CallFault, call: StoryCall, next: StoryCall | undefined): boolean {
  return fault.kind === 'death' && leavesSameStateAsNext(call, next);
}

/**
 * Yields a smaller selection of `withEveryFault`. Depending on its turn, a call meets one of its errors, hangs or is
 * late, and only the last of several equivalent crashes is tried. `turn` is the turn of the first call.
 */
export function* withEveryKindOfFault(story: Story, calls: readonly StoryCall[], turn: number): Generator<Story> {
  for (const [call, each] of calls.entries()) {
    for (const fault of faultsOf(each)) {
      if (isLeftToOtherTurn(fault, each, call + turn) || isCoveredByNext(fault, each, calls[call + 1])) continue;
      yield { ...story, faults: [{ call, fault }] };
    }
  }
}

/** Yields the story with two random faults at each pair of its calls. */
export function* withEveryPair(story: Story, calls: readonly OutsideCall[], random: Random): Generator<Story> {
  for (const [first, one] of calls.entries()) {
    for (const [second, other] of calls.entries()) {
      if (second <= first) continue;
      yield { ...story, faults: [randomFault(first, one, random), randomFault(second, other, random)] };
    }
  }
}

/** Returns the story with random faults at two different random calls. */
export function withRandomPair(story: Story, calls: readonly OutsideCall[], random: Random): Story {
  const first = random.pick([...calls.entries()]);
  const others = [...calls.entries()].filter(([call]) => call !== first[0]);
  const faults = [first, random.pick(others)].map((each) => randomFault(...each, random));
  return { ...story, faults };
}

const randomFault = (call: number, at: OutsideCall, random: Random): StoryFault => ({
  call,
  fault: random.pick(faultsOf(at)),
});
