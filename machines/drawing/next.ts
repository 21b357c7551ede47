/** Finds the transitions that can leave the current state of an actor. */
import {
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  getStateNodes,
  type StateValue,
} from 'xstate';
import type { NextTransition } from '../../show/explain/nextTransition.ts';
import { transitionsOf, wayOf } from './ways.ts';

const TIMER = 'timer.elapsed';

/**
 * Returns the transitions out of a state: those of timers first, then those of the innermost state. Leaves out
 * transitions of outer states for events that an inner state always handles. `until` is the deadline of the state's
 * wait.
 */
export function nextWays(machine: AnyStateMachine, state: StateValue, until?: number): NextTransition[] {
  const ways = leavesOf(machine, state).flatMap((leaf) => waysOutOf(leaf, until));
  const once = [...new Map(ways.map((way) => [way.way, way])).values()];
  const isTimed = ({ at }: NextTransition) => at !== undefined;
  return [...once.filter(isTimed), ...once.filter((way) => !isTimed(way))];
}

function leavesOf(machine: AnyStateMachine, state: StateValue): AnyStateNode[] {
  const active = getStateNodes(machine.root, state);
  return active.filter((node) => !active.some(({ parent }) => parent === node));
}

const withParents = (node: AnyStateNode): AnyStateNode[] => [node, ...(node.parent ? withParents(node.parent) : [])];

function waysOutOf(leaf: AnyStateNode, until: number | undefined): NextTransition[] {
  const answered = new Set<string>();
  return withParents(leaf).flatMap((node) => {
    const own = transitionsOf(node).filter(([first]) => first && !answered.has(first.eventType));
    for (const [event] of own.map(certainly)) if (event !== undefined) answered.add(event);
    return own.flatMap((tried) => {
      // A transition without target and actions discards its event, so it is not listed.
      const shown = reachable(tried).filter(({ target, actions }) => target || actions.length > 0);
      return shown.map((transition) => nextWay(transition, tried, until));
    });
  });
}

/** Returns the events that are always handled, because one of their transitions has no guard. */
const certainly = (tried: readonly AnyTransitionDefinition[]): string[] =>
  tried.filter(({ guard }) => guard === undefined).map(({ eventType }) => eventType);

/** Returns the transitions up to and including the first one without a guard. */
function reachable(tried: readonly AnyTransitionDefinition[]): readonly AnyTransitionDefinition[] {
  const certain = tried.findIndex(({ guard }) => guard === undefined);
  return certain < 0 ? tried : tried.slice(0, certain + 1);
}

function nextWay(
  transition: AnyTransitionDefinition,
  tried: readonly AnyTransitionDefinition[],
  until: number | undefined,
): NextTransition {
  const { id, to, label } = wayOf(transition, tried);
  const isTimed = transition.eventType === TIMER && until !== undefined;
  return { way: id, on: label, ...(to === undefined ? {} : { to }), ...(isTimed ? { at: until } : {}) };
}
