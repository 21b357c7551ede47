/** What whoever answers instead of an API server, or one that has gone astray, has answered: told in one sentence. */
import * as z from 'zod/mini';
import { problemOf, shownValue } from '../pod/api/problem.ts';
import { printableLine } from '../pod/show/printable.ts';
import { beginningOf } from '../pod/show/shortText.ts';

/** Somebody has answered, but not as a Kubernetes API server does. */
export class OddAnswer extends Error {}

/** In characters: as much as tells what it is. */
const LONGEST_SHOWN = 120;

/** The JSON of a text; `asked` is what the text answers. */
export function jsonOf(text: string, asked: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OddAnswer(
      `${asked}: the server answered with ${shown(firstLine(text), asked)}, expected the JSON of a Kubernetes API`,
    );
  }
}

/** An answer of the shape that is `expected`, as in "a Node". */
export function readAnswer<Schema extends z.core.$ZodType>(
  schema: Schema,
  answer: unknown,
  { asked, expected }: { readonly asked: string; readonly expected: string },
): z.output<Schema> {
  const read = z.safeParse(schema, answer);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const { path, message } = issue === undefined ? { path: '', message: '' } : problemOf(issue, answer);
  const why = path === '' || mayBeSecret(asked) ? '' : ` (${path}: ${message})`;
  throw new OddAnswer(
    `${asked}: the server answered with ${shown(answer, asked)}, expected ${expected}${printableLine(why)}`,
  );
}

function shown(answer: unknown, asked: string): string {
  if (answer === undefined) return 'nothing';
  return mayBeSecret(asked) ? 'something else' : beginningOf(printableLine(shownValue(answer)), LONGEST_SHOWN);
}

/** Of Secrets and tokens nothing is told but what was asked. */
const mayBeSecret = (asked: string): boolean => /\/(?:secrets|token|tokenreviews)(?:[/?]|$)/.test(asked);

const firstLine = (text: string): string => text.trimStart().split(/[\r\n]/, 1)[0] ?? '';
