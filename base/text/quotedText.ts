import { lookUp } from '../values/lookUp.ts';

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** Quotes a string by Go's rules, as Kubernetes does in messages. Unprintable characters are escaped. */
export function quotedText(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  const hexDigits = (length: number) => codePoint.toString(16).padStart(length, '0');
  const shortEscape = lookUp(SHORT_ESCAPES, character);
  if (shortEscape !== undefined) return shortEscape;
  if (codePoint < 0x80) return `\\x${hexDigits(2)}`;
  return codePoint < 0x10000 ? `\\u${hexDigits(4)}` : `\\U${hexDigits(8)}`;
}
