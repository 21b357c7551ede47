/** Exports a machine as plain JSON, which Stately's editor and visualizer can import. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { guardName } from './mermaidText.ts';
import { childrenOf, dottedPath } from './ways.ts';

/** A transition of a `StateDefinition`. Actions and guards are represented by their names. */
interface Transition {
  /** IDs of the target states, such as `#pod.running`. Missing if the transition stays in its state. */
  readonly target?: readonly string[];
  readonly guard?: string;
  readonly actions?: readonly string[];
  readonly reenter?: true;
  readonly description?: string;
}

type Transitions = readonly Transition[];

interface Invocation {
  readonly id: string;
  readonly src: string;
  readonly onDone?: Transitions;
  readonly onError?: Transitions;
}

/** Config of a state as accepted by XState's `createMachine`, but without functions. */
export interface StateDefinition {
  readonly description?: string;
  readonly type?: 'parallel' | 'final' | 'history';
  readonly history?: 'shallow' | 'deep';
  /** Key of the initial substate, or the ID of a deeper state. */
  readonly initial?: string;
  readonly tags?: readonly string[];
  readonly meta?: object;
  readonly entry?: readonly string[];
  readonly exit?: readonly string[];
  readonly invoke?: readonly Invocation[];
  readonly always?: Transitions;
  readonly on?: Readonly<Record<string, Transitions>>;
  readonly onDone?: Transitions;
  readonly states?: Readonly<Record<string, StateDefinition>>;
}

/** Definition of a whole machine, with its ID. */
export interface MachineDefinition extends StateDefinition {
  readonly id: string;
}

/**
 * Returns the definition of a machine. Guards, actions, ports and child machines are represented by their names. An
 * unnamed action is represented by its type, such as `assign`. Functions in `meta` are left out.
 */
export const definitionOf = (machine: AnyStateMachine): MachineDefinition => ({
  id: machine.id,
  ...stateDefinition(machine.root),
});

function stateDefinition(node: AnyStateNode): StateDefinition {
  const { description, history, tags } = node;
  const meta = Object.entries(node.meta ?? {}).filter(([, value]) => typeof value !== 'function');
  const { on, invoke, onDone } = transitionsByOrigin(node);
  const entry = node.entry.map(actionName);
  const exit = node.exit.map(actionName);
  const always = (node.always ?? []).map(transition);
  const children = childrenOf(node);
  return {
    ...(description === undefined ? {} : { description }),
    ...(node.type === 'parallel' || node.type === 'final' || node.type === 'history' ? { type: node.type } : {}),
    ...(node.type === 'history' && history !== false ? { history } : {}),
    ...(node.type === 'compound' ? { initial: initialKey(node) } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(meta.length > 0 ? { meta: Object.fromEntries(meta) } : {}),
    ...(entry.length > 0 ? { entry } : {}),
    ...(exit.length > 0 ? { exit } : {}),
    ...(invoke.length > 0 ? { invoke } : {}),
    ...(always.length > 0 ? { always } : {}),
    ...(on.size > 0 ? { on: Object.fromEntries(on) } : {}),
    ...(onDone === undefined ? {} : { onDone }),
    ...(children.length > 0
      ? { states: Object.fromEntries(children.map((child) => [child.key, stateDefinition(child)])) }
      : {}),
  };
}

/** Returns the key of the initial state, or its ID if the initial state is not a direct child. */
function initialKey(node: AnyStateNode): string {
  const [target] = node.initial.target ?? [];
  if (target === undefined) throw new Error(`the state ${dottedPath(node)} has no initial state`);
  return target.parent === node ? target.key : `#${target.id}`;
}

/** Groups the transitions of a state by trigger: an invoked actor, the completion of the state, or any other event. */
function transitionsByOrigin(node: AnyStateNode) {
  const on = new Map<string, Transitions>([...node.transitions].map(([event, each]) => [event, each.map(transition)]));
  const takeTransitions = (event: string): Transitions | undefined => {
    const transitions = on.get(event);
    on.delete(event);
    return transitions;
  };
  const invoke = node.invoke.map((each) => invocation(each, takeTransitions));
  const onDone = takeTransitions(`xstate.done.state.${node.id}`);
  return { on, invoke, onDone };
}

function invocation(
  { id, src }: AnyStateNode['invoke'][number],
  takeTransitions: (event: string) => Transitions | undefined,
): Invocation {
  const onDone = takeTransitions(`xstate.done.actor.${id}`);
  const onError = takeTransitions(`xstate.error.actor.${id}`);
  return {
    id,
    src: typeof src === 'string' ? src : 'child',
    ...(onDone === undefined ? {} : { onDone }),
    ...(onError === undefined ? {} : { onError }),
  };
}

function transition({ target, guard, actions, reenter, description }: AnyTransitionDefinition): Transition {
  return {
    ...(target === undefined ? {} : { target: target.map(({ id }) => `#${id}`) }),
    ...(guard === undefined ? {} : { guard: guardName(guard) }),
    ...(actions.length > 0 ? { actions: actions.map(actionName) } : {}),
    ...(reenter ? { reenter } : {}),
    ...(description === undefined ? {} : { description }),
  };
}

function actionName(action: unknown): string {
  if (typeof action === 'string') return action;
  const type: unknown = Object(action).type;
  if (typeof type !== 'string') throw new Error('an action of a machine has no name');
  return type.replace(/^xstate\./, '');
}
