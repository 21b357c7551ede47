/**
 * Parses environment files (C21), whose lines have the form `NAME='value'`. A value is literal and may span several
 * lines.
 */
import { NodeFailure } from '../../base/failure.ts';

/**
 * Pattern of a blank line, a comment or an environment variable. Spaces before a variable's name and around `=` are
 * ignored.
 */
const LINE_PATTERN = /[ \t]*(?:#[^\n]*|([^\s=#'"][^=\n'"]*)=[ \t]*'([^']*)'[ \t]*|)\r?(?:\n|$)/y;

/**
 * Returns the value of an environment variable in a file, or undefined if the file does not define the variable. If the
 * variable is defined several times, the last value takes effect. Throws if the file is malformed.
 */
export function envFileValue(
  text: string,
  { key, path }: { readonly key: string; readonly path: string },
): string | undefined {
  let value: string | undefined;
  for (let offset = 0; offset < text.length; ) {
    LINE_PATTERN.lastIndex = offset;
    const match = LINE_PATTERN.exec(text);
    if (match === null) throw malformedFileError(path, text, offset);
    if (match[1]?.trimEnd() === key) value = match[2];
    offset = LINE_PATTERN.lastIndex;
  }
  return value;
}

function malformedFileError(path: string, text: string, offset: number): NodeFailure {
  const line = text.slice(0, offset).split('\n').length;
  const message = `couldn't parse env file: ${path}, line ${line}: a variable is written NAME='value'`;
  return new NodeFailure('CreateContainerConfigError', message);
}
