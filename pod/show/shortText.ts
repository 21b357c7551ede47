const LONGEST_WORD = 80;

/**
 * A text in which, if it has more characters than `longest`, long words such as paths are cut in their middle: what is
 * said of them is then still there.
 */
export function shortText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = Math.floor((LONGEST_WORD * 2) / 3);
  return text.replace(/\S+/g, (word) =>
    word.length <= LONGEST_WORD ? word : `${word.slice(0, LONGEST_WORD - end - 1)}…${word.slice(-end)}`,
  );
}

/** A text of at most `longest` characters, or its beginning: an ellipsis then stands for the rest. */
export const beginningOf = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
