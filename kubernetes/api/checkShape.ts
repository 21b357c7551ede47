/** Validates the arguments of callers whose code is not type-checked. */
import * as z from 'zod/mini';
import { printableText } from '../../base/text/printable.ts';
import { problemOf } from './problem.ts';

/** Schema of a function. The types of its parameters and result cannot be checked at runtime. */
export const functionSchema = z.custom<unknown>((value) => typeof value === 'function', {
  error: 'expected a function',
});

/**
 * Throws a `TypeError` that names the first field that the schema rejects. The message starts with `receiver`, the name
 * of the function that received the value. `valueName` is the name of the value in a message about the value as a
 * whole.
 */
export function checkShape(schema: z.ZodMiniType, value: unknown, receiver: string, valueName?: string): void {
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return;
  const { path, message } = problemOf(issue, value);
  const location = path === '' ? valueName : path;
  throw new TypeError(printableText([receiver, ...(location === undefined ? [] : [location]), message].join(': ')));
}
