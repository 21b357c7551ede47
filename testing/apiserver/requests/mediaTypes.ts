/** Parses request bodies in JSON, YAML and protobuf. */
import { parseDocuments } from '../../../kubernetes/yaml/boundedYaml.ts';
import { Failure } from '../failures/failures.ts';
import type { Json } from '../json.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Whether the content type is that of protobuf. */
export const isProtobuf = (contentType = ''): boolean => mediaTypeOf(contentType) === PROTOBUF;

const mediaTypeOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

/** The request size limit, which is larger than that of an object. */
const MAX_BYTES = 3 * 1024 * 1024;

/** A body that cannot be parsed, with Go's message. */
export class SyntaxFailure extends Error {
  override readonly name = 'SyntaxFailure';
}

/**
 * Parses a body. Throws a `Failure` for an unsupported media type or size, and a `SyntaxFailure` for a malformed body.
 */
export function parseBody(text: string, contentType = 'application/json'): Json {
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new Failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BYTES}`);
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return parseWith(text, JSON.parse);
    case 'application/yaml':
      return parseWith(text, readYaml);
    default:
      throw new Failure(
        415,
        'UnsupportedMediaType',
        'the body of the request was in an unknown format - accepted media types include: application/json, ' +
          `application/yaml, ${PROTOBUF}`,
      );
  }
}

const YAML_LIMITS = { tokens: 1_000_000, values: 1_000_000, characters: MAX_BYTES };

/** Reads the first YAML document of a body as JSON. */
function readYaml(text: string): Json {
  const documents = parseDocuments(text, YAML_LIMITS);
  const [first = { value: null }] = Array.isArray(documents) ? documents : [documents];
  if ('problem' in first) throw new Error(`error converting YAML to JSON: ${first.problem}`);
  if ('beyond' in first) throw new Error(`the body has ${first.beyond}`);
  return JSON.parse(
    JSON.stringify(first.value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)),
  );
}

function parseWith(text: string, read: (text: string) => Json): Json {
  if (text.trim() === '') throw new SyntaxFailure('unexpected end of JSON input');
  try {
    return read(text);
  } catch (cause) {
    throw new SyntaxFailure(goSyntaxError(cause, text), { cause });
  }
}

/** Go's message for malformed JSON, derived from the JavaScript error. */
function goSyntaxError(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = Number(/at position (?<at>\d+)/.exec(message)?.groups?.at);
  if (position >= text.trimEnd().length) return 'unexpected end of JSON input';
  if (/end of JSON input|^Unterminated/.test(message)) return 'unexpected end of JSON input';
  const token = /^Unexpected token '(?<token>.)'/u.exec(message)?.groups?.token;
  return token === undefined ? message : `invalid character '${token}' looking for beginning of value`;
}
