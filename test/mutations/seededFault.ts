import { FIRST_FURTHER, furtherTitles } from '../../testing/simulation/soak/playNumbered.ts';

/** A deliberate fault in the node, which a simulation must find: `npm run soak -- --faulty`. */
export interface SeededFault {
  /** Selects the fault on the command line. */
  readonly name: string;
  /** The resulting misbehavior. */
  readonly breaks: string;
  /** The product file to change. It contains `find` exactly once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /**
   * The number of the story that finds the fault. It runs first, because otherwise many stories would run before it.
   */
  readonly story?: number;
}

/** Returns the number of a further pointed story, which changes when stories are added before it. */
export function numberOfStory(title: string): number {
  const index = furtherTitles.indexOf(title);
  if (index < 0) throw new Error(`no story has the title ${JSON.stringify(title)}`);
  return FIRST_FURTHER + index;
}
