/** Looks up the pod that a request's path names. */
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { Refusal } from './refusal.ts';
import type { StreamTarget } from './target.ts';

/**
 * Returns the pod with the given name. Prefers a pod that is not being deleted, because several pods may share the
 * name. Throws a `Refusal` if there is no such pod.
 */
export function requirePod(pods: readonly Pod[], { namespace, pod: name }: StreamTarget): Pod {
  const matches = pods.filter(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  const pod = matches.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? matches.at(-1);
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  return pod;
}

/** Returns the pod's name in the format of the kubelet's error messages, e.g. `web_default`. */
export const fullName = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}`;
