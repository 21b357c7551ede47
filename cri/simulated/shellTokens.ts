/** A word of a shell script as it is written, or what stands between words. */
export interface Token {
  readonly text: string;
  readonly word: boolean;
}

const PART = String.raw`'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|\$\(\([^\n]*?\)\)|\$\([^()]*\)|[^\s;&|<>()'"\\]`;
const IGNORED = String.raw`\\\n|#[^\n]*|(?:&>>?|\d*(?:>>|>&|<&|>|<))[ \t]*(?:${PART})+`;
const TOKEN = new RegExp(String.raw`${IGNORED}|(&&|\|\||[;&|\n()])|((?:${PART})+)`, 'g');

/** The words and separators of a script; comments and redirections do not count for what it does. */
export function tokensOf(script: string): Token[] {
  return [...script.matchAll(TOKEN)].flatMap(([, separator, word]): Token[] => {
    if (separator !== undefined) return [{ text: separator, word: false }];
    return word === undefined ? [] : [{ text: word, word: true }];
  });
}

/** The values of a script's variables by name. */
export type Variables = ReadonlyMap<string, string>;

const QUOTED = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|((?:\$\(\([^\n]*?\)\)|\$\([^()]*\)|[^'"\\])+)/g;
const EXPANSION =
  /\\([\s\S])|\$\(\([^\n]*?\)\)|\$\(\s*seq\s+([^()]*)\)|\$\([^()]*\)|\$(?:\{(\w+)\}|([A-Za-z_]\w*))|\$[!?@*#$\d]/g;

/** A word's values with its quotes off: those of `$NAME` and `$(seq …)` are known, others are taken as empty. */
export function expand(word: string, variables: Variables): string[] {
  let quoted = false;
  const text = word.replace(QUOTED, (_all, single?: string, double?: string, escaped?: string, plain?: string) => {
    quoted ||= plain === undefined;
    return single ?? escaped ?? substitute(double ?? plain ?? '', variables);
  });
  return quoted ? [text] : text.split(/\s+/).filter(Boolean);
}

function substitute(text: string, variables: Variables): string {
  return text.replace(EXPANSION, (_all, escaped?: string, sequence?: string, braced?: string, plain?: string) => {
    if (sequence !== undefined) return seq(substitute(sequence, variables).trim().split(/\s+/)).join('\n');
    return escaped ?? variables.get(braced ?? plain ?? '') ?? '';
  });
}

/** As many commands of a script as are followed. */
export const STEP_LIMIT = 10_000;

/** The numbers that `seq` prints: `seq LAST`, `seq FIRST LAST` or `seq FIRST STEP LAST`; at most `STEP_LIMIT`. */
function seq(args: readonly string[]): number[] {
  const numbers = args.map(Number);
  const [first = 1, last = first] = numbers.length === 1 ? [1, ...numbers] : [numbers[0], numbers.at(-1)];
  const step = numbers.length === 3 ? (numbers[1] ?? 1) : 1;
  const length = Math.floor((last - first) / step) + 1;
  if (!(length > 0)) return [];
  return Array.from({ length: Math.min(length, STEP_LIMIT) }, (_, index) => first + index * step);
}
