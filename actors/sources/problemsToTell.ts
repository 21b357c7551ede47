import { printableLine } from '../../base/printable.ts';
import { shortText } from '../../base/shortText.ts';
import type { Problem } from '../../kubernetes/api/problem.ts';

/** So many mistakes are told one by one; of more, one sentence tells the first ones and the number. */
const ONE_BY_ONE = 10;
/** No message has more characters. */
const LONGEST = 1_000;
const LONGEST_PATH = 200;

/** The mistakes of a manifest as people are told of them: few and short, whatever the manifest is. */
export function problemsToTell(problems: readonly Problem[]): Problem[] {
  if (problems.length <= ONE_BY_ONE) return problems.map(shortProblem);
  const sentences = problems
    .slice(0, ONE_BY_ONE)
    .map(shortProblem)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const told: string[] = [];
  let length = 0;
  for (const sentence of sentences) {
    length += sentence.length + 2;
    if (length > LONGEST - 40) break;
    told.push(sentence);
  }
  return [
    shortProblem({ path: '', message: [...told, `and ${problems.length - told.length} more errors`].join('; ') }),
  ];
}

/** A mistake in at most 1,000 characters. */
export function shortProblem({ path, message }: Problem): Problem {
  const shortPath = cut(printableLine(path), LONGEST_PATH);
  return { path: shortPath, message: cut(printableLine(message), LONGEST - shortPath.length - 2) };
}

/** The beginning and the end of a text that is too long: the end says what was expected. */
function cut(text: string, longest: number): string {
  const short = shortText(text, longest);
  if (short.length <= longest) return short;
  const end = Math.floor(longest / 3);
  return `${short.slice(0, longest - end - 1)}…${short.slice(-end)}`;
}
