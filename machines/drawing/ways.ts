/** The transitions of a machine by names that stay the same: what was taken, what comes next and what is drawn are told by them. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { wayLabel } from './mermaidText.ts';

/** A transition as a chart shows it. */
export interface Way {
  /** As `wayId` names it. */
  readonly id: string;
  /** The state that it leaves, dotted; empty for the machine itself. */
  readonly from: string;
  /** The state that it leads to; absent where it stays. */
  readonly to?: string;
  /** `event [guard]`; empty for one that is taken at once. */
  readonly label: string;
  /** Empty for one that is taken as soon as its guard holds. */
  readonly event: string;
}

/** The states directly inside one. */
export const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states);

/** A state and all that is inside it, the outer ones first. */
export const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...childrenOf(node).flatMap(nodesOf)];

/** Every transition of a state on one event or none, in the order in which they are tried. */
export const transitionsOf = (node: AnyStateNode): AnyTransitionDefinition[][] => [
  ...(node.always ? [node.always] : []),
  ...node.transitions.values(),
];

/** A state's place in its machine, dotted; empty for the machine itself. */
export const dotted = (node: AnyStateNode): string => node.path.join('.');

/**
 * The name of a transition: its state, its event, and which of those that this event has there; `ended.choosing always 3`.
 * Undefined for what is no transition of a chart: the first step of a machine.
 */
export function wayId(transition: AnyTransitionDefinition): string | undefined {
  const { source, eventType } = transition;
  // The step in which a machine begins has a source and no event.
  const tried = eventType === '' ? source.always : source.transitions.get(eventType);
  const index = tried?.indexOf(transition) ?? -1;
  return index < 0 ? undefined : `${dotted(source) || '(root)'} ${eventType || 'always'} ${index}`;
}

/** The transitions that one microstep took, as an actor's `@xstate.microstep` tells of them. */
export const wayIdsOf = (taken: readonly AnyTransitionDefinition[]): string[] =>
  taken.flatMap((transition) => wayId(transition) ?? []);

/** One transition, of those that are tried with it. */
export function wayOf(transition: AnyTransitionDefinition, tried: readonly AnyTransitionDefinition[]): Way {
  const { source, eventType, target } = transition;
  const to = target?.[0];
  return {
    id: wayId(transition) ?? '',
    from: dotted(source),
    ...(to ? { to: dotted(to) } : {}),
    label: wayLabel(transition, tried),
    event: eventType,
  };
}

/** All transitions of a machine, those of outer states first. */
export const waysOf = (machine: AnyStateMachine): Way[] =>
  nodesOf(machine.root).flatMap((node) =>
    transitionsOf(node).flatMap((tried) => tried.map((transition) => wayOf(transition, tried))),
  );
