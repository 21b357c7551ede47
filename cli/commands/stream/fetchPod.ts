import { NodeFailure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { ambiguityMessage, findPodsByName } from '../../../show/tables/podsByName.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { readPodList } from '../get/readPods.ts';

/** Fetches the pod with this name. Throws a `NodeFailure` if there is no such pod or more than one. */
export async function fetchPod(agent: AgentClient, name: string, namespace: string | undefined): Promise<Pod> {
  const pods = readPodList(await agent.json('/api/v1/pods'));
  const matchingPods = findPodsByName(
    name,
    pods.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  );
  const [pod] = matchingPods;
  if (pod === undefined) throw new NodeFailure('NotFound', `pods "${name}" not found`);
  const why = ambiguityMessage(matchingPods);
  if (why !== undefined) throw new NodeFailure('BadRequest', why);
  return pod;
}
