/** Shrinks a story that violates an invariant to the shortest one that still violates the same invariant. */
import type { Story } from '../story.ts';

/** Returns whether a story still violates the same invariant as the original. */
export type StillBreaks = (story: Story) => Promise<boolean>;

/** Yields the list without one of its `pieces` parts, for each part. */
function* sublists<T>(all: readonly T[], pieces: number): Generator<readonly T[]> {
  const size = Math.ceil(all.length / pieces);
  for (let at = 0; at < all.length; at += size) yield [...all.slice(0, at), ...all.slice(at + size)];
}

/** Removes items that are not needed, first halves and then ever smaller pieces (ddmin). */
async function shrinkList<T>(
  all: readonly T[],
  breaks: (some: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let needed = all;
  for (let pieces = 2; needed.length > 0; ) {
    let shorter: readonly T[] | undefined;
    for (const some of sublists(needed, pieces)) {
      if (!(await breaks(some))) continue;
      shorter = some;
      break;
    }
    if (shorter !== undefined) [needed, pieces] = [shorter, Math.max(2, pieces - 1)];
    else if (pieces >= needed.length) return needed;
    else pieces = Math.min(needed.length, pieces * 2);
  }
  return needed;
}

export async function shrink(story: Story, stillBreaks: StillBreaks): Promise<Story> {
  let best = story;
  for (let before = Number.POSITIVE_INFINITY; sizeOf(best) < before; ) {
    before = sizeOf(best);
    const faults = await shrinkList(best.faults, (some) => stillBreaks({ ...best, faults: some }));
    best = { ...best, faults };
    const actions = await shrinkList(best.actions, (some) => stillBreaks({ ...best, actions: some }));
    best = { ...best, actions };
  }
  return best;
}

const sizeOf = ({ actions, faults }: Story): number => actions.length + faults.length;
