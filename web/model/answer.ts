/** The answer of `explain` as a headline: what it is about and its times stand out, and what has failed most of all. */

/** A part of the sentence. */
export interface AnswerPart {
  readonly text: string;
  readonly weight: 'plain' | 'strong' | 'bad';
}

/** Who it is about: it stands at the beginning. */
const SUBJECT = /^(?:(?:init |ephemeral )?container|sidecar|pod|volume|node) \S+(?=[\s:])/;
/** What went wrong: how a run ended, or a reason of Kubernetes that says that something failed. */
const BAD =
  /(?:[A-Z]\w+, )?(?:exit code|signal) \w+(?: \(\w+\))?|\bkilled \(SIGKILL\)|\b(?:Err[A-Z]\w+|Failed[A-Z]\w*|OOMKilled|[A-Z]\w+(?:Error|Failed|Exceeded|Unavailable))\b/;
const STRONG = /\b(?:image pull )?back-off\b|\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\b|place \d+ of \d+/;
const TOLD = new RegExp(`(?<bad>${BAD.source})|(?<strong>${STRONG.source})`, 'g');
/** Ages, and distances from now. The countdown beside the answer shows them and goes on, while the answer stands still. */
const BY_CLOCK = / \((?:in \w+|now|for \w+ so far)\)|, for (?:\d+[a-z]+)+$|(?<= has been running) for \w+/g;

/** Returns an answer without what the countdown beside it says. */
export const withoutClock = (answer: string): string => answer.replaceAll(BY_CLOCK, '');

/** The parts of an answer, which begins like a sentence. */
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
