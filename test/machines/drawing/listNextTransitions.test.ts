import { describe, expect, test } from '@jest/globals';
import { type AnyStateMachine, type AnyStateNode, type AnyTransitionDefinition, type StateValue, setup } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { listNextTransitions } from '../../../machines/drawing/listNextTransitions.ts';
import { transitionId, transitionsOf } from '../../../machines/drawing/ways.ts';
import { atomicStates } from '../support/reach.ts';

/**
 * Transitions that are listed but cannot be taken, because their guards fail whenever the guards of the inner state do.
 * The names of the guards do not reveal this.
 */
const EXCLUDED = ['active admission.admitted 1'];

/** Returns the value of a machine that is in this atomic state. */
const stateValueOf = ({ path }: AnyStateNode): StateValue =>
  path
    .toReversed()
    .reduce<StateValue | undefined>((inner, key) => (inner === undefined ? key : { [key]: inner }), undefined) ?? {};

const around = (node: AnyStateNode): AnyStateNode[] => [node, ...(node.parent ? around(node.parent) : [])];

/**
 * Returns a function that lists the transitions that a machine takes on an event if its guards have the given results.
 */
function withGuardResults(machine: AnyStateMachine) {
  let hold: (guard: string) => boolean = () => false;
  const names = Object.keys(machine.implementations.guards);
  const guards = Object.fromEntries(names.map((name) => [name, () => hold(name)]));
  const provided = machine.provide({ guards });
  return (state: StateValue, event: string, results: (guard: string) => boolean) => {
    hold = results;
    const snapshot = provided.resolveState({ value: state, context: {} as never });
    return provided.getTransitionData(snapshot, { type: event }).map(transitionId);
  };
}

/** Returns the names of the guards that a guard consists of. */
function namesIn(guard: unknown): string[] {
  if (typeof guard === 'string') return [guard];
  if (typeof guard === 'object' && guard !== null && 'type' in guard) return [String(guard.type)];
  return typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards)
    ? guard.guards.flatMap(namesIn)
    : [];
}

/** Yields every combination of results of these guards. */
function* guardResultsOf(names: readonly string[]) {
  for (let turn = 0; turn < 2 ** names.length; turn += 1)
    yield (name: string) => (turn >> names.indexOf(name)) % 2 === 1;
}

describe.each(machines.map((machine) => [machine.id, machine] as const))('the next transitions of %s', (_, machine) => {
  const states = atomicStates(machine).map((node) => [node.path.join('.'), node] as const);
  const takenOf = withGuardResults(machine);

  test.each(states)(
    'include every possible transition from %s, and none that an inner state handles first',
    (_name, node) => {
      const shown = listNextTransitions(machine, stateValueOf(node)).map(({ way }) => way);
      const all = around(node).flatMap((each) => transitionsOf(each).flat());
      const isSilent = ({ target, actions }: AnyTransitionDefinition) => !target && actions.length === 0;
      const silent = all.filter(isSilent).map(transitionId);
      const taken = new Set<string | undefined>();
      for (const event of new Set(all.map(({ eventType }) => eventType).filter(isOfEvent))) {
        const names = all.filter(({ eventType }) => eventType === event).flatMap(({ guard }) => namesIn(guard));
        for (const results of guardResultsOf([...new Set(names)]))
          for (const way of takenOf(stateValueOf(node), event, results)) taken.add(way);
      }
      expect([...taken].filter((way) => !shown.includes(String(way)) && !silent.includes(way))).toEqual([]);
      const isAtOnce = (way: string) => / always \d+$/.test(way) || way.includes('*');
      expect(shown.filter((way) => !isAtOnce(way) && !taken.has(way) && !EXCLUDED.includes(way))).toEqual([]);
    },
  );
});

/** Whether an event has a type of its own. Eventless transitions have none, and a wildcard stands for many. */
const isOfEvent = (event: string): boolean => event !== '' && !event.includes('*');

const container = machines.find(({ id }) => id === 'container');

test('a timer is listed first with its deadline, then the transitions of inner states', () => {
  if (container === undefined) throw new Error('there is no container');
  const ways = listNextTransitions(container, { ended: 'backingOff' }, 1_000);
  expect(ways[0]).toEqual({
    way: 'ended.backingOff timer.elapsed 0',
    on: 'timer.elapsed',
    to: 'pending.restarting',
    at: 1_000,
  });
  expect(ways.filter(({ at }) => at !== undefined)).toHaveLength(1);
  const order = ways.map(({ way }) => way.split(' ')[0]);
  expect(order.indexOf('ended')).toBeGreaterThan(order.lastIndexOf('ended.backingOff'));
  expect(order.indexOf('(root)')).toBeGreaterThan(order.lastIndexOf('ended'));
});

test('events that an inner state always handles or discards are omitted', () => {
  const machine = setup({ guards: { isRight: () => true } }).createMachine({
    initial: 'outer',
    on: { taken: '.other', declined: '.other', asked: '.other' },
    states: {
      outer: {
        initial: 'inner',
        states: {
          inner: { on: { taken: 'next', declined: {}, asked: { guard: 'isRight', target: 'next' } } },
          next: {},
        },
      },
      other: {},
    },
  });
  expect(listNextTransitions(machine, { outer: 'inner' }).map(({ on, to }) => [on, to])).toEqual([
    ['taken', 'outer.next'],
    ['asked [isRight]', 'outer.next'],
    ['asked', 'other'],
  ]);
});
