/** Texts as the page may have them: what a container or a manifest says must neither hide nor turn what stands beside it. */
import { printable, printableLine } from '../../base/printable.ts';

/** The same with all its texts made safe, the names of its parts, too; `asLines`: none of them is more than a line. */
export function shownTexts<T>(value: T, asLines = true): T {
  const shown = asLines ? printableLine : printable;
  const within = (each: unknown): unknown => {
    if (typeof each === 'string') return shown(each);
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map(within);
    return Object.fromEntries(Object.entries(each).map(([key, part]) => [shown(key), within(part)]));
  };
  // It has the same parts, and a text for each text.
  return within(value) as T;
}
