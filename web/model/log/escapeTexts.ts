/**
 * Makes texts safe for display. Output of a container or text of a manifest must neither hide nor reorder the text next
 * to it.
 */
import { printableLine, printableText } from '../../../base/printable.ts';

/** Escapes all strings in a value, including property names. With `asLines`, line breaks are escaped as well. */
export function escapeTexts<T>(value: T, asLines = true): T {
  const escapeString = asLines ? printableLine : printableText;
  const escapeValue = (each: unknown): unknown => {
    if (typeof each === 'string') return escapeString(each);
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map(escapeValue);
    return Object.fromEntries(Object.entries(each).map(([key, part]) => [escapeString(key), escapeValue(part)]));
  };
  // Safe cast: the copy has the same structure, with a string for each string.
  return escapeValue(value) as T;
}
