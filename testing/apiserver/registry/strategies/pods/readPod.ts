/** Pods as the node itself reads and checks them, for the server's rules. */
import { type ManifestResult, readManifest } from '../../../../../kubernetes/api/manifest.ts';
import type { Problem } from '../../../../../kubernetes/api/problem.ts';
import type { Pod } from '../../../../../kubernetes/api/schema/pod.ts';
import { validateAnyPod, validateNewPod } from '../../../../../kubernetes/api/validate.ts';
import { causeOf } from '../../../causes.ts';
import type { Cause } from '../../../failures.ts';
import type { JsonObject } from '../../../json.ts';

export const readPod = (pod: JsonObject): ManifestResult => readManifest(pod);

/** Returns what is wrong with a new pod beside the metadata that all kinds have. */
export const newPodCauses = (pod: JsonObject): Cause[] => causesOf(pod, validateNewPod);

/** Returns what is wrong with a changed pod beside the metadata that all kinds have. */
export const podCauses = (pod: JsonObject): Cause[] => causesOf(pod, validateAnyPod);

function causesOf(pod: JsonObject, validate: (pod: Pod) => Problem[]): Cause[] {
  const read = readPod(pod);
  if ('problems' in read) return read.problems.filter(({ path }) => path !== 'metadata.name').map(causeOf);
  const { metadata, apiVersion, kind, spec } = read.pod;
  const { namespace = '', uid = '' } = metadata;
  return validate({ apiVersion, kind, spec, metadata: { ...metadata, namespace, uid } }).map(causeOf);
}
