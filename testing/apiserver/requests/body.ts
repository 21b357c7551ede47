/** Reads the object in a request body, with the error messages of the kube-apiserver (`endpoints/handlers`). */
import { messageOf } from '../../../base/failure.ts';
import { decode } from '../decode/decode.ts';
import { DecodeError, kindOf } from '../decode/decodeError.ts';
import { duplicateFields } from '../decode/duplicates.ts';
import { readProtobuf } from '../decode/protobuf.ts';
import { badRequest, type Failure } from '../failures/failures.ts';
import { isObject, type Json, type JsonObject, objectOf, textAt } from '../json.ts';
import { groupVersion, type Resource } from '../resources/resource.ts';
import type { Types } from '../schema/types.ts';
import { parseBody, SyntaxFailure } from './mediaTypes.ts';
import type { ApiRequest } from './request.ts';

export interface Body {
  readonly text: string;
  readonly contentType: string | undefined;
}

/** Returns the body as text. Protobuf is converted to JSON. Throws a `Failure` if it is malformed. */
export function bodyOf({ body, headers }: ApiRequest, { kind }: Pick<Resource, 'kind'>, types: Types): Body {
  const contentType = headers.get('content-type');
  if (typeof body === 'string') return { text: body, contentType };
  if (body.length === 0) return { text: '', contentType: 'application/json' };
  try {
    return { text: JSON.stringify(readProtobuf(body, types)), contentType: 'application/json' };
  } catch (error) {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${messageOf(error)} (${summary(Buffer.from(body))})`,
    );
  }
}

/** The treatment of unknown fields. The kube-apiserver warns by default. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface ReadObject {
  readonly object: JsonObject;
  /** Warnings for the client, each for a `Warning` header. */
  readonly warnings: readonly string[];
}

type Expected = Pick<Resource, 'group' | 'version' | 'kind'>;

/** Reads an object of a kind. A missing kind or version defaults to the expected one. Throws a `Failure`. */
export function readObject(body: Body, expected: Expected, types: Types, validation: FieldValidation): ReadObject {
  const value = parseObject(body, expected);
  const typeMeta = { kind: textAt(value, 'kind') || expected.kind, version: textAt(value, 'apiVersion') };
  const apiVersion = groupVersion(expected);
  const version = typeMeta.version || apiVersion;
  const refused = (why: string): Failure =>
    badRequest(
      `${typeMeta.kind} in version "${version.slice(version.indexOf('/') + 1)}" cannot be handled as a ${expected.kind}: ${why}`,
    );
  if (typeMeta.kind !== expected.kind || version !== apiVersion)
    throw refused(
      `no kind "${typeMeta.kind}" is registered for version "${version}" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
    );
  try {
    const twice = isYaml(body) ? [] : duplicateFields(body.text, value);
    return readValue(
      value,
      expected,
      types,
      validation,
      twice.map((path) => `duplicate field "${path}"`),
    );
  } catch (error) {
    throw error instanceof DecodeError ? refused(error.message) : error;
  }
}

const isYaml = ({ contentType = '' }: Body): boolean => contentType.startsWith('application/yaml');

/** Reads a value as an object of a kind. `found` contains earlier warnings. Throws a `DecodeError`. */
export function readValue(
  value: Json,
  expected: Expected,
  types: Types,
  validation: FieldValidation,
  found: readonly string[] = [],
): ReadObject {
  const type = types.kind(expected.group, expected.version, expected.kind);
  if (type === undefined) throw new Error(`the schema has no ${groupVersion(expected)} ${expected.kind}`);
  const { object, unknown } = decode(value, type);
  const warnings = [...found, ...unknown.map((path) => `unknown field "${path}"`)];
  if (validation === 'Strict' && warnings.length > 0)
    throw new DecodeError(`strict decoding error: ${warnings.join(', ')}`);
  return {
    object: objectOf([...Object.entries(object), ['kind', expected.kind], ['apiVersion', groupVersion(expected)]]),
    warnings: validation === 'Ignore' ? [] : warnings,
  };
}

const KIND_STRUCT =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Parses a body that should be an object. */
function parseObject({ text, contentType }: Body, { kind }: Expected): JsonObject {
  try {
    const value = parseBody(text, contentType);
    if (isObject(value)) return value;
    throw new SyntaxFailure(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${KIND_STRUCT}`);
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    const why = `couldn't get version/kind; json parse error: ${error.message} (${summary(Buffer.from(text))})`;
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);
  }
}

const SUMMARY_BYTES = 30;

/** The start of a body for an error message: as it is if it may be JSON, and otherwise in hexadecimal. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const beginning = bytes.subarray(0, SUMMARY_BYTES);
  const shown = beginning.toString().startsWith('{') ? beginning.toString() : beginning.toString('hex');
  return bytes.length > SUMMARY_BYTES ? `${shown} ...` : shown;
}
