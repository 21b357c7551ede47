/** Responses: complete ones in the representation that a client requests, and watches with a line per event. */
import { Document, visit } from 'yaml';
import { needsQuotes } from '../../../kubernetes/yaml/resolveScalar.ts';
import type { Forward } from '../connect/forward.ts';
import type { PlainResponse } from '../discovery/plainPaths.ts';
import { Failure, unavailable } from '../failures/failures.ts';
import type { Call } from '../handlers/call.ts';
import type { Watch } from '../handlers/watch.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ApiResponse, CompleteResponse } from '../requests/request.ts';
import type { Representation } from './negotiation.ts';
import { shapeObject } from './shapes.ts';

/** The representation of errors before the client's preference is known. */
export const PLAIN_JSON: Representation = {
  mediaType: 'application/json',
  as: 'object',
  version: 'v1',
  isPretty: false,
};

export const plainResponse = ({ code, contentType, body }: PlainResponse): ApiResponse => ({
  code,
  headers: new Map(contentType === undefined ? [] : [['content-type', contentType]]),
  body,
});

export function objectResponse(
  code: number,
  object: Json,
  form: Representation,
  warnings: readonly string[] = [],
): CompleteResponse {
  const headers = new Map<string, string>([['content-type', form.mediaType]]);
  if (warnings.length > 0) headers.set('warning', warnings.map((each) => `299 - ${JSON.stringify(each)}`).join(', '));
  return { code, headers, body: textOf(object, form) };
}

function textOf(object: Json, { mediaType, isPretty }: Representation): string {
  if (mediaType === 'application/yaml') return yamlOf(object);
  return isPretty ? JSON.stringify(object, null, 2) : `${JSON.stringify(object)}\n`;
}

function yamlOf(object: Json): string {
  const document = new Document(object, { sortMapEntries: true });
  visit(document, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value === 'string' && needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString();
}

export const watchResponse = (watch: Watch, call: Call, form: Representation): ApiResponse => ({
  code: 200,
  headers: new Map([['content-type', form.mediaType]]),
  start: (send, end) =>
    watch((event) => {
      const object: Json = event.type === 'ERROR' ? jsonOf(event.status) : shapeObject(event.object, call, form);
      send(`${JSON.stringify({ type: event.type, object })}\n`);
    }, end),
});

/** Returns the response to a request that is forwarded to a node. In-memory clients only get the 503. */
export const forwardResponse = (forward: Forward): ApiResponse => {
  const { status } = unavailable('error trying to reach service: nodes are reached only over connections');
  return { ...objectResponse(status.code, jsonOf(status), PLAIN_JSON), forward };
};

/** Returns the response for an error. */
export function errorResponse(error: unknown, form: Representation): ApiResponse {
  const { status } = error instanceof Failure ? error : internalFailure(error);
  const answer = objectResponse(status.code, jsonOf(status), { ...form, as: 'object' });
  const after = status.details?.retryAfterSeconds;
  if (after === undefined) return answer;
  return { ...answer, headers: new Map([...answer.headers, ['retry-after', String(after)]]) };
}

const jsonOf = (value: object): JsonObject => JSON.parse(JSON.stringify(value));

/** An internal error, i.e. a bug of this server. */
const internalFailure = (error: unknown): Failure => {
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Failure(500, 'InternalError', `Internal error occurred: ${why}`, {
    causes: [{ reason: '', message: why }],
  });
};
