import { describe, expect, test } from '@jest/globals';
import { type AnyTransitionDefinition, createActor, type InspectionEvent } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import {
  describeTransitions,
  dottedPath,
  nodesOf,
  transitionId,
  transitionIds,
  transitionsOf,
} from '../../../machines/drawing/ways.ts';
import { limiterMachine } from '../../../machines/limiter/chart.ts';

describe.each(machines.map((machine) => [machine.id, machine] as const))('the transitions of %s', (_, machine) => {
  const transitions = nodesOf(machine.root).flatMap((node) => transitionsOf(node).flat());

  test('have unique names', () => {
    const ids = transitions.map(transitionId);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(transitions.length);
    expect(describeTransitions(machine).map(({ id }) => id)).toEqual(ids);
  });

  test('have the same names if other guards and ports are provided', () => {
    expect(describeTransitions(machine.provide({}))).toEqual(describeTransitions(machine));
  });

  test('connect existing states', () => {
    const states = nodesOf(machine.root).map(dottedPath);
    const ends = describeTransitions(machine).flatMap(({ from, to }) => [from, ...(to === undefined ? [] : [to])]);
    expect(ends.filter((state) => !states.includes(state))).toEqual([]);
  });
});

test('a name contains the state, the event and the index of the transition', () => {
  const ways = new Map(machines.flatMap((machine) => describeTransitions(machine).map((way) => [way.id, way])));
  expect(ways.get('ended.choosing always 4')).toEqual({
    id: 'ended.choosing always 4',
    from: 'ended.choosing',
    to: 'ended.backingOff',
    event: '',
    label: '[mustRestart and mustBackOff]',
  });
  expect(ways.get('(root) container.update 0')).toEqual({
    id: '(root) container.update 0',
    from: '',
    event: 'container.update',
    label: 'container.update',
  });
});

test('a microstep reports transitions by the names in the chart', () => {
  const taken: string[] = [];
  const inspect = (event: InspectionEvent) => {
    if (event.type === '@xstate.microstep') taken.push(...transitionIds(event._transitions));
  };
  const limiter = createActor(limiterMachine, { input: { capacity: 1 }, inspect });
  limiter.start();
  limiter.send({ type: 'slot.request', key: 'pod/1/start', holder: [], arrivalOrder: 1, purpose: 'a start' });
  const known = describeTransitions(limiterMachine).map(({ id }) => id);
  expect(taken.length).toBeGreaterThan(0);
  expect(taken.filter((id) => !known.includes(id))).toEqual([]);
});

test('the initial step of a machine is not a transition of its chart', () => {
  const [machine] = machines;
  if (machine === undefined) throw new Error('there are no machines');
  // XState describes the initial step in this form.
  const first = { source: machine.root, target: [], eventType: null } as unknown as AnyTransitionDefinition;
  expect(transitionIds([first])).toEqual([]);
});
