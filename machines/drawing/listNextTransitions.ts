/** Finds the transitions out of the current state of an actor. */
import {
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  getStateNodes,
  type StateValue,
} from 'xstate';
import type { NextTransition } from '../../show/explain/nextTransition.ts';
import { describeTransition, transitionsOf } from './ways.ts';

const TIMER_EVENT = 'timer.elapsed';

/**
 * Lists the transitions out of a state. Timer transitions come first, and inner states come before outer ones. Omits an
 * outer state's transitions for events that an inner state always handles. `until` is the deadline of the state's wait.
 */
export function listNextTransitions(machine: AnyStateMachine, state: StateValue, until?: number): NextTransition[] {
  const transitions = leavesOf(machine, state).flatMap((leaf) => transitionsOutOf(leaf, until));
  const uniqueTransitions = [...new Map(transitions.map((transition) => [transition.way, transition])).values()];
  const isTimed = ({ at }: NextTransition) => at !== undefined;
  return [...uniqueTransitions.filter(isTimed), ...uniqueTransitions.filter((transition) => !isTimed(transition))];
}

function leavesOf(machine: AnyStateMachine, state: StateValue): AnyStateNode[] {
  const activeNodes = getStateNodes(machine.root, state);
  return activeNodes.filter((node) => !activeNodes.some(({ parent }) => parent === node));
}

const withAncestors = (node: AnyStateNode): AnyStateNode[] => [
  node,
  ...(node.parent ? withAncestors(node.parent) : []),
];

function transitionsOutOf(leaf: AnyStateNode, until: number | undefined): NextTransition[] {
  const handledEvents = new Set<string>();
  return withAncestors(leaf).flatMap((node) => {
    const own = transitionsOf(node).filter(([first]) => first && !handledEvents.has(first.eventType));
    for (const [event] of own.map(unconditionalEvents)) if (event !== undefined) handledEvents.add(event);
    return own.flatMap((candidates) => {
      // A transition without a target or actions discards its event, so it is not listed.
      const visibleTransitions = reachableTransitions(candidates).filter(
        ({ target, actions }) => target || actions.length > 0,
      );
      return visibleTransitions.map((transition) => nextTransition(transition, candidates, until));
    });
  });
}

/** Returns the events that are always handled, because one of the transitions for the event has no guard. */
const unconditionalEvents = (candidates: readonly AnyTransitionDefinition[]): string[] =>
  candidates.filter(({ guard }) => guard === undefined).map(({ eventType }) => eventType);

/** Returns the transitions up to and including the first one without a guard. */
function reachableTransitions(candidates: readonly AnyTransitionDefinition[]): readonly AnyTransitionDefinition[] {
  const unguardedIndex = candidates.findIndex(({ guard }) => guard === undefined);
  return unguardedIndex < 0 ? candidates : candidates.slice(0, unguardedIndex + 1);
}

function nextTransition(
  transition: AnyTransitionDefinition,
  candidates: readonly AnyTransitionDefinition[],
  until: number | undefined,
): NextTransition {
  const { id, to, label } = describeTransition(transition, candidates);
  const isTimed = transition.eventType === TIMER_EVENT && until !== undefined;
  return { way: id, on: label, ...(to === undefined ? {} : { to }), ...(isTimed ? { at: until } : {}) };
}
