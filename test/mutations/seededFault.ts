import { FIRST_FURTHER, furtherTitles } from '../../testing/simulation/soak/playNumbered.ts';

/** A fault put into the node on purpose: `npm run soak -- --faulty` shows that a simulation finds it. */
export interface SeededFault {
  /** By which it is picked. */
  readonly name: string;
  /** What is wrong then. */
  readonly breaks: string;
  /** The file of the product, and the text that stands in it exactly once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** The number of the story that has found it, which is told first: many have to be told before it otherwise. */
  readonly story?: number;
}

/** Returns the number of a further pointed story, which changes when stories are added before it. */
export function numberOfStory(title: string): number {
  const index = furtherTitles.indexOf(title);
  if (index < 0) throw new Error(`no story has the title ${JSON.stringify(title)}`);
  return FIRST_FURTHER + index;
}
