/** Runs simulations, and says in a page of documentation what of the machines they have reached. */
import type { AnyStateMachine } from 'xstate';
import { drawnStory } from '../stories/drawnStory.ts';
import { callsOf, withEveryFault } from '../stories/everyFault.ts';
import { play } from '../stories/play.ts';
import { shortStories } from '../stories/shortStories.ts';
import type { Story } from '../stories/story.ts';
import { Coverage, type MachineCoverage } from './coverage.ts';
import type { KnownTransition } from './transitions.ts';
import { isMeant, unreached } from './unreached.ts';

/** Every so many of the single faults are tried. */
const EVERY = 61;
const MOST_PODS = 4;

async function* stories(drawn: number): AsyncGenerator<Story> {
  for (const story of Object.values(shortStories)) {
    yield story;
    const all = [...withEveryFault(story, await callsOf(story))];
    yield* all.filter((_story, index) => index % EVERY === 0);
  }
  for (let seed = 0; seed < drawn; seed += 1) {
    yield drawnStory(seed, { pods: 1 + (seed % MOST_PODS), deeds: 20, faults: 10, lastsMs: 180_000 });
  }
}

/** What the short stories, each with faults, and so many that are drawn reach. */
export async function coverageOf(drawn: number): Promise<Coverage> {
  const coverage = new Coverage();
  for await (const story of stories(drawn)) await play(story, { invariants: [], inspect: coverage.note });
  return coverage;
}

const share = (all: readonly unknown[], missed: readonly unknown[]): string =>
  `${all.length - missed.length} of ${all.length}`;

const row = ({ machine, states, missedStates, transitions, missed }: MachineCoverage): string =>
  `| [${machine}](charts/${machine}.md) | ${share(states, missedStates)} | ${share(transitions, missed)} |`;

function line({ from, event, to, ...rest }: KnownTransition): string {
  const reason = unreached.find((each) => isMeant(each, { from, event, ...rest }))?.reason ?? '';
  const ways = to.length > 0 ? to.map((each) => `\`${each}\``).join(', ') : 'stays';
  return `| ${from === '' ? 'any' : `\`${from}\``} | ${event === '' ? 'its guard' : `\`${event}\``} | ${ways} | ${reason} |`;
}

const missedOf = ({ machine, missed }: MachineCoverage): string =>
  [`## ${machine}`, '', '| From | On | To | Why |', '|---|---|---|---|', ...missed.map(line)].join('\n');

/** The page: a row for each machine, and the transitions that were never taken. */
export function pageOf(coverage: Coverage, machines: readonly AnyStateMachine[], drawn: number): string {
  const all = machines.map((machine) => coverage.of(machine));
  const parts = [
    '# What simulations reach',
    `Of the states and transitions of each machine, those that were entered and taken in ${drawn} drawn stories and in the ` +
      `short stories with single faults. Written by \`npm run soak -- --coverage\`.`,
    ['| Machine | States | Transitions |', '|---|---|---|', ...all.map(row)].join('\n'),
    'Below are the transitions that were not taken. Where the last column is empty they can be taken, and were not in these stories.',
    ...all.filter(({ missed }) => missed.length > 0).map(missedOf),
  ];
  return `${parts.join('\n\n')}\n`;
}
