/**
 * Reads manifests of ConfigMaps and Secrets on a node without an API server. Messages never contain data of a Secret.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Problem } from '../api/problem.ts';
import { required, validateDnsLabel, validateDnsSubdomain } from '../api/validation/words.ts';
import {
  type ConfigKind,
  type ConfigObject,
  type ConfigReference,
  type ConfigValue,
  readConfig,
  toDataMap,
  toEncodedEntries,
  validateConfig,
} from './configObject.ts';

/** A validated manifest as plain data. */
export interface ObjectManifest extends ConfigReference {
  readonly isImmutable: boolean;
  readonly type: string;
  /**
   * List of entries, because a plain object would lose the key `__proto__`. If a key occurs several times, its last
   * value takes effect.
   */
  readonly data: readonly (readonly [key: string, value: ConfigValue])[];
}

export type ObjectManifestResult =
  | { readonly object: ObjectManifest; readonly warnings: readonly Problem[] }
  /** `reference` identifies the invalid object, and is undefined if the document has no name. */
  | { readonly problems: readonly Problem[]; readonly reference?: ConfigReference };

export function readObjectManifest(kind: ConfigKind, document: object): ObjectManifestResult {
  const reference = referenceIn(kind, document);
  const result = readConfig(kind, document);
  if ('problems' in result) return { problems: result.problems, ...(reference === undefined ? {} : { reference }) };
  if (reference === undefined) return { problems: [required('metadata.name'), ...result.warnings] };
  const { isImmutable, type, entries } = result.config;
  const problems = [
    ...validateDnsSubdomain('metadata.name', reference.name),
    ...validateDnsLabel('metadata.namespace', reference.namespace),
    ...validateConfig(result.config),
  ];
  if (problems.length > 0) return { problems: [...problems, ...result.warnings], reference };
  return { object: { ...reference, isImmutable, type, data: toEncodedEntries(entries) }, warnings: result.warnings };
}

const nullableText = z.optional(z.nullable(z.string()));
const namedSchema = z.object({ metadata: z.object({ name: nullableText, namespace: nullableText }) });

/** Returns the reference of the object in a document, even if the rest of the document is invalid. */
function referenceIn(kind: ConfigKind, document: object): ConfigReference | undefined {
  const { name, namespace } = z.safeParse(namedSchema, document).data?.metadata ?? {};
  return name ? { kind, namespace: namespace || 'default', name } : undefined;
}

/**
 * Returns the object that a manifest defines. Its UID is derived from its name, and its resource version from its
 * content.
 */
export function objectOfManifest(manifest: ObjectManifest): ConfigObject {
  const { kind, namespace, name, isImmutable, type } = manifest;
  const uid = computeDigest([kind, namespace, name]);
  const data = toDataMap(kind, manifest.data);
  const sortedEntries = [...data].sort(([first], [second]) => (first < second ? -1 : 1));
  const encodedValues = sortedEntries.map(([key, value]) => [
    key,
    typeof value === 'string' ? value : value.toString('base64'),
  ]);
  const resourceVersion = computeDigest([isImmutable, type, encodedValues]);
  return { kind, namespace, name, uid, resourceVersion, isImmutable, type, data };
}

const computeDigest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
