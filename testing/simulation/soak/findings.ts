/** Shrinks stories that break an invariant, prints them and writes them to files. */

import { messageOf } from '../../../base/failure.ts';
import { printableText } from '../../../base/text/printable.ts';
import { untilAborted } from '../faults/untilAborted.ts';
import type { Violation } from '../invariants/invariant.ts';
import { type Finding, findViolation, formatFinding } from '../stories/findings/finding.ts';
import type { PlayOptions } from '../stories/play.ts';
import type { Story } from '../stories/story.ts';
import { writeFinding } from './writeFinding.ts';

export interface BrokenStory {
  readonly story: Story;
  readonly options: PlayOptions;
  readonly violation: Violation;
}

/** A story that failed with an error. */
interface FailedStory {
  readonly story: Story;
  /** The error with its stack. */
  readonly error: string;
}

export class Findings {
  readonly #directory: string;
  readonly #signal: AbortSignal | undefined;
  /** The files written so far, by the key of the finding. */
  readonly #files = new Map<string, string>();

  /** When the signal aborts, shrinking stops and the shortest story so far is written. */
  constructor(directory: string, signal: AbortSignal | undefined) {
    this.#directory = directory;
    this.#signal = signal;
  }

  async show(broken: BrokenStory): Promise<void> {
    const finding = await this.#shortestOf(broken);
    if (finding === undefined) return console.log('told once more, it breaks nothing');
    console.log(`${printableText(formatFinding(finding))}\n`);
    const recordingNote =
      finding.recording === undefined
        ? ', without a recording'
        : ': `createReplay` plays the input and the entries of its recording';
    console.log(
      await this.#write(finding, JSON.stringify([finding.number ?? finding.description, finding.story]), recordingNote),
    );
  }

  /** Prints an error that is not a violation, e.g. one thrown by the simulation itself. */
  async showError(title: string, story: Story, error: unknown): Promise<void> {
    const message = messageOf(error);
    const stack = (error instanceof Error && error.stack) || message;
    console.log(printableText(`${title}: the simulation cannot go on: ${this.#files.has(message) ? message : stack}`));
    console.log(await this.#write({ story, error: stack }, message, ''));
  }

  async #shortestOf({ story, options, violation }: BrokenStory): Promise<Finding | undefined> {
    let shortest: Finding = { ...violation, explanations: [], story, recording: undefined };
    const signal = this.#signal;
    const onShorter = (finding: Finding) => {
      shortest = finding;
    };
    // A stopped process has no time to play the story again for its recording.
    const stopped = untilAborted(signal).then(() => shortest);
    return Promise.race([stopped, findViolation(story, options, { onShorter, signal })]);
  }

  /** Writes a finding and returns a message with its path. Findings with the same `key` are written once. */
  async #write(finding: Finding | FailedStory, key: string, recordingNote: string): Promise<string> {
    const existing = this.#files.get(key);
    if (existing !== undefined) return `the same as in ${existing}`;
    try {
      const file = await writeFinding(finding, this.#directory);
      this.#files.set(key, file);
      return `kept in ${file}${recordingNote}`;
    } catch (error) {
      return `it could not be kept in a file: ${messageOf(error)}`;
    }
  }
}
