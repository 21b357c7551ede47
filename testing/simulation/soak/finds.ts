/** Shows what stories break, as short as they can be told, and keeps it in files. */

import { messageOf } from '../../../base/failure.ts';
import { printable } from '../../../base/printable.ts';
import { untilAborted } from '../faults/untilAborted.ts';
import type { Violation } from '../invariants/invariant.ts';
import { type Found, foundText, whatItBreaks } from '../stories/found.ts';
import type { PlayOptions } from '../stories/play.ts';
import type { Story } from '../stories/story.ts';
import { keepFound } from './keepFound.ts';

/** A story that has broken something, and how it was told. */
export interface Broken {
  readonly story: Story;
  readonly options: PlayOptions;
  readonly violation: Violation;
}

/** A story that could not be told to its end. */
interface Failed {
  readonly story: Story;
  /** What was thrown, with where. */
  readonly error: string;
}

export class Finds {
  readonly #directory: string;
  readonly #signal: AbortSignal | undefined;
  /** The files of what was found already. */
  readonly #kept = new Map<string, string>();

  /** Once the signal aborts, what is found is kept as it is then. */
  constructor(directory: string, signal: AbortSignal | undefined) {
    this.#directory = directory;
    this.#signal = signal;
  }

  async show(broken: Broken): Promise<void> {
    const found = await this.#shortestOf(broken);
    if (found === undefined) return console.log('told once more, it breaks nothing');
    console.log(`${printable(foundText(found))}\n`);
    const recorded =
      found.recording === undefined
        ? ', without a recording'
        : ': `createReplay` plays the input and the entries of its recording';
    console.log(await this.#keep(found, JSON.stringify([found.number ?? found.says, found.story]), recorded));
  }

  /** Shows why a story cannot be told to its end: what was thrown is no violation. */
  async showError(title: string, story: Story, error: unknown): Promise<void> {
    const message = messageOf(error);
    const stack = (error instanceof Error && error.stack) || message;
    console.log(printable(`${title}: the simulation cannot go on: ${this.#kept.has(message) ? message : stack}`));
    console.log(await this.#keep({ story, error: stack }, message, ''));
  }

  async #shortestOf({ story, options, violation }: Broken): Promise<Found | undefined> {
    let shortest: Found = { ...violation, explanations: [], story, recording: undefined };
    const signal = this.#signal;
    const onShorter = (found: Found) => {
      shortest = found;
    };
    // Who is asked to end has no time to tell the story again for its recording.
    const stopped = untilAborted(signal).then(() => shortest);
    return Promise.race([stopped, whatItBreaks(story, options, { onShorter, signal })]);
  }

  /** Says where it is kept: `key` is the same for what is to be kept once. */
  async #keep(found: Found | Failed, key: string, recorded: string): Promise<string> {
    const known = this.#kept.get(key);
    if (known !== undefined) return `the same as in ${known}`;
    try {
      const file = await keepFound(found, this.#directory);
      this.#kept.set(key, file);
      return `kept in ${file}${recorded}`;
    } catch (error) {
      return `it could not be kept in a file: ${messageOf(error)}`;
    }
  }
}
