/** Walks a machine without running it: every state that realistic events lead to, and what each event does there. */
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
} from 'xstate';
import type { Failure, FailureReason } from '../../../base/failure.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';

/** What a port may answer, by the name under which a machine invokes it. */
export type Outputs = Readonly<Record<string, (snapshot: AnyMachineSnapshot) => readonly unknown[]>>;

const failure = (reason: FailureReason, at = 0): Failure => ({ reason, message: reason, at });

/** The innermost active states. */
export const leavesOf = (snapshot: AnyMachineSnapshot): AnyStateNode[] =>
  snapshot._nodes.filter(({ type }) => type === 'atomic' || type === 'final');

/** What is invoked at present: the id, and the port's name. */
export const invokedBy = (snapshot: AnyMachineSnapshot): { id: string; src: string }[] =>
  snapshot._nodes.flatMap((node) => node.invoke.map(({ id, src }) => ({ id, src: String(src) })));

/** A machine of its own: what it asks for it tries again itself, and it ends only well. */
const isMachine = (src: string): boolean => src === 'image';

/** Every answer and failure that can come in for what is invoked at present, or the end of the wait. */
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
  /** Events from outside that may come at any time. */
  readonly events: (snapshot: AnyMachineSnapshot) => readonly AnyEventObject[];
  readonly outputs: Outputs;
  /** What of the context tells two snapshots in the same state apart. */
  readonly distinguish: (snapshot: AnyMachineSnapshot) => unknown;
}

export interface Step {
  readonly state: AnyMachineSnapshot;
  readonly event: AnyEventObject;
  readonly nextState: AnyMachineSnapshot;
}

/** What a machine does on an event, asked without running it; xstate's own `transition` makes an actor for every question. */
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

/** Every step from every reachable state, each state once: the machine is asked, not run. */
export function stepsOf({ machine, input, events, outputs, distinguish }: Reach): Step[] {
  const { first, ask } = asking(machine, input);
  const keyOf = (snapshot: AnyMachineSnapshot) =>
    `${statePath(snapshot.value)} ${JSON.stringify(distinguish(snapshot))}`;
  const known = new Map([[keyOf(first), first]]);
  const steps: Step[] = [];
  // What is found on the way is walked too.
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

/** The tags of a state and of those around it. */
export const tagsOf = (node: AnyStateNode): string[] => [...node.tags, ...(node.parent ? tagsOf(node.parent) : [])];

/** The atomic states of a machine, by path. Nothing is ever in one that stands for what was there before. */
export function atomicStates(machine: AnyStateMachine): AnyStateNode[] {
  const below = (node: AnyStateNode): AnyStateNode[] => {
    if (node.type === 'history') return [];
    const children = Object.values(node.states);
    return children.length === 0 ? [node] : children.flatMap(below);
  };
  return below(machine.root);
}

/** The states that only pass on: they are left in the same step in which they are entered. */
export const isPassing = (node: AnyStateNode): boolean =>
  node.invoke.length === 0 &&
  (node.always ?? []).some(({ guard, target }) => guard === undefined && target !== undefined);

/** Feeds events until one of the states is reached, or for so many steps: the states on the way. */
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

/** The world around a machine, which answers it. */
export interface World {
  readonly next: (snapshot: AnyMachineSnapshot) => AnyEventObject;
  /** The part of its past on which its next events depend. Absent if there is none. */
  readonly memory?: () => string;
}

/**
 * Returns a `leadTo` for many states of a machine. Each walk starts with a new world and ends where an earlier walk has
 * been, because from there the same events lead to the same goal.
 */
export function leading(
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
