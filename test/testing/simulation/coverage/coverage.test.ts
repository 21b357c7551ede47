import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type AnyStateMachine, createActor, createMachine } from 'xstate';
import { machines } from '../../../../machines/drawing/charts.ts';
import { coverageProblems } from '../../../../testing/simulation/coverage/check.ts';
import { Coverage } from '../../../../testing/simulation/coverage/coverage.ts';
import { formatPage, formatTransition } from '../../../../testing/simulation/coverage/report.ts';
import { keyOf, statesOf, transitionsOf } from '../../../../testing/simulation/coverage/transitions.ts';
import type { Violation } from '../../../../testing/simulation/invariants/invariant.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import { play } from '../../../../testing/simulation/stories/play.ts';
import { playPointed } from '../../../../testing/simulation/stories/pointed/playPointed.ts';
import { pointedStories } from '../../../../testing/simulation/stories/pointed/pointedStories.ts';
import { shortStories } from '../../../../testing/simulation/stories/scenarios/shortStories.ts';
import { root } from '../../../support/root.ts';

const lamp = createMachine({
  id: 'lamp',
  initial: 'off',
  states: {
    off: { on: { press: [{ guard: () => false, target: 'broken' }, { target: 'on' }] } },
    on: { on: { press: 'off' } },
    broken: {},
  },
});

test('states that were not entered and transitions that were not taken are listed by name, even among several for one event', () => {
  const coverage = new Coverage();
  const actor = createActor(lamp, { inspect: coverage.note }).start();
  actor.send({ type: 'press' });
  const { missedStates, missed, states, transitions } = coverage.of(lamp);
  expect(states).toEqual(['off', 'on', 'broken']);
  expect(missedStates).toEqual(['broken']);
  expect(transitions).toHaveLength(3);
  expect(missed.map(keyOf)).toEqual(['lamp off press 0', 'lamp on press 0']);
  const page = formatPage({ byAll: coverage, byPointed: new Coverage() }, [lamp], 0);
  expect(page).toContain('| [lamp](charts/lamp.md) | 2 of 3 | 1 of 3 | 0 |');
  expect(page).toContain('## lamp\n\nNever entered: `broken`.\n');
});

test('a state that the machine leaves immediately after its start counts as entered', () => {
  const quick = createMachine({
    id: 'quick',
    initial: 'new',
    states: { new: { always: 'on' }, on: {} },
  });
  const coverage = new Coverage();
  createActor(quick, { inspect: coverage.note }).start();
  expect(coverage.of(quick)).toMatchObject({ missedStates: [], missed: [] });
});

test('a simulation records the transitions of its machines', async () => {
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

test('untaken transitions without a reason, and taken ones with a reason, are reported by name', () => {
  const [probe] = machines.filter(({ id }) => id === 'probe');
  if (probe === undefined) throw new Error('there is no machine of probes');
  const untaken = coverageProblems(new Coverage(), [probe]);
  expect(untaken).toContain('not taken, without a reason: probe unknown.waiting timer.elapsed 0');
  expect(untaken.filter((each) => each.includes('xstate.error.actor'))).toEqual([]);
  const everything = new Coverage();
  everything.of = (machine) => ({ ...new Coverage().of(machine), missed: [], missedStates: [] });
  const taken = coverageProblems(everything, machines);
  expect(taken).toContain(
    'taken, although there is a reason why it is not: probe unknown.probing xstate.error.actor.0.probe.unknown.probing 0',
  );
  const declared = machines.flatMap(transitionsOf).filter(({ coverageGap }) => coverageGap !== undefined);
  const rare = declared.filter(({ coverageGap }) => coverageGap?.isRare);
  expect(rare.length).toBeGreaterThan(0);
  expect(taken).toHaveLength(declared.length - rare.length);
});

/** The coverage of the pointed stories, and the violation of each story. Each story is played only once. */
const byPointed = new Coverage();
const broken = new Map<string, Promise<Violation | undefined>>();
const brokenBy = (title: string): Promise<Violation | undefined> => {
  const told = broken.get(title) ?? tellPointed(title);
  broken.set(title, told);
  return told;
};
async function tellPointed(title: string): Promise<Violation | undefined> {
  const story = pointedStories[title] ?? { targetedFaults: [], actions: [], lastsMs: 0 };
  return (await playPointed(story, { invariants, inspect: byPointed.note })).violation;
}

test.each(Object.keys(pointedStories))('every invariant holds: %s', async (title) => {
  expect(await brokenBy(title)).toBeUndefined();
});

describe('the coverage page', () => {
  const page = readFileSync(join(root, 'docs/simulation-coverage.md'), 'utf8');
  const rowOf = (machine: AnyStateMachine) => {
    const { id } = machine;
    const [states, transitions] = [statesOf(machine).length, transitionsOf(machine).length];
    const said = `^\\| \\[${id}\\]\\(charts/${id}.md\\) \\| \\d+ of ${states} \\| (\\d+) of ${transitions} \\| (\\d+) \\|$`;
    const [, taken, pointed] = new RegExp(said, 'm').exec(page) ?? [];
    return { taken: Number(taken), pointed: Number(pointed) };
  };
  const sectionOf = ({ id }: AnyStateMachine) => page.split(`\n## ${id}\n`)[1]?.split('\n## ')[0] ?? '';
  const linesOf = (machine: AnyStateMachine) =>
    sectionOf(machine)
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(1);
  const all = machines.map((machine) => [machine.id, machine] as const);

  test.each(all)(
    'counts all states and transitions of %s, and has a reason for each transition that was not taken',
    (_, machine) => {
      const lines = linesOf(machine);
      expect(lines).toHaveLength(transitionsOf(machine).length - rowOf(machine).taken);
      const known = transitionsOf(machine).filter(({ coverageGap }) => coverageGap !== undefined);
      expect(known.map(formatTransition)).toEqual(expect.arrayContaining(lines));
    },
  );

  test.each(all)('agrees with the coverage of %s by the pointed stories', async (_, machine) => {
    for (const title of Object.keys(pointedStories)) await brokenBy(title);
    const { missed, missedStates, transitions } = byPointed.of(machine);
    // The stories must still reach what the document states. Otherwise regenerate it (`npm run soak -- --coverage`) or
    // fix the story.
    expect(transitions.length - missed.length).toBeGreaterThanOrEqual(rowOf(machine).pointed);
    const unmissed = linesOf(machine).filter((line) => !missed.map(formatTransition).includes(line));
    expect(unmissed).toEqual([]);
    const named = /^Never entered: (.*)\.$/m.exec(sectionOf(machine))?.[1] ?? '';
    const entered = statesOf(machine).filter(
      (state) => named.includes(`\`${state}\``) && !missedStates.includes(state),
    );
    expect(entered).toEqual([]);
    expect(coverageProblems(byPointed, [machine]).filter((each) => each.startsWith('taken, although'))).toEqual([]);
  });
});
