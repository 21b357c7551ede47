/** Pods as the node itself reads and checks them, for the server's rules. */
import { type ManifestResult, readManifest } from '../../../../pod/api/manifest.ts';
import type { Problem } from '../../../../pod/api/problem.ts';
import { validatePod } from '../../../../pod/api/validate.ts';
import type { Cause } from '../../../failures.ts';
import type { JsonObject } from '../../../json.ts';

export const readPod = (pod: JsonObject): ManifestResult => readManifest(pod);

/** What is checked of the metadata of all kinds. */
const OF_METADATA: ReadonlySet<string> = new Set(['metadata.name', 'metadata.namespace', 'metadata.uid']);

/** What is wrong with a pod beside its metadata. */
export function podCauses(pod: JsonObject): Cause[] {
  const read = readPod(pod);
  const problems = 'problems' in read ? read.problems : problemsOf(read.pod);
  return problems.filter(({ path }) => !OF_METADATA.has(path)).map(causeOf);
}

function problemsOf({ metadata, ...rest }: Extract<ManifestResult, { pod: unknown }>['pod']): Problem[] {
  const { namespace = '', uid = '' } = metadata;
  const { apiVersion, kind, spec } = rest;
  return validatePod({ apiVersion, kind, spec, metadata: { ...metadata, namespace, uid } });
}

/** The reason of a cause, by how its message begins. */
const REASONS: readonly (readonly [beginning: string, reason: string])[] = [
  ['Required value', 'FieldValueRequired'],
  ['Unsupported value', 'FieldValueNotSupported'],
  ['Duplicate value', 'FieldValueDuplicate'],
  ['Forbidden', 'FieldValueForbidden'],
  ['Too long', 'FieldValueTooLong'],
  ['Too many', 'FieldValueTooMany'],
  ['Not found', 'FieldValueNotFound'],
];

function causeOf({ path, message }: Problem): Cause {
  const [, reason = 'FieldValueInvalid'] = REASONS.find(([beginning]) => message.startsWith(beginning)) ?? [];
  return { reason, message, field: path };
}
