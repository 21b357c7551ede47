import { expect, test } from '@jest/globals';
import { type AnyStateMachine, StateMachine } from 'xstate';
import { nodeAgentMachine } from '../../../machines/node/chart.ts';
import { provideActors } from '../../../machines/shared/ports.ts';
import { FakePorts } from '../../fakes/ports.ts';

/** What a machine and all below it declare that is no machine, by the machine's id and the name there. */
function declared({ id, implementations }: AnyStateMachine): Map<string, unknown> {
  const own = Object.entries(implementations.actors).map(([name, logic]) =>
    logic instanceof StateMachine ? declared(logic) : ([[`${id}.${name}`, logic]] as const),
  );
  return new Map(own.flatMap((each) => [...each]));
}

test('every port, feed and timer of every machine is provided under its own name', () => {
  const ports = new FakePorts(0);
  const asked = new Set<string>();
  const feed = ports.feed();
  const machine = provideActors(nodeAgentMachine, {
    port: (name) => {
      asked.add(name);
      return ports.port(name);
    },
    feed: (name) => {
      asked.add(name);
      return feed;
    },
    timer: ports.timer,
  });
  const before = declared(nodeAgentMachine);
  const after = declared(machine);
  expect([...after.keys()]).toEqual([...before.keys()]);
  expect([...after].filter(([name, logic]) => logic === before.get(name))).toEqual([]);
  const names = [...before.keys()].map((name) => name.replace(/^.*\./, '')).filter((name) => name !== 'timer');
  expect([...asked].toSorted()).toEqual([...new Set(names)].toSorted());
});

test('providing ports leaves the original machine unchanged', () => {
  const { actors } = nodeAgentMachine.implementations;
  provideActors(nodeAgentMachine, new FakePorts(0));
  expect(nodeAgentMachine.implementations.actors).toBe(actors);
});
