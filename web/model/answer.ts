/**
 * Formats the answer of `explain` as a headline that emphasizes the subject, the times and, most of all, the failures.
 */

/** A part of the sentence. */
export interface AnswerPart {
  readonly text: string;
  readonly weight: 'plain' | 'strong' | 'bad';
}

/** The subject at the start of the sentence. */
const SUBJECT = /^(?:(?:init |ephemeral )?container|sidecar|pod|volume|node) \S+(?=[\s:])/;
/** Failures: the outcome of a run, or a Kubernetes reason that denotes a failure. */
const BAD =
  /(?:[A-Z]\w+, )?(?:exit code|signal) \w+(?: \(\w+\))?|\bkilled \(SIGKILL\)|\b(?:Err[A-Z]\w+|Failed[A-Z]\w*|OOMKilled|[A-Z]\w+(?:Error|Failed|Exceeded|Unavailable))\b/;
const STRONG = /\b(?:image pull )?back-off\b|\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\b|place \d+ of \d+/;
const TOLD = new RegExp(`(?<bad>${BAD.source})|(?<strong>${STRONG.source})`, 'g');
/** Durations relative to now. They are removed because the countdown beside the answer shows them and stays current. */
const BY_CLOCK = / \((?:in \w+|now|for \w+ so far)\)|, for (?:\d+[a-z]+)+$|(?<= has been running) for \w+/g;

/** Removes the durations that the countdown shows. */
export const withoutClock = (answer: string): string => answer.replaceAll(BY_CLOCK, '');

/** Splits an answer into parts and capitalizes it. */
export function answerParts(answer: string): AnswerPart[] {
  const text = withoutClock(answer);
  const subject = SUBJECT.exec(text)?.[0] ?? '';
  const rest = text.slice(subject.length);
  const parts: AnswerPart[] = subject === '' ? [] : [{ text: capital(subject), weight: 'strong' }];
  let from = 0;
  for (const found of rest.matchAll(TOLD)) {
    parts.push({ text: rest.slice(from, found.index), weight: 'plain' });
    parts.push({ text: found[0], weight: found.groups?.bad === undefined ? 'strong' : 'bad' });
    from = found.index + found[0].length;
  }
  parts.push({ text: rest.slice(from), weight: 'plain' });
  const all = parts.filter((each) => each.text !== '');
  return all.map((each, index) => (index === 0 ? { ...each, text: capital(each.text) } : each));
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
