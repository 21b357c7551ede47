import { describe, expect, test } from '@jest/globals';
import { type AnyStateMachine, createMachine } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { definitionOf } from '../../../machines/drawing/definition.ts';
import { describeTransitions, dottedPath, nodesOf } from '../../../machines/drawing/ways.ts';

/** Returns the properties of each state that an exported definition preserves. */
const stateSummaries = (machine: AnyStateMachine) =>
  nodesOf(machine.root).map((node) => ({
    path: dottedPath(node),
    type: node.type,
    history: node.history,
    initial: node.initial.target?.map(({ id }) => id),
    description: node.description,
    tags: [...node.tags],
    meta: JSON.parse(JSON.stringify(node.meta ?? {})),
    invoke: node.invoke.map(({ id, src }) => `${id} ${String(src)}`),
    actions: [node.entry.length, node.exit.length],
  }));

describe.each(machines.map((machine) => [machine.id, machine] as const))('the definition of %s', (_id, machine) => {
  const text = JSON.stringify(definitionOf(machine));
  const imported = createMachine(JSON.parse(text));

  test('has the states of the machine', () => {
    expect(stateSummaries(imported)).toEqual(stateSummaries(machine));
  });

  test('has the transitions of the machine, in their order, with their guards and actions', () => {
    const actionCounts = (each: AnyStateMachine) =>
      nodesOf(each.root).map(({ transitions }) =>
        [...transitions.values()].flat().map(({ actions, reenter }) => [actions.length, reenter]),
      );
    expect(describeTransitions(imported)).toEqual(describeTransitions(machine));
    expect(actionCounts(imported)).toEqual(actionCounts(machine));
  });

  test('contains names instead of functions', () => {
    // The only permitted events of XState are the completion and the failure of any child.
    expect(text).not.toMatch(/=>|"xstate\.(?!(?:done|error)\.actor\.\*")/);
  });
});
