/**
 * Decodes request bodies as a kube-apiserver does. Values of a wrong type are rejected with the messages of Go's
 * decoder, unknown fields are reported and dropped, and values that Go would omit are dropped.
 */
import { isList, isObject, type Json, type JsonObject, objectOf } from '../json.ts';
import type { Field, ObjectType, Type } from '../schema/types.ts';
import { DecodeError } from './decodeError.ts';
import { bytesOf, quantityOf, timeOf } from './scalars.ts';

export interface Decoded {
  readonly object: JsonObject;
  /** The paths of unknown fields, e.g. `spec.containers[0].comand`. */
  readonly unknown: readonly string[];
}

/** Decodes a value as an object of a type. Throws a `DecodeError`. */
export function decode(value: Json, type: ObjectType): Decoded {
  const unknown: string[] = [];
  if (!isObject(value))
    throw new DecodeError(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${goName(type)}`);
  return { object: fieldsOf(value, type, { unknown, path: '', goPath: '' }), unknown };
}

/** The position of a value: its path with indexes, and Go's path without. */
interface Position {
  readonly unknown: string[];
  readonly path: string;
  readonly goPath: string;
}

/** The field of a struct, for error messages. */
interface FieldContext {
  readonly struct: ObjectType;
  readonly goType: string;
}

const child = (place: Position, name: string): Position => {
  const [path, goPath] = [place.path, place.goPath].map((above) => (above === '' ? name : `${above}.${name}`));
  return { ...place, path: path ?? name, goPath: goPath ?? name };
};

function fieldsOf(value: JsonObject, type: ObjectType, place: Position): JsonObject {
  const read = new Map<string, Json>();
  for (const [name, each] of Object.entries(value)) {
    const field = type.field(name);
    const at = child(place, name);
    if (field === undefined) place.unknown.push(at.path);
    else if (each !== null) read.set(name, decodeValue(each, field.type, at, { struct: type, goType: field.goType }));
  }
  return objectOf(type.fields.flatMap((name) => encodeField(name, type.field(name), read.get(name))));
}

/** The types that are structs in Go. Without a pointer they are never considered empty. */
const STRUCTS: ReadonlySet<Type['kind']> = new Set(['object', 'time', 'intOrString', 'quantity']);

/** Returns the field as Go writes it. An empty one is omitted, unless Go always writes it. */
function encodeField(name: string, field: Field | undefined, value: Json | undefined): [string, Json][] {
  if (field === undefined) return [];
  const { goType, isAlwaysWritten: isWritten, omitsZero } = field;
  if (goType.startsWith('*')) return value === undefined ? (isWritten ? [[name, null]] : []) : [[name, value]];
  const shown = value ?? zeroOf(field.type);
  const isStruct = STRUCTS.has(field.type.kind);
  const isEmpty = isStruct ? omitsZero && value === undefined : isZero(shown);
  if (isEmpty && !isWritten) return [];
  // Go stores an empty list like a missing one.
  return [[name, isList(shown) && shown.length === 0 ? null : shown]];
}

/** Go's zero value of a type. */
function zeroOf(type: Type): Json {
  switch (type.kind) {
    case 'object':
      return fieldsOf({}, type.of, { unknown: [], path: '', goPath: '' });
    case 'string':
    case 'bytes':
      return '';
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    default:
      return null;
  }
}

const isZero = (value: Json): boolean =>
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

function decodeValue(value: Json, type: Type, place: Position, told: FieldContext): Json {
  // Go decodes a null entry as the zero value.
  if (value === null) return zeroOf(type);
  switch (type.kind) {
    case 'object':
      if (!isObject(value)) throw typeError(value, place, told);
      return fieldsOf(value, type.of, place);
    case 'map':
      if (!isObject(value)) throw typeError(value, place, told);
      return objectOf(
        Object.entries(value).map(([name, each]) => {
          // Go's path does not contain the key.
          const at = { ...child(place, name), goPath: place.goPath };
          return [name, decodeValue(each, type.values, at, entryOf(told))] as const;
        }),
      );
    case 'list':
      if (!isList(value)) throw typeError(value, place, told);
      return value.map((each, index) => {
        const at = { ...place, path: `${place.path}[${index}]` };
        return decodeValue(each, type.items, at, entryOf(told));
      });
    case 'quantity':
      return quantityOf(value);
    case 'time':
      return timeOf(value, told.goType.endsWith('MicroTime'));
    case 'bytes':
      return bytesOf(scalarOf(value, type.kind, place, told));
    case 'any':
      return value;
    default:
      return scalarOf(value, type.kind, place, told);
  }
}

/** The field of an entry, whose Go type is the element type of the list or map. */
const entryOf = ({ struct, goType }: FieldContext): FieldContext => ({
  struct,
  goType: goType.replace(/^\*?(?:\[\]|map\[\w+\])/, ''),
});

function scalarOf(
  value: Json,
  kind: 'string' | 'bytes' | 'boolean' | 'integer' | 'number' | 'intOrString',
  place: Position,
  told: FieldContext,
) {
  const isRight = {
    string: typeof value === 'string',
    bytes: typeof value === 'string',
    boolean: typeof value === 'boolean',
    integer: Number.isInteger(value),
    number: typeof value === 'number',
    intOrString: typeof value === 'string' || Number.isInteger(value),
  }[kind];
  if (!isRight) throw typeError(value, place, told);
  return value;
}

function typeError(value: Json, { goPath }: Position, { struct, goType }: FieldContext): DecodeError {
  const name = struct.name.slice(struct.name.lastIndexOf('.') + 1);
  return new DecodeError(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field ${name}.${goPath} of type ${withPackage(goType)}`,
  );
}

/** The kind of a JSON value in Go's messages. A fractional number is shown with its value. */
function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** A type with its package, as Go prints it: `[]Container` is `[]v1.Container`. */
const withPackage = (goType: string): string =>
  goType.replace(/^\*/, '').replaceAll(/\b(?:metav1\.|v1\.)?([A-Z]\w*)/g, 'v1.$1');

const goName = ({ name }: ObjectType): string => `v1.${name.slice(name.lastIndexOf('.') + 1)}`;
