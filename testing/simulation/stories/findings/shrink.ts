/** Shrinks a story that breaks an invariant to the shortest one that still breaks the same invariant. */
import type { Story } from '../story.ts';

/** Returns whether a story still breaks the same invariant as the original. */
export type StillBreaks = (story: Story) => Promise<boolean>;

/** Yields the list without each one of `pieces` parts of it. */
function* sublists<T>(all: readonly T[], pieces: number): Generator<readonly T[]> {
  const size = Math.ceil(all.length / pieces);
  for (let at = 0; at < all.length; at += size) yield [...all.slice(0, at), ...all.slice(at + size)];
}

/** Removes items that are not needed: first halves, then ever smaller pieces (ddmin). */
async function shrinkList<T>(
  all: readonly T[],
  breaks: (some: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let kept = all;
  for (let pieces = 2; kept.length > 0; ) {
    let shorter: readonly T[] | undefined;
    for (const some of sublists(kept, pieces)) {
      if (!(await breaks(some))) continue;
      shorter = some;
      break;
    }
    if (shorter !== undefined) [kept, pieces] = [shorter, Math.max(2, pieces - 1)];
    else if (pieces >= kept.length) return kept;
    else pieces = Math.min(kept.length, pieces * 2);
  }
  return kept;
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
