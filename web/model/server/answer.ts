/**
 * Formats the answer of `explain` as a headline. The subject and the times are emphasized, and the failures even more
 * so.
 */

export interface AnswerPart {
  readonly text: string;
  readonly weight: 'plain' | 'strong' | 'bad';
}

/** Matches the subject at the start of the sentence. */
const SUBJECT_PATTERN = /^(?:(?:init |ephemeral )?container|sidecar|pod|volume|node) \S+(?=[\s:])/;
/** Matches failures, i.e. the outcome of a run or a Kubernetes reason that denotes a failure. */
const FAILURE_PATTERN =
  /(?:[A-Z]\w+, )?(?:exit code|signal) \w+(?: \(\w+\))?|\bkilled \(SIGKILL\)|\b(?:Err[A-Z]\w+|Failed[A-Z]\w*|OOMKilled|[A-Z]\w+(?:Error|Failed|Exceeded|Unavailable))\b/;
const TIME_OR_POSITION_PATTERN =
  /\b(?:image pull )?back-off\b|\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\b|place \d+ of \d+/;
const EMPHASIS_PATTERN = new RegExp(
  `(?<bad>${FAILURE_PATTERN.source})|(?<strong>${TIME_OR_POSITION_PATTERN.source})`,
  'g',
);
/**
 * Matches durations relative to now. They are removed, because the countdown next to the answer shows them and stays
 * current.
 */
const RELATIVE_TIME_PATTERN =
  / \((?:in \w+|now|for \w+ so far)\)|, for (?:\d+[a-z]+)+$|(?<= has been running) for \w+/g;

/** Removes the durations that the countdown shows. */
export const withoutRelativeTimes = (answer: string): string => answer.replaceAll(RELATIVE_TIME_PATTERN, '');

/** Splits an answer into parts and capitalizes its first word. */
export function answerParts(answer: string): AnswerPart[] {
  const absoluteAnswer = withoutRelativeTimes(answer);
  const subject = SUBJECT_PATTERN.exec(absoluteAnswer)?.[0] ?? '';
  const predicate = absoluteAnswer.slice(subject.length);
  const splitParts: AnswerPart[] = subject === '' ? [] : [{ text: capitalize(subject), weight: 'strong' }];
  let from = 0;
  for (const match of predicate.matchAll(EMPHASIS_PATTERN)) {
    splitParts.push({ text: predicate.slice(from, match.index), weight: 'plain' });
    splitParts.push({ text: match[0], weight: match.groups?.bad === undefined ? 'strong' : 'bad' });
    from = match.index + match[0].length;
  }
  splitParts.push({ text: predicate.slice(from), weight: 'plain' });
  const nonEmptyParts = splitParts.filter((each) => each.text !== '');
  return nonEmptyParts.map((each, index) => (index === 0 ? { ...each, text: capitalize(each.text) } : each));
}

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
