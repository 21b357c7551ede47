import { printable } from '../pod/show/printable.ts';
import { keepFound } from './keepFound.ts';
import { foundText, whatItBreaks } from './stories/found.ts';
import type { PlayOptions } from './stories/play.ts';
import type { Story } from './stories/story.ts';

/** Shows what a story breaks, as short as it can be told, and keeps it in a file of the directory. */
export async function showFound(story: Story, options: PlayOptions, directory: string): Promise<void> {
  const found = await whatItBreaks(story, options);
  if (found === undefined) return console.log('told once more, it breaks nothing');
  console.log(`${printable(foundText(found))}\n`);
  const kept = await keepFound(found, directory).then(
    (file) => `kept in ${file}: \`createReplay\` plays the input and the entries of its recording`,
    (error: Error) => `it could not be kept in a file: ${error.message}`,
  );
  console.log(kept);
}
