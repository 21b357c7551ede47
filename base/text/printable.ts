/**
 * Characters that must not reach a terminal. Control characters from a container, a manifest or a file name could move
 * the cursor, change the title or colours, or type input in place of the user. Bidirectional characters change the
 * order in which text is displayed.
 */
const UNSAFE_CHARACTERS = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Escapes a character as kubectl does: ESC becomes `^[`, and a carriage return becomes `\r`. Other characters are
 * replaced by their code.
 */
function escapeForTerminal(character: string): string {
  if (character === '\x1b') return '^[';
  if (character === '\r') return '\\r';
  const charCode = character.charCodeAt(0);
  return charCode < 0x80 ? `\\x${charCode.toString(16).padStart(2, '0')}` : escapeForJson(character);
}

const escapeForJson = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes unsafe characters for a terminal. Line breaks and tabs are preserved. */
export const printableText = (text: string): string => text.replace(UNSAFE_CHARACTERS, escapeForTerminal);

/**
 * Escapes a string for a single terminal line, so that it cannot imitate a line of our own output. Tabs become spaces,
 * so that the width of the line is predictable.
 */
export const printableLine = (text: string): string =>
  printableText(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');

/**
 * Escapes unsafe characters in JSON or YAML without changing the meaning of the document. In YAML, the unsafe
 * characters must be inside double-quoted strings, because escapes have no effect elsewhere.
 */
export const escapeUnsafeCharacters = (text: string): string => text.replace(UNSAFE_CHARACTERS, escapeForJson);

/** Whether a string contains only characters that are safe to print on a terminal. */
export const isPrintable = (text: string): boolean => text.search(UNSAFE_CHARACTERS) < 0;
