/** Reads and validates pods with the code of the node. */
import { type ManifestResult, readManifest } from '../../../../../kubernetes/api/pods/manifest.ts';
import type { Problem } from '../../../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../../../kubernetes/api/schema/pod.ts';
import { validateAnyPod, validateNewPod } from '../../../../../kubernetes/api/validate.ts';
import { causeOf } from '../../../failures/causes.ts';
import type { Cause } from '../../../failures/failures.ts';
import type { JsonObject } from '../../../json.ts';

export const readPod = (pod: JsonObject): ManifestResult => readManifest(pod);

/** Returns the problems of a new pod, except for those of common metadata. */
export const newPodCauses = (pod: JsonObject): Cause[] => causesOf(pod, validateNewPod);

/** Returns the problems of a changed pod, except for those of common metadata. */
export const podCauses = (pod: JsonObject): Cause[] => causesOf(pod, validateAnyPod);

function causesOf(pod: JsonObject, validate: (pod: Pod) => Problem[]): Cause[] {
  const read = readPod(pod);
  if ('problems' in read) return read.problems.filter(({ path }) => path !== 'metadata.name').map(causeOf);
  const { metadata, apiVersion, kind, spec } = read.pod;
  const { namespace = '', uid = '' } = metadata;
  return validate({ apiVersion, kind, spec, metadata: { ...metadata, namespace, uid } }).map(causeOf);
}
