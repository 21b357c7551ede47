/** What of a path's target is there: which pod is of that name, and which of its containers runs. */
import type { Pod } from '../../pod/api/schema/pod.ts';
import { statusesOf } from '../../pod/show/seenPod.ts';
import { Refusal } from './refusal.ts';
import type { StreamTarget } from './target.ts';

/** Of several of one name all but one are about to go. */
export function podNamed(pods: readonly Pod[], { namespace, pod: name }: StreamTarget): Pod {
  const found = pods.filter(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  const pod = found.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? found.at(-1);
  if (pod === undefined) throw new Refusal(404, 'pod does not exist');
  return pod;
}

/** As a kubelet writes a pod's name where the runtime is concerned. */
export const fullName = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}`;

/** The runtime's id of a container that runs. */
export function runningId(pod: Pod, container: string): string | undefined {
  const status = statusesOf(pod).find(({ name }) => name === container);
  const [, id] = /^\w+:\/\/(.+)$/.exec(status?.containerID ?? '') ?? [];
  return status?.state?.running === undefined ? undefined : id;
}
