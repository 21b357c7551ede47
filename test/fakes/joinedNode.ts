/** A simulated node in a cluster whose API server is in memory. */
import { type Cluster, cluster } from './cluster.ts';
import { type SimulatedNode, type SimulatedNodeOptions, simulatedNode } from './node.ts';
import { IMAGE } from './pods.ts';

export const PODS = '/api/v1/namespaces/default/pods';

export interface JoinedNode extends Cluster {
  readonly node: SimulatedNode;
}

/**
 * Starts a node that reads its static pods from files, and waits until it is registered. `prepare` is called before the
 * start.
 */
export async function joinedNode(
  options: Omit<SimulatedNodeOptions, 'clusterOf'> = {},
  prepare: (cluster: Cluster) => void = () => {},
): Promise<JoinedNode> {
  const created: { cluster?: Cluster } = {};
  const node = await simulatedNode({
    fromFiles: true,
    ...options,
    clusterOf: (clock) => {
      created.cluster = cluster(clock);
      prepare(created.cluster);
      return created.cluster;
    },
  });
  if (created.cluster === undefined) throw new Error('the node has no cluster');
  await created.cluster.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await node.advance('1s');
  return { ...created.cluster, node };
}

/** Returns the manifest of a pod that is bound to the node. */
export const boundPod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: IMAGE }],
    ...spec,
  },
});
