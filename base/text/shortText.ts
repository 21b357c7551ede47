const MAX_WORD_LENGTH = 80;

/**
 * If a string is longer than `maxLength`, elides the middle of long words such as paths, so that the other words remain
 * readable.
 */
export function shortText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : withShortWords(text, MAX_WORD_LENGTH);
}

function withShortWords(text: string, maxWordLength: number): string {
  const tailLength = Math.floor((maxWordLength * 2) / 3);
  return text.replace(/\S+/g, (word) =>
    word.length <= maxWordLength ? word : `${word.slice(0, maxWordLength - tailLength - 1)}…${word.slice(-tailLength)}`,
  );
}

/** Maximum word lengths, tried in order until the sentence fits. */
const MAX_WORD_LENGTHS = [MAX_WORD_LENGTH, 48, 32];

/**
 * Returns a sentence of at most `maxLength` characters. Long words are shortened first, and then clauses in the middle
 * are left out, because an error starts with the operation and ends with the cause. A clause is cut only after a word,
 * so that a negation such as "cannot be used" is never lost.
 */
export function shortSentence(sentence: string, maxLength: number): string {
  if (sentence.length <= maxLength) return sentence;
  let shortenedSentence = sentence;
  for (const length of MAX_WORD_LENGTHS) {
    shortenedSentence = withShortWords(sentence, length);
    if (shortenedSentence.length <= maxLength) return shortenedSentence;
  }
  const [first = '', ...laterClauses] = shortenedSentence.split(CLAUSE_END);
  const openingClause = firstWords(first, laterClauses.length === 0 ? maxLength : Math.floor(maxLength / 3));
  let remainingLength = maxLength - openingClause.length - ELLIPSIS.length;
  const closingClauses: string[] = [];
  for (const clause of laterClauses.toReversed()) {
    if (closingClauses.length > 0 && clause.length > remainingLength) break;
    const shortClause = firstWords(clause, remainingLength);
    closingClauses.unshift(shortClause);
    remainingLength -= shortClause.length;
  }
  const isComplete = closingClauses.length === laterClauses.length;
  return `${openingClause}${isComplete ? '' : ELLIPSIS}${closingClauses.join('')}`;
}

/** Matches the position before the colon or semicolon that starts the next clause of a sentence. */
const CLAUSE_END = /(?=[:;] )/;
const ELLIPSIS = '…';

/** Returns the first words of a string, at most `maxLength` characters including an ellipsis for the omitted words. */
function firstWords(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.lastIndexOf(' ', maxLength - 1);
  return `${text.slice(0, end <= 0 ? maxLength - 1 : end)}…`;
}

/** Truncates a string to `maxLength` characters, the last of which is an ellipsis if anything was cut. */
export const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
