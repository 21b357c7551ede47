/** The states and transitions of a machine, with keys that are stable over runs. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { CoverageGap } from '../../../machines/shared/coverageGaps.ts';
import type { StateMeta } from '../../../machines/shared/stateMeta.ts';

/** A transition of a chart. */
export interface KnownTransition {
  readonly machine: string;
  /** The source state as a dotted path. Empty for the machine itself. */
  readonly from: string;
  /** Empty for an eventless (`always`) transition. */
  readonly event: string;
  /** The index among the transitions for this event in this state. */
  readonly index: number;
  /** The target states. Empty for a transition without target. */
  readonly to: readonly string[];
  /** Why no simulation takes the transition. Undefined if one does. */
  readonly coverageGap?: CoverageGap | undefined;
}

const statePath = (node: AnyStateNode): string => node.path.join('.');

export const keyOf = ({ machine, from, event, index }: Omit<KnownTransition, 'to'>): string =>
  [machine, from || '(root)', event || 'always', index].join(' ');

/** Returns the key of a transition that was taken. */
export function takenKey(source: AnyStateNode, eventType: string, transition: unknown): string {
  const candidates: readonly unknown[] =
    eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  const index = candidates.indexOf(transition);
  if (index < 0) throw new Error(`${source.id} has no such transition for ${eventType || 'what is always so'}`);
  return keyOf({ machine: source.machine.id, from: statePath(source), event: eventType, index });
}

/** Returns the reason in the `meta` of a transition or state. */
const coverageGapIn = (meta: unknown): CoverageGap | undefined =>
  // Every machine here declares StateMeta as its meta type.
  (meta as StateMeta | undefined)?.coverageGap;

/** Returns the reason that a state or the innermost state around it declares for all of its transitions. */
const coverageGapOf = (node: AnyStateNode): CoverageGap | undefined =>
  coverageGapIn(node.meta) ?? (node.parent && coverageGapOf(node.parent));

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

/** Returns the states of a machine without the root, outer states first. */
export const statesOf = (machine: AnyStateMachine): string[] =>
  nodesOf(machine.root)
    .slice(1)
    .filter(({ type }) => type !== 'history')
    .map(statePath);

/** Returns all transitions of a machine, those of outer states first. */
export function transitionsOf(machine: AnyStateMachine): KnownTransition[] {
  return nodesOf(machine.root).flatMap((node) => {
    const known = (event: string, all: readonly AnyTransitionDefinition[]) =>
      all.map(({ target = [], meta }, index) => ({
        machine: machine.id,
        from: statePath(node),
        event,
        index,
        to: target.map(statePath),
        coverageGap: coverageGapIn(meta) ?? coverageGapOf(node),
      }));
    const onEvents = [...node.transitions].flatMap(([event, all]) => known(event, all));
    return [...onEvents, ...known('', node.always ?? [])];
  });
}
