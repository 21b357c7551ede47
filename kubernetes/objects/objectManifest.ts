/** ConfigMaps and Secrets as they are written in files, read without an API server. No message shows what a Secret contains. */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Problem } from '../api/problem.ts';
import { dnsLabel, dnsSubdomain, required } from '../api/validation/words.ts';
import {
  type ConfigKind,
  type ConfigObject,
  type ConfigReference,
  dataOf,
  readConfig,
  type Value,
  validateConfig,
  written,
} from './configObject.ts';

/** An object as it was written, checked; plain data. */
export interface ObjectManifest extends ConfigReference {
  readonly isImmutable: boolean;
  readonly type: string;
  /** A list, because as names of a plain object, `__proto__` would be lost. A later value of a key overrides an earlier one. */
  readonly data: readonly (readonly [key: string, value: Value])[];
}

export type ObjectManifestResult =
  | { readonly object: ObjectManifest; readonly warnings: readonly Problem[] }
  /** `reference` names the object that the document is about. Undefined if the document has no name. */
  | { readonly problems: readonly Problem[]; readonly reference?: ConfigReference };

/** Reads a document of this kind. */
export function readObjectManifest(kind: ConfigKind, document: object): ObjectManifestResult {
  const reference = referenceIn(kind, document);
  const read = readConfig(kind, document);
  if ('problems' in read) return { problems: read.problems, ...(reference === undefined ? {} : { reference }) };
  if (reference === undefined) return { problems: [required('metadata.name'), ...read.warnings] };
  const { isImmutable, type, entries } = read.config;
  const problems = [
    ...dnsSubdomain('metadata.name', reference.name),
    ...dnsLabel('metadata.namespace', reference.namespace),
    ...validateConfig(read.config),
  ];
  if (problems.length > 0) return { problems: [...problems, ...read.warnings], reference };
  return { object: { ...reference, isImmutable, type, data: written(entries) }, warnings: read.warnings };
}

const textOrNull = z.optional(z.nullable(z.string()));
const namedSchema = z.object({ metadata: z.object({ name: textOrNull, namespace: textOrNull }) });

/** The object that a document names, whatever else is wrong with it. */
function referenceIn(kind: ConfigKind, document: object): ConfigReference | undefined {
  const { name, namespace } = z.safeParse(namedSchema, document).data?.metadata ?? {};
  return name ? { kind, namespace: namespace || 'default', name } : undefined;
}

/** The object that pods get of a manifest. It is the same one as long as the manifest is there; its version is its content. */
export function objectOfManifest(manifest: ObjectManifest): ConfigObject {
  const { kind, namespace, name, isImmutable, type } = manifest;
  const uid = digest([kind, namespace, name]);
  const data = dataOf(kind, manifest.data);
  const sorted = [...data].sort(([one], [other]) => (one < other ? -1 : 1));
  const texts = sorted.map(([key, value]) => [key, typeof value === 'string' ? value : value.toString('base64')]);
  const resourceVersion = digest([isImmutable, type, texts]);
  return { kind, namespace, name, uid, resourceVersion, isImmutable, type, data };
}

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
