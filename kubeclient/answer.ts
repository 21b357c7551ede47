/**
 * Checks that a response comes from a Kubernetes API server. Otherwise throws an error that describes the actual
 * response in one sentence.
 */
import * as z from 'zod/mini';
import { printableLine } from '../base/text/printable.ts';
import { truncate } from '../base/text/shortText.ts';
import { formatValue, problemOf } from '../kubernetes/api/problem.ts';
import type { ObjectType } from './paths.ts';

/** Error for a response that no Kubernetes API server would send. */
export class UnexpectedResponse extends Error {}

/** Maximum number of characters of a response that an error message quotes. */
const MAX_SHOWN_CHARACTERS = 120;

/** Parses JSON. `request` describes the request in error messages, e.g. `GET /api/v1/pods`. */
export function parseJsonBody(text: string, request: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnexpectedResponse(
      `${request}: the server answered with ${describeResponse(firstLine(text), request)}, expected the JSON of a Kubernetes API`,
    );
  }
}

const JSON_TYPE = 'application/json';

/**
 * Throws an `UnexpectedResponse` unless the `content-type` is JSON. A response without this header is treated as JSON,
 * as in client-go (`transformResponse` in `rest/request.go`). `request` describes the request, e.g. `GET /api/v1/pods`.
 */
export function assertJsonType(headers: ReadonlyMap<string, string>, request: string): void {
  const contentType = headers.get('content-type') ?? JSON_TYPE;
  const [mediaType = ''] = contentType.split(';', 1);
  if (mediaType.trim().toLowerCase() === JSON_TYPE) return;
  throw new UnexpectedResponse(
    `${request}: the server answered with content of type ${printableLine(contentType)}, expected ${JSON_TYPE}`,
  );
}

const typedSchema = z.looseObject({ apiVersion: z.string(), kind: z.string() });

/**
 * Throws an `UnexpectedResponse` unless the object has the expected type. A schema check is not sufficient, because
 * objects of other kinds may have the same fields.
 */
export function assertObjectType(object: unknown, type: ObjectType, request: string): void {
  const expectedType = `kind ${type.kind} of ${type.apiVersion}`;
  const { kind, apiVersion } = parseResponse(typedSchema, object, { request, expected: expectedType });
  if (kind === type.kind && apiVersion === type.apiVersion) return;
  throw new UnexpectedResponse(
    `${request}: the server answered with kind ${printableLine(kind)} of ${printableLine(apiVersion)}, expected ${expectedType}`,
  );
}

/**
 * Returns the response if it matches the schema. Otherwise throws an error whose message contains `expected`, e.g. "a
 * Node".
 */
export function parseResponse<Schema extends z.core.$ZodType>(
  schema: Schema,
  response: unknown,
  { request, expected }: { readonly request: string; readonly expected: string },
): z.output<Schema> {
  const result = z.safeParse(schema, response);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const { path, message } = issue === undefined ? { path: '', message: '' } : problemOf(issue, response);
  const problem = path === '' || mayContainSecret(request) ? '' : ` (${path}: ${message})`;
  throw new UnexpectedResponse(
    `${request}: the server answered with ${describeResponse(response, request)}, expected ${expected}${printableLine(problem)}`,
  );
}

function describeResponse(response: unknown, request: string): string {
  if (response === undefined) return 'nothing';
  return mayContainSecret(request)
    ? 'something else'
    : truncate(printableLine(formatValue(response)), MAX_SHOWN_CHARACTERS);
}

/** Whether the response may contain secrets, which must not appear in error messages. */
const mayContainSecret = (request: string): boolean => /\/(?:secrets|token|tokenreviews)(?:[/?]|$)/.test(request);

const firstLine = (text: string): string => text.trimStart().split(/[\r\n]/, 1)[0] ?? '';
