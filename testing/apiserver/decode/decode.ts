/**
 * Bodies as a kube-apiserver takes them in: what is of another type is refused in the words of Go's decoder, what no
 * field is for is told and left out, and what Go would not write is not there.
 */
import { isList, isObject, type Json, type JsonObject, objectOf } from '../json.ts';
import type { Field, ObjectType, Type } from '../schema/types.ts';
import { DecodeError } from './decodeError.ts';
import { bytesOf, quantityOf, timeOf } from './scalars.ts';

export interface Decoded {
  readonly object: JsonObject;
  /** The fields that its type has not, by their paths: `spec.containers[0].comand`. */
  readonly unknown: readonly string[];
}

/** Reads a value as an object of a type; throws a `DecodeError` where it is none. */
export function decode(value: Json, type: ObjectType): Decoded {
  const unknown: string[] = [];
  if (!isObject(value))
    throw new DecodeError(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${goName(type)}`);
  return { object: fieldsOf(value, type, { unknown, path: '', goPath: '' }), unknown };
}

/** Where a value is: its path with the numbers of entries, and as Go tells it, without. */
interface Place {
  readonly unknown: string[];
  readonly path: string;
  readonly goPath: string;
}

/** A field of a struct, for what is said of it. */
interface Told {
  readonly struct: ObjectType;
  readonly goType: string;
}

const within = (place: Place, name: string): Place => {
  const [path, goPath] = [place.path, place.goPath].map((above) => (above === '' ? name : `${above}.${name}`));
  return { ...place, path: path ?? name, goPath: goPath ?? name };
};

function fieldsOf(value: JsonObject, type: ObjectType, place: Place): JsonObject {
  const read = new Map<string, Json>();
  for (const [name, each] of Object.entries(value)) {
    const field = type.field(name);
    const at = within(place, name);
    if (field === undefined) place.unknown.push(at.path);
    else if (each !== null) read.set(name, decodedOf(each, field.type, at, { struct: type, goType: field.goType }));
  }
  return objectOf(type.fields.flatMap((name) => written(name, type.field(name), read.get(name))));
}

/** What are structs in Go: those that are no pointers are never empty to it. */
const STRUCTS: ReadonlySet<Type['kind']> = new Set(['object', 'time', 'intOrString', 'quantity']);

/** What Go writes of a field: nothing where it is empty, unless it always writes it. */
function written(name: string, field: Field | undefined, value: Json | undefined): [string, Json][] {
  if (field === undefined) return [];
  const { goType, isWritten, omitsZero } = field;
  if (goType.startsWith('*')) return value === undefined ? (isWritten ? [[name, null]] : []) : [[name, value]];
  const shown = value ?? zeroOf(field.type);
  const isStruct = STRUCTS.has(field.type.kind);
  const isEmpty = isStruct ? omitsZero && value === undefined : isZero(shown);
  if (isEmpty && !isWritten) return [];
  // Nothing tells an empty list that was stored from none.
  return [[name, isList(shown) && shown.length === 0 ? null : shown]];
}

/** What a field holds that nobody has set. */
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

function decodedOf(value: Json, type: Type, place: Place, told: Told): Json {
  // An entry that is null is an empty one to Go.
  if (value === null) return zeroOf(type);
  switch (type.kind) {
    case 'object':
      if (!isObject(value)) throw mistyped(value, place, told);
      return fieldsOf(value, type.of, place);
    case 'map':
      if (!isObject(value)) throw mistyped(value, place, told);
      return objectOf(
        Object.entries(value).map(([name, each]) => {
          // Go names the field alone, whatever the key is.
          const at = { ...within(place, name), goPath: place.goPath };
          return [name, decodedOf(each, type.values, at, entryOf(told))] as const;
        }),
      );
    case 'list':
      if (!isList(value)) throw mistyped(value, place, told);
      return value.map((each, index) => {
        const at = { ...place, path: `${place.path}[${index}]` };
        return decodedOf(each, type.items, at, entryOf(told));
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

/** What is told of an entry: its type is that of the list or map without what makes it one. */
const entryOf = ({ struct, goType }: Told): Told => ({ struct, goType: goType.replace(/^\*?(?:\[\]|map\[\w+\])/, '') });

function scalarOf(
  value: Json,
  kind: 'string' | 'bytes' | 'boolean' | 'integer' | 'number' | 'intOrString',
  place: Place,
  told: Told,
) {
  const isRight = {
    string: typeof value === 'string',
    bytes: typeof value === 'string',
    boolean: typeof value === 'boolean',
    integer: Number.isInteger(value),
    number: typeof value === 'number',
    intOrString: typeof value === 'string' || Number.isInteger(value),
  }[kind];
  if (!isRight) throw mistyped(value, place, told);
  return value;
}

function mistyped(value: Json, { goPath }: Place, { struct, goType }: Told): DecodeError {
  const name = struct.name.slice(struct.name.lastIndexOf('.') + 1);
  return new DecodeError(
    `json: cannot unmarshal ${kindOf(value)} into Go struct field ${name}.${goPath} of type ${packaged(goType)}`,
  );
}

/** What kind of JSON Go calls it; a number with a fraction is told with it. */
function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** A type with its package, as Go prints it: `[]Container` is `[]v1.Container`. */
const packaged = (goType: string): string =>
  goType.replace(/^\*/, '').replaceAll(/\b(?:metav1\.|v1\.)?([A-Z]\w*)/g, 'v1.$1');

const goName = ({ name }: ObjectType): string => `v1.${name.slice(name.lastIndexOf('.') + 1)}`;
