import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createActor, createMachine } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { misfitsOf, staleIn } from '../../../simulation/coverage/check.ts';
import { Coverage } from '../../../simulation/coverage/coverage.ts';
import { lineOf, pageOf } from '../../../simulation/coverage/report.ts';
import { keyOf, statesOf, transitionsOf } from '../../../simulation/coverage/transitions.ts';
import { reasonOf, unreached } from '../../../simulation/coverage/unreached.ts';
import { invariants } from '../../../simulation/invariants/all.ts';
import { play } from '../../../simulation/stories/play.ts';
import { pointedStories } from '../../../simulation/stories/pointedStories.ts';
import { shortStories } from '../../../simulation/stories/shortStories.ts';
import { striking } from '../../../simulation/stories/striking.ts';

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
  expect(staleIn(machines)).toEqual([]);
  expect(staleIn(machines.filter(({ id }) => id !== 'probe')).join()).toContain('"machine":"probe"');
});

test('what is not taken without a reason, and what is taken although there is one, are told by their names', () => {
  const [probe] = machines.filter(({ id }) => id === 'probe');
  if (probe === undefined) throw new Error('there is no machine of probes');
  const untaken = misfitsOf(new Coverage(), [probe]).filter((each) => !each.startsWith('a reason for no'));
  expect(untaken).toContain('not taken, without a reason: probe unknown.waiting timer.elapsed 0');
  expect(untaken.filter((each) => each.includes('xstate.error.actor'))).toEqual([]);
  const everything = new Coverage();
  everything.of = (machine) => ({ ...new Coverage().of(machine), missed: [], missedStates: [] });
  const taken = misfitsOf(everything, machines);
  expect(taken).toContain(
    'taken, although there is a reason why it is not: probe unknown.probing xstate.error.actor.0.probe.unknown.probing 0',
  );
  const rare = unreached.filter(({ isRare }) => isRare).length;
  expect(rare).toBeGreaterThan(0);
  const listed = machines.flatMap(transitionsOf).filter((each) => reasonOf(each) !== undefined);
  expect(taken).toHaveLength(listed.length - rare);
});

describe('the page', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/simulation-coverage.md'), 'utf8');

  test.each(machines.map((machine) => [machine.id, machine] as const))(
    'has all states and transitions of %s, and for each that was not taken a reason',
    (id, machine) => {
      const [, taken] =
        new RegExp(
          `^\\| \\[${id}\\]\\(charts/${id}.md\\) \\| \\d+ of ${statesOf(machine).length} \\| (\\d+) of ${transitionsOf(machine).length} \\|$`,
          'm',
        ).exec(page) ?? [];
      const section = page.split(`\n## ${id}\n`)[1]?.split('\n## ')[0] ?? '';
      const lines = section
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .slice(1);
      expect(lines).toHaveLength(transitionsOf(machine).length - Number(taken));
      const known = transitionsOf(machine).filter((each) => reasonOf(each) !== undefined);
      expect(known.map(lineOf)).toEqual(expect.arrayContaining(lines));
    },
  );
});

test.each(Object.entries(pointedStories))('every invariant holds: %s', async (_, { struck, ...story }) => {
  const faults = striking(struck);
  const { violation } = await play({ seed: 1, faults: [], ...story }, { invariants, faults });
  expect(violation).toBeUndefined();
});
