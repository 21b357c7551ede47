/** One command of a shell script: its words, what joins it to the one before, and whether it runs in the background. */
export interface Statement {
  readonly words: readonly string[];
  readonly join: '&&' | '||' | ';';
  readonly background: boolean;
}

const TOKEN = /'([^']*)'|"([^"]*)"|(&&|\|\||[;&|\n])|([^\s;&|'"]+)/g;

/** Splits a script into its commands, as far as quotes, `;`, `&`, `&&`, `||`, `|` and line ends go. */
export function statementsOf(script: string): Statement[] {
  const statements: Statement[] = [];
  let words: string[] = [];
  let join: Statement['join'] = ';';
  const close = (separator: string) => {
    if (words.length > 0) statements.push({ words, join, background: separator === '&' });
    words = [];
    join = separator === '&&' || separator === '||' ? separator : ';';
  };
  for (const [, single, double, separator, plain] of script.matchAll(TOKEN)) {
    if (separator === undefined) words.push(single ?? double ?? plain ?? '');
    else close(separator);
  }
  close(';');
  return statements;
}
