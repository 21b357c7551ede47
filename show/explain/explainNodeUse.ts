import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { NodeObject } from '../../kubernetes/node/nodeObject.ts';
import { formatShare, nodeUse, nonTerminatedPods } from '../../kubernetes/node/nodeUse.ts';
import type { NodeExplanation } from './explainNode.ts';

/** Adds the node's addresses and its requested resources to an explanation. */
export function withResourceUse(explanation: NodeExplanation, node: NodeObject, pods: readonly Pod[]): NodeExplanation {
  const { addresses, allocatable } = node.status;
  const [running, maxPods] = [nonTerminatedPods(pods).length, allocatable.pods ?? '0'];
  return {
    ...explanation,
    addresses: addresses.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])),
    use: [
      `pods: ${running} of ${maxPods}`,
      ...nodeUse(node, pods).map(
        ({ resource, requests, allocatable: has }) => `${resource}: ${formatShare(requests)} of ${has} requested`,
      ),
    ],
  };
}
