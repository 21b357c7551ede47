/** An unexpanded word of a shell script, or an operator. */
export interface Token {
  readonly text: string;
  readonly isWord: boolean;
}

const PART = String.raw`'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|\$\(\([^\n]*?\)\)|\$\([^()]*\)|[^\s;&|<>()'"\\]`;
const IGNORED = String.raw`\\\n|#[^\n]*|(?:&>>?|\d*(?:>>|>&|<&|>|<))[ \t]*(?:${PART})+`;
const TOKEN = new RegExp(String.raw`${IGNORED}|(&&|\|\||[;&|\n()])|((?:${PART})+)`, 'g');

/** Splits a script into words and operators. Ignores comments and redirections, which do not affect the behaviour. */
export function tokenize(script: string): Token[] {
  return [...script.matchAll(TOKEN)].flatMap(([, separator, word]): Token[] => {
    if (separator !== undefined) return [{ text: separator, isWord: false }];
    return word === undefined ? [] : [{ text: word, isWord: true }];
  });
}

/** Values of shell variables by name. */
export type Variables = ReadonlyMap<string, string>;

const QUOTED = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|((?:\$\(\([^\n]*?\)\)|\$\([^()]*\)|[^'"\\])+)/g;
const EXPANSION =
  /\\([\s\S])|\$\(\([^\n]*?\)\)|\$\(\s*seq\s+([^()]*)\)|\$\([^()]*\)|\$(?:\{(\w+)\}|([A-Za-z_]\w*))|\$[!?@*#$\d]/g;

/** Expands a word and removes its quotes. Supports `$NAME` and `$(seq …)`. Other expansions are empty. */
export function expand(word: string, variables: Variables): string[] {
  let isQuoted = false;
  const expanded = word.replace(QUOTED, (_all, single?: string, double?: string, escaped?: string, plain?: string) => {
    isQuoted ||= plain === undefined;
    return single ?? escaped ?? substitute(double ?? plain ?? '', variables);
  });
  return isQuoted ? [expanded] : expanded.split(/\s+/).filter(Boolean);
}

function substitute(text: string, variables: Variables): string {
  return text.replace(EXPANSION, (_all, escaped?: string, sequence?: string, braced?: string, plain?: string) => {
    if (sequence !== undefined) return seq(substitute(sequence, variables).trim().split(/\s+/)).join('\n');
    return escaped ?? variables.get(braced ?? plain ?? '') ?? '';
  });
}

/** Maximum number of commands to execute in a script. */
export const STEP_LIMIT = 10_000;

/**
 * Returns the numbers that `seq` prints, at most `STEP_LIMIT`. The arguments are `LAST`, `FIRST LAST` or `FIRST STEP
 * LAST`.
 */
function seq(args: readonly string[]): number[] {
  const numbers = args.map(Number);
  const [first = 1, last = first] = numbers.length === 1 ? [1, ...numbers] : [numbers[0], numbers.at(-1)];
  const step = numbers.length === 3 ? (numbers[1] ?? 1) : 1;
  const length = Math.floor((last - first) / step) + 1;
  if (!(length > 0)) return [];
  return Array.from({ length: Math.min(length, STEP_LIMIT) }, (_, index) => first + index * step);
}
