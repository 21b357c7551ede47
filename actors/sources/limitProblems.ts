import { printableLine } from '../../base/text/printable.ts';
import { shortText } from '../../base/text/shortText.ts';
import type { Problem } from '../../kubernetes/api/problem.ts';

/** Maximum number of problems reported individually. Any further problems are summarized in a single one. */
const MAX_PROBLEMS = 10;
/** Maximum number of characters in a message. A longer message is shortened in the middle. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_PATH_LENGTH = 200;

/** Limits the number and length of a manifest's problems for display. */
export function limitProblems(problems: readonly Problem[]): Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems.map(shortProblem);
  const problemSentences = problems
    .slice(0, MAX_PROBLEMS)
    .map(shortProblem)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const includedSentences: string[] = [];
  let length = 0;
  for (const sentence of problemSentences) {
    length += sentence.length + 2;
    if (length > MAX_MESSAGE_LENGTH - 40) break;
    includedSentences.push(sentence);
  }
  return [
    shortProblem({
      path: '',
      message: [...includedSentences, `and ${problems.length - includedSentences.length} more errors`].join('; '),
    }),
  ];
}

/** Shortens a problem to at most 1,000 characters. */
export function shortProblem({ path, message }: Problem): Problem {
  const shortPath = shortenInMiddle(printableLine(path), MAX_PATH_LENGTH);
  return {
    path: shortPath,
    message: shortenInMiddle(printableLine(message), MAX_MESSAGE_LENGTH - shortPath.length - 2),
  };
}

/** Shortens a string in the middle, because the end of a message states what was expected. */
function shortenInMiddle(text: string, maxLength: number): string {
  const shortenedText = shortText(text, maxLength);
  if (shortenedText.length <= maxLength) return shortenedText;
  const end = Math.floor(maxLength / 3);
  return `${shortenedText.slice(0, maxLength - end - 1)}…${shortenedText.slice(-end)}`;
}
