import { type Token, tokenize } from './shellTokens.ts';

/** A command of a shell script with the operator before it. `isBackground` is set if `&` follows. */
export interface Statement {
  readonly command: Command;
  readonly joinOperator: '&&' | '||' | ';';
  readonly isBackground: boolean;
}

/**
 * A command with unexpanded words. `while` and `until` loops are `endless`, because their conditions are not evaluated.
 */
export type Command =
  | { readonly kind: 'simple'; readonly words: readonly string[] }
  | { readonly kind: 'endless' }
  | { readonly kind: 'for'; readonly name: string; readonly items: readonly string[]; readonly body: Statement[] }
  | { readonly kind: 'group' | 'subshell'; readonly body: Statement[] }
  | { readonly kind: 'function'; readonly name: string; readonly body: Statement[] };

/** Parses a script. Supports simple commands, lists, groups, functions and loops. */
export function parseScript(script: string): Statement[] {
  return parseStatements({ tokens: tokenize(script), at: 0 });
}

interface TokenCursor {
  readonly tokens: readonly Token[];
  at: number;
}

/** Parses statements up to a closing word or parenthesis, or to the end of the script. */
function parseStatements(cursor: TokenCursor, end?: string): Statement[] {
  const statements: Statement[] = [];
  let joinOperator: Statement['joinOperator'] = ';';
  for (;;) {
    const token = cursor.tokens[cursor.at++];
    if (token === undefined || token.text === end) return statements;
    if (!token.isWord && token.text !== '(') {
      joinOperator = token.text === '&&' || token.text === '||' ? token.text : ';';
      continue;
    }
    const command = parseCommand(cursor, token);
    statements.push({ command, joinOperator, isBackground: cursor.tokens[cursor.at]?.text === '&' });
    joinOperator = ';';
  }
}

function parseCommand(cursor: TokenCursor, { text }: Token): Command {
  if (text === '(') return { kind: 'subshell', body: parseStatements(cursor, ')') };
  if (text === '{') return { kind: 'group', body: parseStatements(cursor, '}') };
  if (text === 'for') return parseForLoop(cursor);
  if (text === 'while' || text === 'until') {
    parseStatements(cursor, 'do');
    parseStatements(cursor, 'done');
    return { kind: 'endless' };
  }
  if (cursor.tokens[cursor.at]?.text === '(') {
    readWordsUntil(cursor, '{');
    return { kind: 'function', name: text, body: parseStatements(cursor, '}') };
  }
  const words = [text];
  for (let next = cursor.tokens[cursor.at]; next?.isWord; next = cursor.tokens[++cursor.at]) words.push(next.text);
  return { kind: 'simple', words };
}

function parseForLoop(cursor: TokenCursor): Command {
  const [name = '', , ...items] = readWordsUntil(cursor, 'do');
  return { kind: 'for', name, items, body: parseStatements(cursor, 'done') };
}

/** Reads words up to a terminating word and consumes that word. */
function readWordsUntil(cursor: TokenCursor, end: string): string[] {
  const words: string[] = [];
  for (;;) {
    const token = cursor.tokens[cursor.at++];
    if (token === undefined || token.text === end) return words;
    if (token.isWord) words.push(token.text);
  }
}
