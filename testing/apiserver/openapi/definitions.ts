/** The schemas of OpenAPI documents. */
import { type Json, type JsonObject, objectOf } from '../json.ts';
import { groupVersion } from '../resources/resource.ts';
import { resources } from '../resources/resources.ts';
import type { ObjectType, Type, Types } from '../schema/types.ts';

/** Returns a reference to a type. */
type Reference = (name: string) => JsonObject;

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The kinds of one group version, or of all. */
export function kindsOf(version?: string): Kind[] {
  const own = resources.filter((each) => version === undefined || groupVersion(each) === version);
  return own.map(({ group, version, kind }) => ({ group, version, kind }));
}

/** Returns the schemas of the kinds and of all types in them, by name. */
export function definitions(kinds: readonly Kind[], types: Types, refersTo: Reference): JsonObject {
  const schemas = new Map<string, JsonObject>();
  const queue = kinds.flatMap((kind) => {
    const type = types.kind(kind.group, kind.version, kind.kind);
    return type === undefined ? [] : [{ type, kind }];
  });
  const wanted: { type: ObjectType; kind?: Kind }[] = [...queue];
  for (const { type, kind } of wanted) {
    if (schemas.has(type.name)) continue;
    const extensions = kind === undefined ? {} : { 'x-kubernetes-group-version-kind': [{ ...kind }] };
    schemas.set(type.name, { type: 'object', properties: propertiesOf(type, refersTo), ...extensions });
    for (const name of type.fields) wanted.push(...typesIn(type.field(name)?.type).map((each) => ({ type: each })));
  }
  return objectOf(schemas);
}

function typesIn(type: Type | undefined): ObjectType[] {
  if (type?.kind === 'object') return [type.of];
  if (type?.kind === 'list') return typesIn(type.items);
  return type?.kind === 'map' ? typesIn(type.values) : [];
}

function propertiesOf(type: ObjectType, refersTo: Reference): JsonObject {
  return objectOf(
    type.fields.flatMap((name) => {
      const field = type.field(name);
      if (field === undefined) return [];
      const merges = field.merges ? { 'x-kubernetes-patch-strategy': 'merge' } : {};
      const key = field.mergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': field.mergeKey };
      return [[name, { ...schemaOf(field.type, refersTo), ...merges, ...key }] as const];
    }),
  );
}

function schemaOf(type: Type, refersTo: Reference): JsonObject {
  switch (type.kind) {
    case 'object':
      return refersTo(type.of.name);
    case 'list':
      return { type: 'array', items: schemaOf(type.items, refersTo) };
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(type.values, refersTo) };
    default:
      return SCALARS[type.kind];
  }
}

const SCALARS = {
  any: { type: 'object' },
  boolean: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  intOrString: { type: 'string', format: 'int-or-string' },
  microTime: { type: 'string', format: 'date-time' },
  number: { type: 'number' },
  quantity: { type: 'string' },
  string: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
} as const satisfies Readonly<Record<string, Json>>;
