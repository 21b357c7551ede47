/** Assigns stable names to transitions. Coverage, the list of next transitions and the drawings all use these names. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { transitionLabel } from './mermaidText.ts';

/** A transition as drawn in a chart. */
export interface NamedTransition {
  /** The result of `transitionId`. */
  readonly id: string;
  /** Dotted path of the source state. Empty for the machine itself. */
  readonly from: string;
  /** Dotted path of the target state. Undefined if the transition stays in its state. */
  readonly to?: string;
  /** The event and its guard as `event [guard]`. Empty for an eventless transition without a guard. */
  readonly label: string;
  /** The event type. Empty for an eventless transition. */
  readonly event: string;
}

export const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states);

/** Returns a state and all its substates, outer states first. */
export const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...childrenOf(node).flatMap(nodesOf)];

/** Returns the transitions of a state, grouped by event, in the order in which they are tried. */
export const transitionsOf = (node: AnyStateNode): AnyTransitionDefinition[][] => [
  ...(node.always ? [node.always] : []),
  ...node.transitions.values(),
];

/** Returns the dotted path of a state. Empty for the machine itself. */
export const dottedPath = (node: AnyStateNode): string => node.path.join('.');

/**
 * Names a transition by its state, its event and its index among the transitions of that event, such as `ended.choosing
 * always 3`. Returns undefined for the initial transition of a machine.
 */
export function transitionId(transition: AnyTransitionDefinition): string | undefined {
  const { source, eventType } = transition;
  // The initial transition of a machine is not among the candidates, because it has no event.
  const candidates = eventType === '' ? source.always : source.transitions.get(eventType);
  const index = candidates?.indexOf(transition) ?? -1;
  return index < 0 ? undefined : `${dottedPath(source) || '(root)'} ${eventType || 'always'} ${index}`;
}

/** Returns the IDs of the transitions taken in one microstep, as reported by the `@xstate.microstep` event. */
export const transitionIds = (transitions: readonly AnyTransitionDefinition[]): string[] =>
  transitions.flatMap((transition) => transitionId(transition) ?? []);

/** Describes a transition. `candidates` contains all transitions of its state for the same event. */
export function describeTransition(
  transition: AnyTransitionDefinition,
  candidates: readonly AnyTransitionDefinition[],
): NamedTransition {
  const { source, eventType, target } = transition;
  const to = target?.[0];
  return {
    id: transitionId(transition) ?? '',
    from: dottedPath(source),
    ...(to ? { to: dottedPath(to) } : {}),
    label: transitionLabel(transition, candidates),
    event: eventType,
  };
}

/** Returns all transitions of a machine, outer states first. */
export const describeTransitions = (machine: AnyStateMachine): NamedTransition[] =>
  nodesOf(machine.root).flatMap((node) =>
    transitionsOf(node).flatMap((candidates) =>
      candidates.map((transition) => describeTransition(transition, candidates)),
    ),
  );
