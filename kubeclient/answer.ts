/** Checks that a response is what a Kubernetes API server sends, and describes in one sentence what came instead. */
import * as z from 'zod/mini';
import { printableLine } from '../base/printable.ts';
import { beginningOf } from '../base/shortText.ts';
import { problemOf, shownValue } from '../kubernetes/api/problem.ts';
import type { ObjectType } from './paths.ts';

/** A response that no Kubernetes API server sends. */
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

const JSON_TYPE = 'application/json';

/**
 * Throws an `OddAnswer` unless the response is JSON by its `content-type`. A response without that header is taken for
 * JSON, as by client-go (`transformResponse` in `rest/request.go`). `asked` is the request, such as `GET /api/v1/pods`.
 */
export function assertJsonType(headers: ReadonlyMap<string, string>, asked: string): void {
  const contentType = headers.get('content-type') ?? JSON_TYPE;
  const [mediaType = ''] = contentType.split(';', 1);
  if (mediaType.trim().toLowerCase() === JSON_TYPE) return;
  throw new OddAnswer(
    `${asked}: the server answered with content of type ${printableLine(contentType)}, expected ${JSON_TYPE}`,
  );
}

const typedSchema = z.looseObject({ apiVersion: z.string(), kind: z.string() });

/**
 * Throws an `OddAnswer` unless the object says that it is of the expected type. An object of another kind may well have
 * the fields that the caller looks for, so its shape alone shows nothing.
 */
export function assertObjectType(object: unknown, type: ObjectType, asked: string): void {
  const expected = `kind ${type.kind} of ${type.apiVersion}`;
  const { kind, apiVersion } = readAnswer(typedSchema, object, { asked, expected });
  if (kind === type.kind && apiVersion === type.apiVersion) return;
  throw new OddAnswer(
    `${asked}: the server answered with kind ${printableLine(kind)} of ${printableLine(apiVersion)}, expected ${expected}`,
  );
}

/** Returns the response if it has the shape that `expected` describes, as in "a Node". */
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
