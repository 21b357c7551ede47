/**
 * Escapes text for display. The output of a container or the text of a manifest must not hide or reorder the text next
 * to it.
 */
import { printableLine, printableText } from '../../../base/text/printable.ts';

/** Escapes all strings in a value, including property names. If `asLines` is set, line breaks are escaped as well. */
export function escapeTexts<T>(value: T, asLines = true): T {
  const escapeString = asLines ? printableLine : printableText;
  const escapeValue = (each: unknown): unknown => {
    if (typeof each === 'string') return escapeString(each);
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map(escapeValue);
    return Object.fromEntries(Object.entries(each).map(([key, part]) => [escapeString(key), escapeValue(part)]));
  };
  // Safe cast: the copy has the same structure, and each string is replaced with a string.
  return escapeValue(value) as T;
}
