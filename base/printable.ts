/**
 * What a container, a manifest or a file's name says, made safe for a terminal: control characters move its cursor, change
 * its title and colours, and answer for the user; those of bidirectional text show another order than there is.
 */
const UNSAFE = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Escape and carriage return as kubectl shows them; the others by their numbers. */
function shown(character: string): string {
  if (character === '\x1b') return '^[';
  if (character === '\r') return '\\r';
  const code = character.charCodeAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : inJson(character);
}

const inJson = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text as a terminal may have it; line breaks and tabs stay. */
export const printable = (text: string): string => text.replace(UNSAFE, shown);

/** The same on one line, in which every character has a width: nothing in a text may pass for a line of ours. */
export const printableLine = (text: string): string => printable(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');

/** JSON, or YAML in which such characters stand in double quotes only, with the same meaning and none of them raw. */
export const printableQuoted = (text: string): string => text.replace(UNSAFE, inJson);

/** Whether a text has characters that a terminal may not have. */
export const isPrintable = (text: string): boolean => text.search(UNSAFE) < 0;
