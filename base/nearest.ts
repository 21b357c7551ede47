/** A field, a kind or a name is shorter: what is longer is no misspelling of one. */
const LONGEST_WORD = 256;

/**
 * Returns the known name that the author of `word` most likely meant, which has at most a third of its letters wrong, or
 * undefined if none is that close.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** Number of letters to insert, remove or replace, and of neighbours to swap, that turn one word into the other. */
function editDistance(from: string, to: string): number {
  const [letters, others] = [[...from], [...to]];
  let before: number[] = [];
  let row = Array.from({ length: others.length + 1 }, (_, index) => index);
  for (const [done, letter] of letters.entries()) {
    const next = [done + 1];
    for (const [index, other] of others.entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
      const isSwap = letter === others[index - 1] && letters[done - 1] === other;
      const swapped = (isSwap ? before[index - 1] : undefined) ?? Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped + 1, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
