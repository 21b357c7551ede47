/**
 * Explores a machine without running it: every state that realistic events lead to, and the effect of each event there.
 */
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
} from 'xstate';
import type { Failure, FailureReason } from '../../../base/failure.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';

/** The possible outputs of each port, by the name under which a machine invokes it. */
export type Outputs = Readonly<Record<string, (snapshot: AnyMachineSnapshot) => readonly unknown[]>>;

const failure = (reason: FailureReason, at = 0): Failure => ({ reason, message: reason, at });

/** Returns the innermost active states. */
export const leavesOf = (snapshot: AnyMachineSnapshot): AnyStateNode[] =>
  snapshot._nodes.filter(({ type }) => type === 'atomic' || type === 'final');

/** Returns the ID and the port name of each actor that is currently invoked. */
export const invokedBy = (snapshot: AnyMachineSnapshot): { id: string; src: string }[] =>
  snapshot._nodes.flatMap((node) => node.invoke.map(({ id, src }) => ({ id, src: String(src) })));

/** Whether the actor is a machine, which retries failed calls itself and therefore never fails. */
const isMachine = (src: string): boolean => src === 'image';

/** Returns every output and failure that a currently invoked port can have, and the end of a current timer. */
function answersTo(snapshot: AnyMachineSnapshot, outputs: Outputs): AnyEventObject[] {
  return invokedBy(snapshot).flatMap(({ id, src }): AnyEventObject[] => {
    if (src === 'timer') return [{ type: 'timer.elapsed' }];
    const answers = outputs[src];
    if (answers === undefined) throw new Error(`the outputs of this test do not say what ${src} may answer`);
    const done = answers(snapshot).map((output) => doneEvent(id, output));
    if (isMachine(src)) return done;
    const failed = (['RuntimeUnavailable', 'RuntimeError'] as const).map((reason) => failedEvent(id, reason));
    return [...done, ...failed];
  });
}

export const doneEvent = (actorId: string, output: unknown): AnyEventObject => ({
  type: `xstate.done.actor.${actorId}`,
  output,
  actorId,
});

export const failedEvent = (actorId: string, reason: FailureReason): AnyEventObject => ({
  type: `xstate.error.actor.${actorId}`,
  error: failure(reason),
  actorId,
});

export interface Reach {
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  /** Returns the events from outside that can occur at any time. */
  readonly events: (snapshot: AnyMachineSnapshot) => readonly AnyEventObject[];
  readonly outputs: Outputs;
  /** Returns the parts of the context that distinguish two snapshots in the same state. */
  readonly distinguish: (snapshot: AnyMachineSnapshot) => unknown;
}

export interface Step {
  readonly state: AnyMachineSnapshot;
  readonly event: AnyEventObject;
  readonly nextState: AnyMachineSnapshot;
}

/**
 * Returns the next snapshot after an event, without running the machine. XState's own `transition` creates an actor for
 * each call.
 */
export type Ask = (snapshot: AnyMachineSnapshot, event: AnyEventObject) => AnyMachineSnapshot;

export function asking(
  machine: AnyStateMachine,
  input: unknown,
): { readonly first: AnyMachineSnapshot; readonly ask: Ask } {
  const self = createActor(machine, { input });
  const nothing = () => {};
  const scope = {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: nothing,
    defer: nothing,
    emit: nothing,
    stopChild: nothing,
    actionExecutor: nothing,
  };
  return { first: self.getSnapshot(), ask: (snapshot, event) => machine.transition(snapshot, event, scope) };
}

/** Returns every step from every reachable state. Each state is explored once. */
export function stepsOf({ machine, input, events, outputs, distinguish }: Reach): Step[] {
  const { first, ask } = asking(machine, input);
  const keyOf = (snapshot: AnyMachineSnapshot) =>
    `${statePath(snapshot.value)} ${JSON.stringify(distinguish(snapshot))}`;
  const known = new Map([[keyOf(first), first]]);
  const steps: Step[] = [];
  // The iteration includes states that are added on the way.
  for (const state of known.values()) {
    if (state.status !== 'active') continue;
    for (const event of [...answersTo(state, outputs), ...events(state)]) {
      const nextState = ask(state, event);
      steps.push({ state, event, nextState });
      const key = keyOf(nextState);
      if (!known.has(key)) known.set(key, nextState);
    }
  }
  return steps;
}

/** Returns the tags of a state and of its ancestors. */
export const tagsOf = (node: AnyStateNode): string[] => [...node.tags, ...(node.parent ? tagsOf(node.parent) : [])];

/** Returns the atomic states of a machine. History states are left out, because no actor is ever in one. */
export function atomicStates(machine: AnyStateMachine): AnyStateNode[] {
  const below = (node: AnyStateNode): AnyStateNode[] => {
    if (node.type === 'history') return [];
    const children = Object.values(node.states);
    return children.length === 0 ? [node] : children.flatMap(below);
  };
  return below(machine.root);
}

/** Whether a state is transient, so that it is left in the same step in which it is entered. */
export const isPassing = (node: AnyStateNode): boolean =>
  node.invoke.length === 0 &&
  (node.always ?? []).some(({ guard, target }) => guard === undefined && target !== undefined);

/** Sends events until one of the states is reached, at most `steps` times. Returns the states on the way. */
export function leadTo(
  ask: Ask,
  from: AnyMachineSnapshot,
  {
    goals,
    next,
    steps = 40,
  }: { goals: readonly string[]; next: (snapshot: AnyMachineSnapshot) => AnyEventObject; steps?: number },
): string[] {
  const path: string[] = [];
  let snapshot = from;
  while (!goals.includes(statePath(snapshot.value)) && path.length < steps) {
    path.push(statePath(snapshot.value));
    snapshot = ask(snapshot, next(snapshot));
  }
  return [...path, statePath(snapshot.value)];
}

/** Picks the events that a machine receives. */
export interface World {
  readonly next: (snapshot: AnyMachineSnapshot) => AnyEventObject;
  /** Returns the part of the past on which the next events depend. Absent if they depend on the snapshot alone. */
  readonly memory?: () => string;
}

/**
 * Returns a variant of `leadTo` for many states of a machine. Each walk starts with a new world, and ends at a state from
 * which an earlier walk has reached a goal, because the same events would follow.
 */
export function memoizedLeadTo(
  ask: Ask,
  { goals, world, maxSteps = 40 }: { goals: readonly string[]; world: () => World; maxSteps?: number },
): (from: AnyMachineSnapshot) => string[] {
  const walked = new Map<string, { readonly goal: string; readonly steps: number }>();
  return (from) => {
    const { next, memory } = world();
    const path: string[] = [];
    const keys: string[] = [];
    for (let snapshot = from; keys.length <= maxSteps; snapshot = ask(snapshot, next(snapshot))) {
      const state = statePath(snapshot.value);
      const key = `${memory?.()} ${exactKeyOf(snapshot)}`;
      const rest = goals.includes(state) ? { goal: state, steps: 0 } : walked.get(key);
      if (rest !== undefined && keys.length + rest.steps <= maxSteps) {
        for (const [index, each] of keys.entries())
          walked.set(each, { goal: rest.goal, steps: rest.steps + keys.length - index });
        return [...path, rest.goal];
      }
      path.push(state);
      keys.push(key);
    }
    return path;
  };
}

const numberByText = new Map<string, number>();
const numberByObject = new WeakMap<object, number>();

/** Numbers a value of plain data. Equal values have the same number. */
function numberOf(value: unknown): number {
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? numberByObject.get(value) : undefined;
  if (known !== undefined) return known;
  const text = JSON.stringify(value) ?? 'undefined';
  const number = numberByText.get(text) ?? numberByText.size;
  numberByText.set(text, number);
  if (isObject) numberByObject.set(value, number);
  return number;
}

/** Identifies all that a machine's next steps depend on: its states and their history, its context and its children. */
function exactKeyOf({ value, historyValue, context, children }: AnyMachineSnapshot): string {
  const history = Object.values(historyValue).flatMap((nodes) => nodes.map(({ id }) => id));
  const fields = Object.keys(context).map((name) => `${name}=${numberOf(context[name])}`);
  return [statePath(value), history, fields, Object.keys(children)].join(' ');
}
