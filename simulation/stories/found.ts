/** What a story has broken, as short as it can be told. */
import { InvariantViolated, type Violation } from '../invariants/invariant.ts';
import type { Recording } from '../recording.ts';
import { asksUrl, type PlayOptions, play } from './play.ts';
import { shrink } from './shrink.ts';
import type { Story } from './story.ts';

/** So long it is made shorter at most, in milliseconds of real time. */
const SHRINKS_MS = 120_000;

/** A story that breaks an invariant, shrunk, with what a replay of it needs. */
export interface Found extends Violation {
  readonly story: Story;
  readonly explanations: readonly string[];
  readonly recording: Recording | undefined;
}

/** Tells a story; undefined where it breaks nothing. */
export async function whatItBreaks(story: Story, options: PlayOptions): Promise<Found | undefined> {
  const { violation: first, elapsed, calls } = await play(story, options);
  if (first === undefined) return undefined;
  const whole = { ...story, hasUrl: asksUrl(story) };
  // What came after it had no part in it.
  const begun = {
    ...whole,
    moments: story.moments.filter(({ at }) => at <= elapsed),
    faults: story.faults.filter(({ call }) => call < calls),
  };
  const until = performance.now() + SHRINKS_MS;
  const stillBreaks = async (shorter: Story) =>
    performance.now() < until && (await play(shorter, options)).violation?.number === first.number;
  const shortest = await shrink((await stillBreaks(begun)) ? begun : whole, stillBreaks);
  const { violation = first, explanations = [], simulation } = await play(shortest, { ...options, records: true });
  return { ...violation, explanations, story: shortest, recording: simulation.recording() };
}

/** For people: which seed, which step, what, and how to tell it again. */
export function foundText(found: Found): string {
  const { explanations, story } = found;
  const about = explanations.filter((each) => found.message.includes(each.split(' ')[0] ?? ''));
  return [`seed ${story.seed}: ${new InvariantViolated(found).message}`, ...about, storyText(story)].join('\n');
}

/** One line a moment and a fault. */
const storyText = ({ seed, lastsMs, moments, faults }: Story): string =>
  [
    `story: seed ${seed}, lasts ${lastsMs} ms`,
    ...moments.map(({ at, deed }) => `  ${at} ms: ${JSON.stringify(deed)}`),
    ...faults.map(({ call, fate }) => `  call ${call}: ${JSON.stringify(fate)}`),
  ].join('\n');
