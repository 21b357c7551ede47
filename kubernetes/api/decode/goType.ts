/** Go types of the values in Kubernetes objects. */

/** Type of a field, or of an entry of a list or map. */
export type GoType =
  | { readonly kind: 'object'; readonly of: GoStruct }
  | { readonly kind: 'map'; readonly values: GoType }
  | { readonly kind: 'list'; readonly items: GoType }
  | ScalarType;

/** Type of a value without fields or entries. */
export interface ScalarType {
  readonly kind: ScalarKind;
  /** Supported values of a string that has no zero value, e.g. `apiVersion`. Absent if any value can be decoded. */
  readonly supported?: readonly string[];
}

/** Kinds of scalars. `bytes` are in base64, and `any` is a value that is decoded later or not at all. */
export type ScalarKind =
  | 'string'
  | 'bytes'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'number'
  | 'quantity'
  | 'time'
  | 'microTime'
  | 'intOrString'
  | 'any';

export interface GoStruct {
  field(name: string): { readonly type: GoType } | undefined;
  /** Names of the fields, in any order. */
  readonly fields: readonly string[];
  /** Names of the fields that become the zero value of their type if they are null or missing. */
  readonly requiredFields: readonly string[];
}

/** Go's zero value of a type. The zero time is null, as Go writes it. Undefined for a string with supported values. */
export function zeroValueOf(type: GoType): unknown {
  switch (type.kind) {
    case 'object':
      return zeroStructOf(type.of);
    case 'map':
      return {};
    case 'list':
      return [];
    case 'string':
      return type.supported === undefined ? '' : undefined;
    case 'bytes':
      return '';
    case 'boolean':
      return false;
    case 'int32':
    case 'int64':
    case 'number':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    default:
      return null;
  }
}

function zeroStructOf(struct: GoStruct): object {
  const zeroFields = struct.requiredFields.flatMap((name) => {
    const field = struct.field(name);
    const zeroValue = field === undefined ? undefined : zeroValueOf(field.type);
    return zeroValue === undefined ? [] : [[name, zeroValue] as const];
  });
  return Object.fromEntries(zeroFields);
}
