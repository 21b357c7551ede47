/** The states and transitions of a machine, by names that stay the same over runs. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** A transition as a chart has it. */
export interface KnownTransition {
  readonly machine: string;
  /** The state that it leaves, dotted; empty for the machine itself. */
  readonly from: string;
  /** Empty for one that is taken as soon as its guard holds. */
  readonly event: string;
  /** Which of those that this event has in that state. */
  readonly index: number;
  /** Where it leads; empty for one that stays. */
  readonly to: readonly string[];
}

const statePath = (node: AnyStateNode): string => node.path.join('.');

export const keyOf = ({ machine, from, event, index }: Omit<KnownTransition, 'to'>): string =>
  [machine, from || '(root)', event || 'always', index].join(' ');

/** The transition of a chart that was taken. */
export function takenOf(source: AnyStateNode, eventType: string, transition: unknown): string {
  const candidates: readonly unknown[] =
    eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  const index = candidates.indexOf(transition);
  if (index < 0) throw new Error(`${source.id} has no such transition for ${eventType || 'what is always so'}`);
  return keyOf({ machine: source.machine.id, from: statePath(source), event: eventType, index });
}

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

/** The states of a machine that it can be in, the outer ones first; the machine itself is none. */
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
