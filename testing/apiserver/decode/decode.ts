/**
 * Decodes request bodies as the kube-apiserver does: with the decoder of the node (`kubernetes/api/decode`), the
 * messages of Go's decoder, and an encoder that writes the values as Go does.
 */
import { isRfc3339Time } from '../../../kubernetes/api/decode/decodeScalar.ts';
import { decodeValue, type Mismatch } from '../../../kubernetes/api/decode/decodeValue.ts';
import { countValidDigits } from '../../../kubernetes/api/values/base64.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { ObjectType, Type } from '../schema/types.ts';
import { DecodeError, kindOf } from './decodeError.ts';
import { encodeObject } from './encode.ts';

export interface Decoded {
  readonly object: JsonObject;
  /** The paths of unknown fields, e.g. `spec.containers[0].comand`. */
  readonly unknown: readonly string[];
}

/** Decodes a value as an object of a type. Throws a `DecodeError`. */
export function decode(value: Json, type: ObjectType): Decoded {
  if (!isObject(value))
    throw new DecodeError(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${goName(type)}`);
  const decoded = decodeValue(value, { kind: 'object', of: type });
  const [mismatch] = decoded.mismatches.toSorted(
    (one, other) => Number(abortsDecoding(other)) - Number(abortsDecoding(one)),
  );
  if (mismatch !== undefined) throw new DecodeError(messageOf(mismatch, type));
  return {
    // Safe cast, because a decoded value consists of parts of the input and zero values.
    object: encodeObject(decoded.value as JsonObject, type),
    unknown: decoded.unknownFields.map(({ path, name }) => pathOf([...path, name])),
  };
}

const pathOf = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  );

/**
 * Whether the type has a decoder of its own, whose error ends the decoding. Of all other errors, Go reports the first
 * one after decoding the rest of the value.
 */
const abortsDecoding = ({ type: { kind } }: Mismatch): boolean =>
  kind === 'quantity' || kind === 'time' || kind === 'microTime' || kind === 'intOrString';

const QUANTITY_PATTERN = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';

function messageOf(mismatch: Mismatch, type: ObjectType): string {
  // Safe cast, because the value is a part of the input.
  const value = mismatch.value as Json;
  switch (mismatch.type.kind) {
    case 'quantity':
      return `quantities must match the regular expression '${QUANTITY_PATTERN}'`;
    case 'time':
    case 'microTime':
      return typeof value === 'string'
        ? timeMessage(value, mismatch.type.kind)
        : fieldMessage(mismatch, value, type, 'string');
    case 'intOrString':
      return fieldMessage(mismatch, value, type, 'int32');
    case 'bytes':
      return typeof value === 'string'
        ? `illegal base64 data at input byte ${countValidDigits(value)}`
        : fieldMessage(mismatch, value, type);
    default:
      return fieldMessage(mismatch, value, type);
  }
}

/**
 * The message names the struct and the path of the field, without indexes and keys, and the Go type of the value.
 * `decodedType` is the type into which the field's own decoder decodes a value.
 */
function fieldMessage({ path, reason }: Mismatch, value: Json, root: ObjectType, decodedType?: string): string {
  let type: Type = { kind: 'object', of: root };
  let [structName, goType] = ['', ''];
  const names: string[] = [];
  for (const key of path) {
    if (type.kind === 'object') {
      const field = type.of.field(String(key));
      if (field === undefined) break;
      structName = shortName(type.of);
      names.push(String(key));
      ({ type, goType } = field);
    } else {
      goType = goType.replace(/^\*?(?:\[\]|map\[\w+\])/, '');
      type = entryTypeOf(type);
    }
  }
  // An integer that is not in range is shown with its value.
  const kind = reason === 'kind' ? kindOf(value) : `number ${String(value)}`;
  const field = `${structName}.${names.join('.')}`;
  return `json: cannot unmarshal ${kind} into Go struct field ${field} of type ${decodedType ?? withPackage(goType)}`;
}

const entryTypeOf = (type: Type): Type =>
  type.kind === 'list' ? type.items : type.kind === 'map' ? type.values : type;

const ZONE = 'Z07:00';
const SECONDS = '2006-01-02T15:04:05';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?<rest>(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d))$/;

/** Go's message about a text that is not a time. */
function timeMessage(text: string, kind: 'time' | 'microTime'): string {
  const shown = JSON.stringify(text);
  const layout = kind === 'microTime' ? `${SECONDS}.000000${ZONE}` : SECONDS + ZONE;
  const unparsed = (rest: string, expected: string): string =>
    `parsing time ${shown} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${expected}"`;
  const { rest } = TIME.exec(text)?.groups ?? {};
  if (rest === undefined || Number.isNaN(Date.parse(text.replace(',', '.')))) return unparsed(text, '2006');
  if (!isRfc3339Time(text)) return `parsing time ${shown}: day out of range`;
  // Go accepts a fraction that the layout lacks, but requires one that the layout has.
  const extraDigits = /^[.,]\d{6}(?<extra>\d.*)$/.exec(rest)?.groups?.extra;
  return extraDigits === undefined ? unparsed(rest, '.000000') : unparsed(extraDigits, ZONE);
}

/** A type with its package, as Go prints it: `[]Container` is `[]v1.Container`. */
const withPackage = (goType: string): string =>
  goType.replace(/^\*/, '').replaceAll(/\b(?:metav1\.|v1\.)?([A-Z]\w*)/g, 'v1.$1');

const shortName = ({ name }: ObjectType): string => name.slice(name.lastIndexOf('.') + 1);
const goName = (type: ObjectType): string => `v1.${shortName(type)}`;
