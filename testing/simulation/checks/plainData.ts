/** Rejects values that JSON cannot represent, before they are serialized. */

import { printableText } from '../../../base/text/printable.ts';
import { fieldPath } from '../../../kubernetes/api/problem.ts';

/** Maximum depth of a value, which is far more than a node accepts but shallow enough for recursive functions. */
const MAX_DEPTH = 500;

/** Throws a `TypeError` that names the first field that is not plain data. The message starts with `prefix`. */
export function checkPlain(value: unknown, prefix: string): void {
  check(value, [], []);

  function check(node: unknown, path: readonly PropertyKey[], ancestors: readonly unknown[]): void {
    if (typeof node === 'bigint') refuse(path, 'expected JSON, got bigint');
    if (typeof node !== 'object' || node === null) return;
    if (ancestors.includes(node)) refuse(path, 'contains itself');
    if (ancestors.length >= MAX_DEPTH) refuse(path.slice(0, 1), `is nested deeper than ${MAX_DEPTH} levels`);
    for (const [key, inner] of Object.entries(node))
      check(inner, [...path, Array.isArray(node) ? Number(key) : key], [...ancestors, node]);
  }

  function refuse(path: readonly PropertyKey[], message: string): never {
    const place = path.length === 0 ? '' : `${fieldPath(path)}: `;
    throw new TypeError(printableText(`${prefix}: ${place}${message}`));
  }
}
