import { expect, test } from '@jest/globals';
import { createActor, createMachine } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { Coverage } from '../../../simulation/coverage/coverage.ts';
import { pageOf } from '../../../simulation/coverage/report.ts';
import { keyOf, transitionsOf } from '../../../simulation/coverage/transitions.ts';
import { isMeant, unreached } from '../../../simulation/coverage/unreached.ts';
import { play } from '../../../simulation/stories/play.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';

const lamp = createMachine({
  id: 'lamp',
  initial: 'off',
  states: {
    off: { on: { press: [{ guard: () => false, target: 'broken' }, { target: 'on' }] } },
    on: { on: { press: 'off' } },
    broken: {},
  },
});

test('what was not entered and not taken is told by its name, also among several for one event', () => {
  const coverage = new Coverage();
  const actor = createActor(lamp, { inspect: coverage.note }).start();
  actor.send({ type: 'press' });
  const { missedStates, missed, states, transitions } = coverage.of(lamp);
  expect(states).toEqual(['off', 'on', 'broken']);
  expect(missedStates).toEqual(['broken']);
  expect(transitions).toHaveLength(3);
  expect(missed.map(keyOf)).toEqual(['lamp off press 0', 'lamp on press 0']);
  expect(pageOf(coverage, [lamp], 0)).toContain('| [lamp](charts/lamp.md) | 2 of 3 | 1 of 3 |');
});

test('a simulation takes transitions of the machines that run in it', async () => {
  const coverage = new Coverage();
  const [story] = Object.values(shortStories);
  if (story !== undefined) await play(story, { invariants: [], inspect: coverage.note });
  const reached = Object.fromEntries(
    machines.map((machine) => {
      const { transitions, missed } = coverage.of(machine);
      return [machine.id, transitions.length - missed.length];
    }),
  );
  for (const id of ['nodeAgent', 'pod', 'container', 'volume', 'limiter']) expect(reached[id]).toBeGreaterThan(0);
});

test('each reason why a transition is not taken is that of one that there is', () => {
  const all = machines.flatMap(transitionsOf);
  const stale = unreached.filter((each) => !all.some((transition) => isMeant(each, transition)));
  expect(stale).toEqual([]);
});
