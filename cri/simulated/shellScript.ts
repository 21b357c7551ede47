import { type Token, tokensOf } from './shellTokens.ts';

/** One command of a shell script, what joins it to the one before, and whether it runs in the background. */
export interface Statement {
  readonly command: Command;
  readonly join: '&&' | '||' | ';';
  readonly background: boolean;
}

/** A command; words are as written. An `endless` one is a `while` or `until`: what it waits for is not followed. */
export type Command =
  | { readonly kind: 'simple'; readonly words: readonly string[] }
  | { readonly kind: 'endless' }
  | { readonly kind: 'for'; readonly name: string; readonly items: readonly string[]; readonly body: Statement[] }
  | { readonly kind: 'group' | 'subshell'; readonly body: Statement[] }
  | { readonly kind: 'function'; readonly name: string; readonly body: Statement[] };

/** Reads a script, as far as simple commands, lists, groups, functions and loops go. */
export function statementsOf(script: string): Statement[] {
  return list({ tokens: tokensOf(script), at: 0 });
}

interface Cursor {
  readonly tokens: readonly Token[];
  at: number;
}

/** The statements up to a closing word or parenthesis, or to the script's end. */
function list(cursor: Cursor, end?: string): Statement[] {
  const statements: Statement[] = [];
  let join: Statement['join'] = ';';
  for (;;) {
    const token = cursor.tokens[cursor.at++];
    if (token === undefined || token.text === end) return statements;
    if (!token.word && token.text !== '(') {
      join = token.text === '&&' || token.text === '||' ? token.text : ';';
      continue;
    }
    const command = commandFrom(cursor, token);
    statements.push({ command, join, background: cursor.tokens[cursor.at]?.text === '&' });
    join = ';';
  }
}

function commandFrom(cursor: Cursor, { text }: Token): Command {
  if (text === '(') return { kind: 'subshell', body: list(cursor, ')') };
  if (text === '{') return { kind: 'group', body: list(cursor, '}') };
  if (text === 'for') return loopOver(cursor);
  if (text === 'while' || text === 'until') {
    list(cursor, 'do');
    list(cursor, 'done');
    return { kind: 'endless' };
  }
  if (cursor.tokens[cursor.at]?.text === '(') {
    wordsTo(cursor, '{');
    return { kind: 'function', name: text, body: list(cursor, '}') };
  }
  const words = [text];
  for (let next = cursor.tokens[cursor.at]; next?.word; next = cursor.tokens[++cursor.at]) words.push(next.text);
  return { kind: 'simple', words };
}

function loopOver(cursor: Cursor): Command {
  const [name = '', , ...items] = wordsTo(cursor, 'do');
  return { kind: 'for', name, items, body: list(cursor, 'done') };
}

/** The words before a certain one, which is passed as well. */
function wordsTo(cursor: Cursor, end: string): string[] {
  const words: string[] = [];
  for (;;) {
    const token = cursor.tokens[cursor.at++];
    if (token === undefined || token.text === end) return words;
    if (token.word) words.push(token.text);
  }
}
