import { expect, test } from '@jest/globals';
import { type AnyStateMachine, StateMachine } from 'xstate';
import { nodeAgentMachine } from '../../../machines/node/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { FakePorts } from '../../fakes/ports.ts';

/**
 * Returns the actors that a machine and its child machines declare, except for machines. The keys are the ID of the
 * machine and the name of the actor.
 */
function declared({ id, implementations }: AnyStateMachine): Map<string, unknown> {
  const own = Object.entries(implementations.actors).map(([name, logic]) =>
    logic instanceof StateMachine ? declared(logic) : ([[`${id}.${name}`, logic]] as const),
  );
  return new Map(own.flatMap((each) => [...each]));
}

test('every port, feed and timer of every machine is provided under its own name', () => {
  const ports = new FakePorts(0);
  const requestedNames = new Set<string>();
  const feed = ports.feed();
  const machine = provideActors(nodeAgentMachine, {
    port: (name) => {
      requestedNames.add(name);
      return ports.port(name);
    },
    feed: (name) => {
      requestedNames.add(name);
      return feed;
    },
    timer: ports.timer,
  });
  const before = declared(nodeAgentMachine);
  const after = declared(machine);
  expect([...after.keys()]).toEqual([...before.keys()]);
  expect([...after].filter(([name, logic]) => logic === before.get(name))).toEqual([]);
  const names = [...before.keys()].map((name) => name.replace(/^.*\./, '')).filter((name) => name !== 'timer');
  expect([...requestedNames].toSorted()).toEqual([...new Set(names)].toSorted());
});

test('providing ports leaves the original machine unchanged', () => {
  const { actors } = nodeAgentMachine.implementations;
  provideActors(nodeAgentMachine, new FakePorts(0));
  expect(nodeAgentMachine.implementations.actors).toBe(actors);
});
