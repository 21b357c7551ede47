/** Derives the Go types of values from their schemas, so that a schema is the only description of a kind. */
import * as z from 'zod/mini';
import type { GoStruct, GoType, ScalarKind } from './goType.ts';

const declaredTypes = new WeakMap<z.core.$ZodType, GoType>();

/** Sets the Go type of a schema whose Go type cannot be derived, e.g. of a schema with a pattern. */
export function withGoType<Schema extends z.core.$ZodType>(schema: Schema, type: GoType): Schema {
  declaredTypes.set(schema, type);
  return schema;
}

interface TypeRules {
  /** Returns the scalar kind for a schema that describes neither an object nor a list. */
  readonly scalarKindOf: (schema: z.core.$ZodType) => ScalarKind;
  /** Whether a missing non-optional field of this type becomes a zero value. */
  readonly isRequired: (schema: z.core.$ZodType, type: GoType) => boolean;
}

/** Creates a function that returns the Go type of the values of a schema. */
export function createTypeDeriver(rules: TypeRules): (schema: z.core.$ZodType) => GoType {
  const types = new WeakMap<z.core.$ZodType, GoType>();
  const typeOf = (schema: z.core.$ZodType): GoType => {
    const knownType = declaredTypes.get(schema) ?? types.get(schema);
    if (knownType !== undefined) return knownType;
    const type = derive(schema);
    types.set(schema, type);
    return type;
  };
  const derive = (schema: z.core.$ZodType): GoType => {
    if (isOptional(schema)) return typeOf(schema.def.innerType);
    if (schema instanceof z.ZodMiniObject) return { kind: 'object', of: structOf(schema) };
    if (schema instanceof z.ZodMiniRecord) return { kind: 'map', values: typeOf(schema.def.valueType) };
    if (schema instanceof z.ZodMiniArray) return { kind: 'list', items: typeOf(schema.def.element) };
    if (schema instanceof z.ZodMiniLiteral) return { kind: 'string', supported: schema.def.values.map(String) };
    return { kind: rules.scalarKindOf(schema) };
  };
  const structOf = ({ def: { shape } }: z.ZodMiniObject): GoStruct => {
    const fields = new Map(Object.entries(shape).map(([name, schema]) => [name, { type: typeOf(schema) }]));
    const requiredFields = Object.entries(shape).flatMap(([name, schema]) =>
      !isOptional(schema) && rules.isRequired(schema, typeOf(schema)) ? [name] : [],
    );
    return { field: (name) => fields.get(name), fields: [...fields.keys()], requiredFields };
  };
  return typeOf;
}

type OptionalSchema = z.ZodMiniExactOptional | z.ZodMiniOptional | z.ZodMiniNullable;

const isOptional = (schema: z.core.$ZodType): schema is OptionalSchema =>
  schema instanceof z.ZodMiniExactOptional ||
  schema instanceof z.ZodMiniOptional ||
  schema instanceof z.ZodMiniNullable;

/** Returns the Go type of the values of a schema below `kubernetes/api/schema`. */
export const goTypeOf = createTypeDeriver({
  scalarKindOf: (schema) => {
    if (schema instanceof z.ZodMiniNumberFormat) return schema.def.format === 'int32' ? 'int32' : 'int64';
    if (schema instanceof z.ZodMiniNumber) return 'number';
    if (schema instanceof z.ZodMiniBoolean) return 'boolean';
    return schema instanceof z.ZodMiniString ? 'string' : 'any';
  },
  isRequired: (_schema, { kind }) => kind !== 'any',
});
