/** The types of Kubernetes 1.36 that the API server serves. */
import * as z from 'zod/mini';
import type { GoStruct, ScalarKind, ScalarType } from '../../../kubernetes/api/decode/goType.ts';
import kubernetes from './kubernetes.json' with { type: 'json' };

/** The type of a field or list entry. */
export type Type =
  | { readonly kind: 'object'; readonly of: ObjectType }
  | { readonly kind: 'map'; readonly values: Type }
  | { readonly kind: 'list'; readonly items: Type }
  | ScalarType;

export interface Field {
  readonly type: Type;
  /** The Go type, e.g. `[]Container` or `*int64`. Empty if unknown. */
  readonly goType: string;
  /**
   * Whether Go writes the field even if it is empty. A struct without a pointer is also written, unless `omitsZero`.
   */
  readonly isAlwaysWritten: boolean;
  readonly omitsZero: boolean;
  /** The field that identifies an entry of this list. */
  readonly mergeKey?: string;
  /** Whether a strategic merge patch merges the list. Otherwise it replaces it. */
  readonly merges: boolean;
}

export interface ObjectType extends GoStruct {
  /** The name in the published schemas, e.g. `io.k8s.api.core.v1.Pod`. */
  readonly name: string;
  field(name: string): Field | undefined;
  /** Field names by protobuf number. `2.1` is field 1 of the message in field 2, which is inlined in JSON. */
  readonly numbered: ReadonlyMap<string, string>;
}

const kindOfObject = z.object({ group: z.string(), version: z.string(), kind: z.string() });

interface Schema {
  readonly ref?: string | undefined;
  readonly type?: string | undefined;
  readonly format?: string | undefined;
  readonly items?: Schema | undefined;
  readonly values?: Schema | undefined;
  readonly fields?: Readonly<Record<string, Schema>> | undefined;
  readonly mergeKey?: string | undefined;
  readonly strategy?: string | undefined;
  readonly kind?: z.output<typeof kindOfObject> | undefined;
  readonly go?: string | undefined;
  readonly number?: string | undefined;
  readonly isWritten?: boolean | undefined;
  readonly omitsZero?: boolean | undefined;
}

const schema: z.ZodMiniType<Schema> = z.object({
  ref: z.optional(z.string()),
  type: z.optional(z.string()),
  format: z.optional(z.string()),
  get items() {
    return z.optional(schema);
  },
  get values() {
    return z.optional(schema);
  },
  get fields() {
    return z.optional(z.record(z.string(), schema));
  },
  mergeKey: z.optional(z.string()),
  strategy: z.optional(z.string()),
  kind: z.optional(kindOfObject),
  go: z.optional(z.string()),
  number: z.optional(z.string()),
  isWritten: z.optional(z.boolean()),
  omitsZero: z.optional(z.boolean()),
});

/** Types with a special JSON form. */
const SPECIAL_TYPES: ReadonlyMap<string, ScalarKind> = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'quantity'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', 'any'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', 'microTime'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'time'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'any'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'intOrString'],
]);

/** The types of a schema, created on demand. */
export class Types {
  readonly #schemas: ReadonlyMap<string, Schema>;
  readonly #types = new Map<string, ObjectType>();

  constructor(schemas: ReadonlyMap<string, Schema>) {
    this.#schemas = schemas;
  }

  /** Returns the type of a kind. `group` is empty for the core group. */
  kind(group: string, version: string, kind: string): ObjectType | undefined {
    for (const [name, { kind: own }] of this.#schemas) {
      if (own?.group === group && own.version === version && own.kind === kind) return this.named(name);
    }
    return undefined;
  }

  named(name: string): ObjectType {
    const type = this.#types.get(name) ?? this.#createType(name);
    this.#types.set(name, type);
    return type;
  }

  #createType(name: string): ObjectType {
    const own = new Map(Object.entries(this.#schemas.get(name)?.fields ?? {}));
    const fields = new Map<string, Field>();
    const field = (each: string): Field | undefined => {
      const known = fields.get(each);
      const written = own.get(each);
      if (known !== undefined || written === undefined) return known;
      const created = this.#field(written);
      fields.set(each, created);
      return created;
    };
    let requiredFields: readonly string[] | undefined;
    const numbered = new Map([...own].flatMap(([each, { number }]) => (number === undefined ? [] : [[number, each]])));
    const names = [...own.keys()];
    return {
      name,
      field,
      fields: names,
      get requiredFields() {
        requiredFields ??= names.filter((each) => isRequired(field(each)));
        return requiredFields;
      },
      numbered,
    };
  }

  #field(written: Schema): Field {
    const { mergeKey, strategy = '', go = '', isWritten = false, omitsZero = false } = written;
    return {
      type: this.#type(written),
      goType: go,
      isAlwaysWritten: isWritten,
      omitsZero,
      merges: strategy.split(',').includes('merge'),
      ...(mergeKey === undefined ? {} : { mergeKey }),
    };
  }

  #type({ ref, type, format, items, values, fields }: Schema): Type {
    if (ref !== undefined) return this.#refersTo(ref);
    if (items !== undefined) return { kind: 'list', items: this.#type(items) };
    if (values !== undefined) return { kind: 'map', values: this.#type(values) };
    return { kind: fields === undefined ? scalarOf(type, format) : 'any' };
  }

  #refersTo(name: string): Type {
    const scalar = SPECIAL_TYPES.get(name);
    if (scalar !== undefined) return { kind: scalar };
    const { fields, type, format } = this.#schemas.get(name) ?? {};
    return fields === undefined ? { kind: scalarOf(type, format) } : { kind: 'object', of: this.named(name) };
  }
}

/** The types that are structs in Go. Without a pointer they are never considered empty. */
const STRUCTS: ReadonlySet<Type['kind']> = new Set(['object', 'time', 'microTime', 'intOrString', 'quantity']);

export const isPointer = ({ goType }: Field): boolean => goType.startsWith('*');
export const isStruct = ({ type }: Field): boolean => STRUCTS.has(type.kind);

/** Whether Go writes a missing field as a zero value other than null. */
const isRequired = (field: Field | undefined): boolean =>
  field !== undefined && !isPointer(field) && (field.isAlwaysWritten || (isStruct(field) && !field.omitsZero));

/** The scalar kinds by the type and format of a schema. */
const SCALARS: ReadonlyMap<string, ScalarKind> = new Map([
  ['string', 'string'],
  ['string/byte', 'bytes'],
  ['boolean', 'boolean'],
  ['integer/int32', 'int32'],
  ['integer/int64', 'int64'],
]);

const scalarOf = (type = '', format = ''): ScalarKind =>
  SCALARS.get(format === '' ? type : `${type}/${format}`) ?? 'any';

/** The types of Kubernetes 1.36. The file is generated by `scripts/openapi.mjs`. */
export function readTypes(): Types {
  return new Types(new Map(Object.entries(z.parse(z.record(z.string(), schema), kubernetes))));
}
