/** Bodies by their media types: JSON, YAML, or protobuf. */
import { parseDocuments } from '../../kubernetes/yaml/boundedYaml.ts';
import { Failure } from './failures.ts';
import type { Json } from './json.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** Whether a body is no text. */
export const isProtobuf = (contentType = ''): boolean => mediaTypeOf(contentType) === PROTOBUF;

const mediaTypeOf = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

/** A body is larger than an object may be. */
const MOST_BYTES = 3 * 1024 * 1024;

/** A body that could not be read; `message` as Go tells it. */
export class SyntaxFailure extends Error {
  override readonly name = 'SyntaxFailure';
}

/** Throws a `Failure` for what nobody reads, a `SyntaxFailure` for what is broken. Without a media type it is JSON. */
export function parsedBody(text: string, contentType = 'application/json'): Json {
  if (Buffer.byteLength(text) > MOST_BYTES)
    throw new Failure(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MOST_BYTES}`);
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return parsedAs(text, JSON.parse);
    case 'application/yaml':
      return parsedAs(text, readYaml);
    default:
      throw new Failure(
        415,
        'UnsupportedMediaType',
        'the body of the request was in an unknown format - accepted media types include: application/json, ' +
          `application/yaml, ${PROTOBUF}`,
      );
  }
}

const YAML_LIMITS = { tokens: 1_000_000, values: 1_000_000, characters: MOST_BYTES };

/** Reads the first document of a body, as JSON holds it. */
function readYaml(text: string): Json {
  const documents = parseDocuments(text, YAML_LIMITS);
  const [first = { value: null }] = Array.isArray(documents) ? documents : [documents];
  if ('problem' in first) throw new Error(`error converting YAML to JSON: ${first.problem}`);
  if ('beyond' in first) throw new Error(`the body has ${first.beyond}`);
  return JSON.parse(
    JSON.stringify(first.value, (_key, each: unknown) => (typeof each === 'bigint' ? Number(each) : each)),
  );
}

function parsedAs(text: string, read: (text: string) => Json): Json {
  if (text.trim() === '') throw new SyntaxFailure('unexpected end of JSON input');
  try {
    return read(text);
  } catch (cause) {
    throw new SyntaxFailure(goSyntaxError(cause, text), { cause });
  }
}

/** What Go says of broken JSON, as far as the error tells where it broke. */
function goSyntaxError(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = Number(/at position (?<at>\d+)/.exec(message)?.groups?.at);
  if (position >= text.trimEnd().length) return 'unexpected end of JSON input';
  if (/end of JSON input|^Unterminated/.test(message)) return 'unexpected end of JSON input';
  const token = /^Unexpected token '(?<token>.)'/u.exec(message)?.groups?.token;
  return token === undefined ? message : `invalid character '${token}' looking for beginning of value`;
}
