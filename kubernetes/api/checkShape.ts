/** Refuses what programs give that are not type-checked. */
import * as z from 'zod/mini';
import { printable } from '../../base/printable.ts';
import { problemOf } from './problem.ts';

/** What is called: what it takes and gives nobody can see. */
export const aFunction = z.custom<unknown>((value) => typeof value === 'function', { error: 'expected a function' });

/**
 * Throws a `TypeError` that names the first field that a schema refuses; `taker` is whom the value is given to, and
 * `whole` what all of it is called there.
 */
export function checkShape(schema: z.ZodMiniType, value: unknown, taker: string, whole?: string): void {
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return;
  const { path, message } = problemOf(issue, value);
  const place = path === '' ? whole : path;
  throw new TypeError(printable([taker, ...(place === undefined ? [] : [place]), message].join(': ')));
}
