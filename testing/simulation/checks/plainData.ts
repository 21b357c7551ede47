/** Rejects values that JSON cannot represent before they are serialized. */

import { printableText } from '../../../base/text/printable.ts';
import { fieldPath } from '../../../kubernetes/api/problem.ts';

/** Far deeper than any value that a node accepts, and shallow enough for recursive functions. */
const MAX_DEPTH = 500;

/** Throws a `TypeError` that names the first field that is not plain data. The message starts with `taker`. */
export function checkPlain(value: unknown, taker: string): void {
  check(value, [], []);

  function check(at: unknown, path: readonly PropertyKey[], above: readonly unknown[]): void {
    if (typeof at === 'bigint') refuse(path, 'expected JSON, got bigint');
    if (typeof at !== 'object' || at === null) return;
    if (above.includes(at)) refuse(path, 'contains itself');
    if (above.length >= MAX_DEPTH) refuse(path.slice(0, 1), `is nested deeper than ${MAX_DEPTH} levels`);
    for (const [key, inner] of Object.entries(at))
      check(inner, [...path, Array.isArray(at) ? Number(key) : key], [...above, at]);
  }

  function refuse(path: readonly PropertyKey[], message: string): never {
    const place = path.length === 0 ? '' : `${fieldPath(path)}: `;
    throw new TypeError(printableText(`${taker}: ${place}${message}`));
  }
}
