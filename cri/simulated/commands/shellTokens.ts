/** An unexpanded word of a shell script, or an operator. */
export interface Token {
  readonly text: string;
  readonly isWord: boolean;
}

const WORD_PART_PATTERN = String.raw`'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|\$\(\([^\n]*?\)\)|\$\([^()]*\)|[^\s;&|<>()'"\\]`;
const IGNORED_PATTERN = String.raw`\\\n|#[^\n]*|(?:&>>?|\d*(?:>>|>&|<&|>|<))[ \t]*(?:${WORD_PART_PATTERN})+`;
const TOKEN_PATTERN = new RegExp(String.raw`${IGNORED_PATTERN}|(&&|\|\||[;&|\n()])|((?:${WORD_PART_PATTERN})+)`, 'g');

/** Splits a script into words and operators. Ignores comments and redirections, which do not affect the behaviour. */
export function tokenize(script: string): Token[] {
  return [...script.matchAll(TOKEN_PATTERN)].flatMap(([, separator, word]): Token[] => {
    if (separator !== undefined) return [{ text: separator, isWord: false }];
    return word === undefined ? [] : [{ text: word, isWord: true }];
  });
}

/** Values of shell variables by name. */
export type Variables = ReadonlyMap<string, string>;

const QUOTED_PATTERN = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|((?:\$\(\([^\n]*?\)\)|\$\([^()]*\)|[^'"\\])+)/g;
const EXPANSION_PATTERN =
  /\\([\s\S])|\$\(\([^\n]*?\)\)|\$\(\s*seq\s+([^()]*)\)|\$\([^()]*\)|\$(?:\{(\w+)\}|([A-Za-z_]\w*))|\$[!?@*#$\d]/g;

/** Expands a word and removes its quotes. Supports `$NAME` and `$(seq …)`. Other expansions are empty. */
export function expandWord(word: string, variables: Variables): string[] {
  let isQuoted = false;
  const expandedWord = word.replace(
    QUOTED_PATTERN,
    (_all, single?: string, double?: string, escaped?: string, plain?: string) => {
      isQuoted ||= plain === undefined;
      return single ?? escaped ?? substituteVariables(double ?? plain ?? '', variables);
    },
  );
  return isQuoted ? [expandedWord] : expandedWord.split(/\s+/).filter(Boolean);
}

function substituteVariables(text: string, variables: Variables): string {
  return text.replace(
    EXPANSION_PATTERN,
    (_all, escaped?: string, sequence?: string, braced?: string, plain?: string) => {
      if (sequence !== undefined) return seq(substituteVariables(sequence, variables).trim().split(/\s+/)).join('\n');
      return escaped ?? variables.get(braced ?? plain ?? '') ?? '';
    },
  );
}

/** Maximum number of commands to execute in a script. */
export const MAX_STEPS = 10_000;

/**
 * Returns the numbers that `seq` prints, at most `MAX_STEPS`. The arguments are `LAST`, `FIRST LAST` or `FIRST STEP
 * LAST`.
 */
function seq(args: readonly string[]): number[] {
  const bounds = args.map(Number);
  const [first = 1, last = first] = bounds.length === 1 ? [1, ...bounds] : [bounds[0], bounds.at(-1)];
  const increment = bounds.length === 3 ? (bounds[1] ?? 1) : 1;
  const length = Math.floor((last - first) / increment) + 1;
  if (!(length > 0)) return [];
  return Array.from({ length: Math.min(length, MAX_STEPS) }, (_, index) => first + index * increment);
}
