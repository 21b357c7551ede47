/** Maximum length of a word. Fields, kinds and names are shorter, so a longer word is not a misspelling. */
const MAX_WORD_LENGTH = 256;

/**
 * Returns the candidate that the author of `word` most likely meant, or undefined if more than a third of the letters
 * would have to change.
 */
export function closestWord(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  let closest: string | undefined;
  let closestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of candidates) {
    if (Math.abs(name.length - word.length) >= closestDistance) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance < closestDistance) [closest, closestDistance] = [name, distance];
  }
  return closest;
}

/**
 * Returns the minimum number of edits that turn one word into the other. An edit inserts, removes or replaces a letter,
 * or swaps two adjacent letters.
 */
function editDistance(from: string, to: string): number {
  const [letters, targetLetters] = [[...from], [...to]];
  let previousRow: number[] = [];
  let row = Array.from({ length: targetLetters.length + 1 }, (_, index) => index);
  for (const [position, letter] of letters.entries()) {
    const nextRow = [position + 1];
    for (const [index, targetLetter] of targetLetters.entries()) {
      const replacementCost = (row[index] ?? 0) + (letter === targetLetter ? 0 : 1);
      const isSwap = letter === targetLetters[index - 1] && letters[position - 1] === targetLetter;
      const swapCost = (isSwap ? previousRow[index - 1] : undefined) ?? Number.POSITIVE_INFINITY;
      nextRow.push(Math.min(replacementCost, swapCost + 1, (row[index + 1] ?? 0) + 1, (nextRow[index] ?? 0) + 1));
    }
    previousRow = row;
    row = nextRow;
  }
  return row.at(-1) ?? 0;
}
