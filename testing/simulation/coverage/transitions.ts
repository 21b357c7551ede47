/** The states and transitions of a machine, with keys that are stable over runs. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

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
}

const statePath = (node: AnyStateNode): string => node.path.join('.');

export const keyOf = ({ machine, from, event, index }: Omit<KnownTransition, 'to'>): string =>
  [machine, from || '(root)', event || 'always', index].join(' ');

/** The key of a transition that was taken. */
export function takenKey(source: AnyStateNode, eventType: string, transition: unknown): string {
  const candidates: readonly unknown[] =
    eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  const index = candidates.indexOf(transition);
  if (index < 0) throw new Error(`${source.id} has no such transition for ${eventType || 'what is always so'}`);
  return keyOf({ machine: source.machine.id, from: statePath(source), event: eventType, index });
}

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

/** The states of a machine without the root, outer states first. */
export const statesOf = (machine: AnyStateMachine): string[] =>
  nodesOf(machine.root)
    .slice(1)
    .filter(({ type }) => type !== 'history')
    .map(statePath);

/** All transitions of a machine, those of outer states first. */
export function transitionsOf(machine: AnyStateMachine): KnownTransition[] {
  return nodesOf(machine.root).flatMap((node) => {
    const known = (event: string, all: readonly { readonly target?: readonly AnyStateNode[] | undefined }[]) =>
      all.map(({ target = [] }, index) => ({
        machine: machine.id,
        from: statePath(node),
        event,
        index,
        to: target.map(statePath),
      }));
    const onEvents = [...node.transitions].flatMap(([event, all]) => known(event, all));
    return [...onEvents, ...known('', node.always ?? [])];
  });
}
