/** Files that variables are taken from (C21): lines `NAME='value'`, a value taken as it is, over several lines too. */
import { NodeFailure } from '../../base/failure.ts';

/** A blank line, a comment, or a variable; spaces before it and around the `=` do not count. */
const LINE = /[ \t]*(?:#[^\n]*|([^\s=#'"][^=\n'"]*)=[ \t]*'([^']*)'[ \t]*|)\r?(?:\n|$)/y;

/** The value of a variable in a file, the last one of its name; undefined where there is none. Throws on any other text. */
export function envFileValue(
  text: string,
  { key, path }: { readonly key: string; readonly path: string },
): string | undefined {
  let value: string | undefined;
  for (let at = 0; at < text.length; ) {
    LINE.lastIndex = at;
    const found = LINE.exec(text);
    if (found === null) throw malformed(path, text, at);
    if (found[1]?.trimEnd() === key) value = found[2];
    at = LINE.lastIndex;
  }
  return value;
}

function malformed(path: string, text: string, at: number): NodeFailure {
  const line = text.slice(0, at).split('\n').length;
  const message = `couldn't parse env file: ${path}, line ${line}: a variable is written NAME='value'`;
  return new NodeFailure('CreateContainerConfigError', message);
}
