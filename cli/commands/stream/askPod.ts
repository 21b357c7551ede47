import { NodeFailure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { ambiguityMessage, findPodsByName } from '../../../show/tables/podsByName.ts';
import type { AgentClient } from '../../../socket/client.ts';
import { readPodList } from '../get/readPods.ts';

/** The one pod that is asked for. Throws a `NodeFailure` where there is none, or more than one. */
export async function askForPod(agent: AgentClient, name: string, namespace: string | undefined): Promise<Pod> {
  const pods = readPodList(await agent.json('/api/v1/pods'));
  const called = findPodsByName(
    name,
    pods.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  );
  const [pod] = called;
  if (pod === undefined) throw new NodeFailure('NotFound', `pods "${name}" not found`);
  const why = ambiguityMessage(called);
  if (why !== undefined) throw new NodeFailure('BadRequest', why);
  return pod;
}
