/** The metadata that the server itself reads and writes. */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isObject, type Json, type JsonObject, objectOf } from '../json.ts';

/** The string fields of metadata. */
const STRING_FIELDS = ['name', 'namespace', 'uid', 'resourceVersion', 'generateName', 'deletionTimestamp'] as const;

export type Metadata = Readonly<Partial<Record<(typeof STRING_FIELDS)[number], string>>>;

/** Returns the string fields of an object's metadata. */
export function metadataOf(object: JsonObject): Metadata {
  const metadata = lookUp(object, 'metadata');
  if (!isObject(metadata)) return {};
  const found: Partial<Record<(typeof STRING_FIELDS)[number], string>> = {};
  for (const name of STRING_FIELDS) {
    const value = lookUp(metadata, name);
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}

/** Returns the object with these metadata fields. Undefined removes a field. */
export function withMetadata(object: JsonObject, fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  const metadata = lookUp(object, 'metadata');
  const merged = new Map<string, Json>(Object.entries(isObject(metadata) ? metadata : {}));
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) merged.delete(name);
    else merged.set(name, value);
  }
  return objectOf([...Object.entries(object).filter(([name]) => name !== 'metadata'), ['metadata', objectOf(merged)]]);
}
