const LONGEST_WORD = 80;

/**
 * Returns a text in which, if it has more characters than `longest`, long words such as paths are cut in their middle, so
 * that the statement about them remains.
 */
export function shortText(text: string, longest: number): string {
  return text.length <= longest ? text : withShortWords(text, LONGEST_WORD);
}

function withShortWords(text: string, longestWord: number): string {
  const end = Math.floor((longestWord * 2) / 3);
  return text.replace(/\S+/g, (word) =>
    word.length <= longestWord ? word : `${word.slice(0, longestWord - end - 1)}…${word.slice(-end)}`,
  );
}

/** The lengths to which long words are cut, tried in order until the sentence is short enough. */
const WORD_LENGTHS = [LONGEST_WORD, 48, 32];

/**
 * Returns a sentence of at most `longest` characters. Long words are cut first, then whole clauses from the middle are
 * left out, because an error begins with what was tried and ends with what went wrong. Of a clause only its end can be
 * missing: each remaining word has all the words of its clause before it, so that no negation is lost ("cannot be used").
 */
export function shortSentence(sentence: string, longest: number): string {
  if (sentence.length <= longest) return sentence;
  let text = sentence;
  for (const length of WORD_LENGTHS) {
    text = withShortWords(sentence, length);
    if (text.length <= longest) return text;
  }
  const [first = '', ...others] = text.split(CLAUSE_END);
  const start = beginningInWords(first, others.length === 0 ? longest : Math.floor(longest / 3));
  let rest = longest - start.length - LEFT_OUT.length;
  const end: string[] = [];
  for (const clause of others.toReversed()) {
    if (end.length > 0 && clause.length > rest) break;
    const remaining = beginningInWords(clause, rest);
    end.unshift(remaining);
    rest -= remaining.length;
  }
  const isWhole = end.length === others.length;
  return `${start}${isWhole ? '' : LEFT_OUT}${end.join('')}`;
}

/** Splits a sentence before the colon or semicolon that begins the next clause. */
const CLAUSE_END = /(?=[:;] )/;
const LEFT_OUT = '…';

/** The first words of a text that have at most `longest` characters, with an ellipsis for the words after them. */
function beginningInWords(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = text.lastIndexOf(' ', longest - 1);
  return `${text.slice(0, end <= 0 ? longest - 1 : end)}…`;
}

/** Returns the first `longest` characters of a text, of which the last is an ellipsis if anything is missing. */
export const beginningOf = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
