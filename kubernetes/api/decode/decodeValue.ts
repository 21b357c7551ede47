/**
 * Decodes JSON values as Go does. This is the only decoder of Kubernetes objects: `readObject.ts` uses it for manifests
 * and API responses, and `testing/apiserver` uses it for request bodies. If an object repeats a key, the JSON parser
 * returns the last value. Go instead decodes the values into the same struct one after the other, which gives a
 * different result if they are objects or null.
 */
import { isPlainObject } from '../../../base/values/isObject.ts';
import { type MismatchReason, scalarMismatch, scalarValue } from './decodeScalar.ts';
import { type GoStruct, type GoType, zeroValueOf } from './goType.ts';

type Path = readonly (string | number)[];

/** A value that does not match its type. A missing value is undefined. */
export interface Mismatch {
  readonly path: Path;
  readonly value: unknown;
  readonly type: GoType;
  readonly reason: MismatchReason;
}

export interface UnknownField {
  /** Path of the object that contains the field. */
  readonly path: Path;
  readonly name: string;
  readonly owner: object;
  /** Type of the object that contains the field. */
  readonly struct: GoStruct;
}

export interface DecodedValue {
  /** The decoded value, in which Go's zero values are filled in. Mismatched values are unchanged. */
  readonly value: unknown;
  /** Mismatches in the order of the fields of the value. */
  readonly mismatches: readonly Mismatch[];
  readonly unknownFields: readonly UnknownField[];
}

export interface DecodeOptions {
  /** Whether the decoded value contains the unknown fields, so that a schema can report them. */
  readonly retainsUnknownFields?: boolean;
}

/**
 * Decodes a value into a type. Null and missing values become the zero value of their type if they are entries of lists
 * or maps, or required fields. Other fields that are null are removed, as are unknown fields.
 */
export function decodeValue(value: unknown, type: GoType, options: DecodeOptions = {}): DecodedValue {
  const decoder = new Decoder(options);
  return {
    value: decoder.decode(value, type),
    mismatches: decoder.mismatches,
    unknownFields: decoder.unknownFields,
  };
}

class Decoder {
  readonly mismatches: Mismatch[] = [];
  readonly unknownFields: UnknownField[] = [];
  readonly #path: (string | number)[] = [];
  readonly #retainsUnknownFields: boolean;

  constructor({ retainsUnknownFields = false }: DecodeOptions) {
    this.#retainsUnknownFields = retainsUnknownFields;
  }

  decode(value: unknown, type: GoType): unknown {
    if (value === null || value === undefined) return this.#zeroValue(type);
    switch (type.kind) {
      case 'object':
        return isPlainObject(value) ? this.#decodeFields(value, type.of) : this.#reject(value, type, 'kind');
      case 'map':
        if (!isPlainObject(value)) return this.#reject(value, type, 'kind');
        return Object.fromEntries(
          Object.entries(value).map(([key, entry]) => [key, this.#decodeAt(key, entry, type.values)]),
        );
      case 'list':
        if (!Array.isArray(value)) return this.#reject(value, type, 'kind');
        return value.map((entry: unknown, index) => this.#decodeAt(index, entry, type.items));
      default: {
        const reason = scalarMismatch(value, type);
        return reason === undefined ? scalarValue(value, type.kind) : this.#reject(value, type, reason);
      }
    }
  }

  #zeroValue(type: GoType): unknown {
    const zeroValue = zeroValueOf(type);
    return zeroValue === undefined ? this.#reject(undefined, type, 'missing') : zeroValue;
  }

  #decodeFields(object: Readonly<Record<string, unknown>>, struct: GoStruct): object {
    const fields = new Map<string, unknown>();
    for (const [name, value] of Object.entries(object)) {
      const field = struct.field(name);
      if (field === undefined) this.unknownFields.push({ path: [...this.#path], name, owner: object, struct });
      if (field === undefined && this.#retainsUnknownFields) fields.set(name, value);
      // Skip a null field, because Go leaves it at its zero value.
      if (field !== undefined && value !== null && value !== undefined)
        fields.set(name, this.#decodeAt(name, value, field.type));
    }
    for (const name of struct.requiredFields) {
      const field = fields.has(name) ? undefined : struct.field(name);
      if (field !== undefined) fields.set(name, this.#decodeAt(name, undefined, field.type));
    }
    return Object.fromEntries(fields);
  }

  #decodeAt(key: string | number, value: unknown, type: GoType): unknown {
    this.#path.push(key);
    const decoded = this.decode(value, type);
    this.#path.pop();
    return decoded;
  }

  #reject(value: unknown, type: GoType, reason: MismatchReason): unknown {
    this.mismatches.push({ path: [...this.#path], value, type, reason });
    return value;
  }
}
