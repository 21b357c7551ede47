/** Finds the shortest version of a story that violates an invariant. */
import { stringify } from 'yaml';
import * as z from 'zod/mini';
import { checkShape } from '../../../../kubernetes/api/checkShape.ts';
import { InvariantViolated, type Violation } from '../../invariants/invariant.ts';
import type { Recording } from '../../run/recording.ts';
import { checkFinding, checkStory } from '../checkStory.ts';
import { needsUrl, type Outcome, type PlayOptions, play } from '../play.ts';
import type { Story } from '../story.ts';
import { shrink } from './shrink.ts';

/** Maximum time for shrinking, in milliseconds of real time. */
const SHRINK_TIMEOUT_MS = 120_000;

/** A shrunk story that violates an invariant, with its recording. */
export interface Finding extends Violation {
  readonly story: Story;
  readonly explanations: readonly string[];
  readonly recording: Recording | undefined;
}

export interface ShrinkOptions {
  /** Called with each shorter story that violates the same invariant. Its recording is still undefined. */
  readonly onShorter?: (found: Finding) => void;
  /** Stops shrinking. The result is the shortest story so far. */
  readonly signal?: AbortSignal | undefined;
}

/** Plays a story and returns the violation with the shrunk story, or undefined if there is no violation. */
export async function findViolation(
  story: Story,
  options: PlayOptions,
  { onShorter, signal }: ShrinkOptions = {},
): Promise<Finding | undefined> {
  checkStory(story);
  checkShape(z.looseObject({}), options, 'findViolation', 'its options');
  const { violation: first, elapsed, calls } = await play(story, options);
  if (first === undefined) return undefined;
  const whole = { ...story, hasUrl: needsUrl(story) };
  // Actions and calls after the violation cannot have caused it.
  const begun = {
    ...whole,
    actions: story.actions.filter(({ at }) => at <= elapsed),
    faults: story.faults.filter(({ call }) => call < calls),
  };
  const until = performance.now() + SHRINK_TIMEOUT_MS;
  const stillBreaks = async (shorter: Story) => {
    if (signal?.aborted || performance.now() >= until) return false;
    // A story that fails with an error has a different problem.
    const { violation, explanations = [] } = await play(shorter, options).catch((): Partial<Outcome> => ({}));
    if (violation === undefined || violation.number !== first.number || violation.description !== first.description)
      return false;
    onShorter?.({ ...violation, explanations, story: shorter, recording: undefined });
    return true;
  };
  const shortest = await shrink((await stillBreaks(begun)) ? begun : whole, stillBreaks);
  const { violation = first, explanations = [], simulation } = await play(shortest, { ...options, records: true });
  return { ...violation, explanations, story: shortest, recording: simulation.recording() };
}

/** Formats a finding for people, with the seed, the step, the violation and the story. */
export function formatFinding(found: Finding): string {
  checkFinding(found);
  const { explanations, story } = found;
  const about = explanations.filter((each) => found.message.includes(each.split(' ')[0] ?? ''));
  return [`seed ${story.seed}: ${new InvariantViolated(found).message}`, ...about, formatStory(story)].join('\n');
}

/** Maximum line length, in columns. */
const COLUMNS = 100;

/** Formats a story with one line per action and fault, or as YAML if the line would be too long. */
const formatStory = ({ seed, lastsMs, actions, faults }: Story): string =>
  [
    `story: seed ${seed}, lasts ${lastsMs} ms`,
    ...actions.map(({ at, action: { kind, ...rest } }) => formatValue(`${at} ms: ${kind}`, rest)),
    ...faults.map(({ call, fault: { kind, ...rest } }) => formatValue(`call ${call}: ${kind}`, rest)),
  ].join('\n');

function formatValue(title: string, value: object): string {
  const isEmpty = Object.keys(value).length === 0;
  const line = `  ${title}${isEmpty ? '' : ` ${JSON.stringify(value)}`}`;
  if (line.length <= COLUMNS) return line;
  const yaml = stringify(value, { lineWidth: COLUMNS - INDENT.length, aliasDuplicateObjects: false }).trimEnd();
  return [`  ${title}`, ...yaml.split('\n').map((each) => `${INDENT}${each}`)].join('\n');
}

const INDENT = ' '.repeat(4);
