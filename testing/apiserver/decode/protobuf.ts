/**
 * Reads objects in protobuf, as typed Go clients send them, into the equivalent JSON (`serializer/protobuf` of
 * apimachinery, and the `generated.proto` of each group).
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { type Json, type JsonObject, objectOf, textAt } from '../json.ts';
import type { ObjectType, Type, Types } from '../schema/types.ts';

const PREFIX = Buffer.from('k8s\0');
/** The field numbers of the envelope (`runtime.Unknown`) and of its type metadata. */
const ENVELOPE_FIELDS = { typeMeta: 1, raw: 2 } as const;
const TYPE_META = { 1: 'apiVersion', 2: 'kind' } as const;
/** DeleteOptions belong to no group. */
const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** The value of a field: a number, or the bytes of a string or message. A repeated field has several. */
type WireValue = bigint | Uint8Array;

/**
 * Reads an object. An object of an unknown kind has only its type metadata. Throws an error if the body is malformed.
 */
export function readProtobuf(body: Uint8Array, types: Types): JsonObject {
  if (!PREFIX.equals(body.subarray(0, PREFIX.length))) {
    const expected = [...PREFIX].join(' ');
    throw new Error(`provided data does not appear to be a protobuf message, expected prefix [${expected}]`);
  }
  const unknown = fieldsIn(body.subarray(PREFIX.length));
  const meta = fieldsIn(bytesOf(lastValue(unknown, ENVELOPE_FIELDS.typeMeta)));
  const kind = objectOf(
    Object.entries(TYPE_META).flatMap(([number, name]) => {
      const text = textOf(lastValue(meta, Number(number)));
      return text === '' ? [] : [[name, text] as const];
    }),
  );
  const type = typeOf(kind, types);
  return type === undefined
    ? kind
    : { ...kind, ...readMessage(bytesOf(lastValue(unknown, ENVELOPE_FIELDS.raw)), type) };
}

function typeOf(object: JsonObject, types: Types): ObjectType | undefined {
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  if (kind === 'DeleteOptions') return types.named(DELETE_OPTIONS);
  const at = apiVersion.lastIndexOf('/');
  return types.kind(apiVersion.slice(0, Math.max(0, at)), apiVersion.slice(at + 1), kind);
}

/** Reads a message. `path` is the path of a nested message that is inlined in JSON, e.g. the source of a volume. */
function readMessage(bytes: Uint8Array, type: ObjectType, path = ''): JsonObject {
  return objectOf(
    [...fieldsIn(bytes)].flatMap(([number, values]) => {
      const at = `${path}${number}`;
      const name = type.numbered.get(at);
      const field = name === undefined ? undefined : type.field(name);
      if (name !== undefined && field !== undefined) return [[name, fieldOf(values, field.type)] as const];
      const isPart = [...type.numbered.keys()].some((each) => each.startsWith(`${at}.`));
      return isPart ? Object.entries(readMessage(bytesOf(values.at(-1)), type, `${at}.`)) : [];
    }),
  );
}

function fieldOf(values: readonly WireValue[], type: Type): Json {
  switch (type.kind) {
    case 'list':
      return values.map((each) => singleValueOf(each, type.items));
    case 'map':
      return objectOf(values.map((each) => entryOf(fieldsIn(bytesOf(each)), type.values)));
    default:
      return singleValueOf(values.at(-1), type);
  }
}

/** A list as the value of a map entry is wrapped in a message with field 1. */
function entryOf(entry: ReadonlyMap<number, readonly WireValue[]>, type: Type): readonly [string, Json] {
  const value = lastValue(entry, 2);
  const isList = type.kind === 'list';
  return [
    textOf(lastValue(entry, 1)),
    isList ? fieldOf(fieldsIn(bytesOf(value)).get(1) ?? [], type) : singleValueOf(value, type),
  ];
}

function singleValueOf(value: WireValue | undefined, type: Type): Json {
  switch (type.kind) {
    case 'object':
      return readMessage(bytesOf(value), type.of);
    case 'string':
      return textOf(value);
    case 'bytes':
      return Buffer.from(bytesOf(value)).toString('base64');
    case 'boolean':
      return numberOf(value) !== 0;
    case 'int32':
    case 'int64':
    case 'number':
      return numberOf(value);
    case 'quantity':
      return textOf(lastValue(fieldsIn(bytesOf(value)), 1));
    case 'time':
    case 'microTime':
      return timeOf(fieldsIn(bytesOf(value)));
    case 'intOrString':
      return intOrString(fieldsIn(bytesOf(value)));
    default:
      return jsonOf(lastValue(fieldsIn(bytesOf(value)), 1));
  }
}

/** Converts seconds and nanoseconds to a time with microseconds, the maximum precision of any type. Null if unset. */
function timeOf(fields: ReadonlyMap<number, readonly WireValue[]>): Json {
  if (fields.size === 0) return null;
  const at = new Date(numberOf(lastValue(fields, 1)) * 1_000);
  if (Number.isNaN(at.getTime())) throw new Error('a time is out of range');
  const micros = Math.floor(numberOf(lastValue(fields, 2)) / 1_000);
  return at.toISOString().replace(/\.\d+Z$/, `.${String(micros).padStart(6, '0')}Z`);
}

const intOrString = (fields: ReadonlyMap<number, readonly WireValue[]>): Json =>
  numberOf(lastValue(fields, 1)) === 0 ? numberOf(lastValue(fields, 2)) : textOf(lastValue(fields, 3));

/** A field without a schema contains JSON. */
const jsonOf = (value: WireValue | undefined): Json => (value === undefined ? null : JSON.parse(textOf(value)));

/** All fields of a message by number. */
function fieldsIn(bytes: Uint8Array): ReadonlyMap<number, readonly WireValue[]> {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, WireValue[]>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const values = fields.get(number) ?? [];
    values.push(wireOf(reader, wireType));
    fields.set(number, values);
  }
  return fields;
}

/** The types of Kubernetes use no other wire types. */
function wireOf(reader: BinaryReader, wireType: WireType): WireValue {
  if (wireType === WireType.LengthDelimited) return reader.bytes();
  if (wireType === WireType.Varint) return BigInt(reader.int64());
  throw new Error(`proto: illegal wireType ${wireType}`);
}

const lastValue = (fields: ReadonlyMap<number, readonly WireValue[]>, number: number): WireValue | undefined =>
  fields.get(number)?.at(-1);

function bytesOf(value: WireValue | undefined): Uint8Array {
  if (typeof value === 'bigint') throw new Error('proto: wrong wireType = 0');
  return value ?? new Uint8Array();
}

function numberOf(value: WireValue | undefined): number {
  if (value instanceof Uint8Array) throw new Error('proto: wrong wireType = 2');
  return Number(value ?? 0);
}

const textOf = (value: WireValue | undefined): string => Buffer.from(bytesOf(value)).toString();
