/** Runs simulations and writes a page about their coverage of the machines. */
import type { AnyStateMachine, InspectionEvent } from 'xstate';
import { simulatedCluster } from '../cluster/simulatedCluster.ts';
import { play } from '../stories/play.ts';
import { playPointed } from '../stories/pointed/playPointed.ts';
import { pointedStories } from '../stories/pointed/pointedStories.ts';
import { randomStory } from '../stories/random/randomStory.ts';
import { clusterStory } from '../stories/scenarios/clusterStory.ts';
import { shortStories } from '../stories/scenarios/shortStories.ts';
import type { Story } from '../stories/story.ts';
import { recordCalls, withEveryFault } from '../stories/variants/everyFault.ts';
import { Coverage, type MachineCoverage } from './coverage.ts';
import type { KnownTransition } from './transitions.ts';

/** One of this many variants of a story with a single fault is played. */
const FAULT_INTERVAL = 61;
const MOST_PODS = 4;
const SECOND = 1_000;
/** Durations of random stories, in seconds. In the short ones, many events coincide. */
const LASTS = [12, 40, 120, 180] as const;

async function* stories(drawn: number): AsyncGenerator<Story> {
  for (const story of Object.values(shortStories)) {
    yield story;
    const all = [...withEveryFault(story, await recordCalls(story))];
    yield* all.filter((_story, index) => index % FAULT_INTERVAL === 0);
  }
  for (let seed = 0; seed < drawn; seed += 1) {
    const lastsMs = SECOND * (LASTS[seed % LASTS.length] ?? LASTS[0]);
    yield randomStory(seed, { pods: 1 + (seed % MOST_PODS), actions: 20, faults: 10, lastsMs, crowdedShare: 0.6 });
  }
}

/** The number of cluster stories. The large ones, two in five, are skipped. */
const CLUSTER_STORIES = 120;
const SIZES = 5;
const isLarge = (seed: number): boolean => seed % SIZES > 2;

/** The coverage by pointed stories alone, and by all stories. */
export interface Reached {
  readonly byPointed: Coverage;
  readonly byAll: Coverage;
}

export async function coverageOf(drawn: number): Promise<Reached> {
  const [byPointed, byAll] = [new Coverage(), new Coverage()];
  const inspect = (event: InspectionEvent) => {
    byPointed.note(event);
    byAll.note(event);
  };
  for (const story of Object.values(pointedStories)) await playPointed(story, { invariants: [], inspect });
  for await (const story of stories(drawn)) await play(story, { invariants: [], inspect: byAll.note });
  const seeds = Array.from({ length: CLUSTER_STORIES }, (_, seed) => seed).filter((seed) => !isLarge(seed));
  const cluster = simulatedCluster;
  for (const seed of seeds) await play(clusterStory(seed), { invariants: [], inspect: byAll.note, cluster });
  return { byPointed, byAll };
}

const share = (all: readonly unknown[], missed: readonly unknown[]): string =>
  `${all.length - missed.length} of ${all.length}`;

const row = ({ machine, states, missedStates, transitions, missed }: MachineCoverage, pointed: MachineCoverage) =>
  `| [${machine}](charts/${machine}.md) | ${share(states, missedStates)} | ${share(transitions, missed)} | ` +
  `${transitions.length - pointed.missed.length} |`;

/** Returns the table row of a transition that was not taken, with the reason. */
export function formatTransition(transition: KnownTransition): string {
  const { from, event, to, coverageGap } = transition;
  const ways = to.length > 0 ? to.map((each) => `\`${each}\``).join(', ') : 'stays';
  return `| ${from === '' ? 'any' : `\`${from}\``} | ${event === '' ? 'its guard' : `\`${event}\``} | ${ways} | ${coverageGap?.reason ?? ''} |`;
}

/** Returns the line with the states of a machine that were not entered. */
const statesLine = (missedStates: readonly string[]): string =>
  `Never entered: ${missedStates.map((state) => `\`${state}\``).join(', ')}.`;

const missedOf = ({ machine, missed, missedStates }: MachineCoverage): string =>
  [
    `## ${machine}`,
    '',
    ...(missedStates.length > 0 ? [statesLine(missedStates), ''] : []),
    '| From | On | To | Why |',
    '|---|---|---|---|',
    ...missed.map(formatTransition),
  ].join('\n');

/** Returns the page, which has a row for each machine and lists the transitions that were never taken. */
export function formatPage({ byAll, byPointed }: Reached, machines: readonly AnyStateMachine[], drawn: number): string {
  const all = machines.map((machine) => byAll.of(machine));
  const rows = machines.map((machine) => row(byAll.of(machine), byPointed.of(machine)));
  const parts = [
    '# What simulations reach',
    `Of the states and transitions of each machine, those that were entered and taken in ${drawn} drawn stories, in those ` +
      'of nodes of a cluster, in the short stories with single faults, and in pointed stories, which lead to situations that drawn ones rarely reach. ' +
      'Written by `npm run soak -- --coverage`.',
    ['| Machine | States | Transitions | By pointed stories alone |', '|---|---|---|---|', ...rows].join('\n'),
    'Below are the states that were not entered, and the transitions that were not taken, each with the reason why that ' +
      'stays so: a state is entered by its transitions alone.',
    ...all.filter(({ missed }) => missed.length > 0).map(missedOf),
  ];
  return `${parts.join('\n\n')}\n`;
}
