/** Shows what stories break, as short as they can be told, and keeps it in files. */
import { printable } from '../pod/show/printable.ts';
import type { Violation } from './invariants/invariant.ts';
import { keepFound } from './keepFound.ts';
import { type Found, foundText, whatItBreaks } from './stories/found.ts';
import type { PlayOptions } from './stories/play.ts';
import type { Story } from './stories/story.ts';
import { untilAborted } from './untilAborted.ts';

/** A story that has broken something, and how it was told. */
export interface Broken {
  readonly story: Story;
  readonly options: PlayOptions;
  readonly violation: Violation;
}

export class Finds {
  readonly #directory: string;
  readonly #signal: AbortSignal | undefined;

  /** Once the signal aborts, what is found is kept as it is then. */
  constructor(directory: string, signal: AbortSignal | undefined) {
    this.#directory = directory;
    this.#signal = signal;
  }

  async show(broken: Broken): Promise<void> {
    const found = await this.#shortestOf(broken);
    if (found === undefined) return console.log('told once more, it breaks nothing');
    console.log(`${printable(foundText(found))}\n`);
    console.log(await this.#kept(found));
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

  #kept(found: Found): Promise<string> {
    const recorded =
      found.recording === undefined
        ? ', without a recording'
        : ': `createReplay` plays the input and the entries of its recording';
    return keepFound(found, this.#directory).then(
      (file) => `kept in ${file}${recorded}`,
      (error: Error) => `it could not be kept in a file: ${error.message}`,
    );
  }
}
