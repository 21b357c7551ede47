/** A simulated node of a cluster whose API server is in memory. */
import { type Cluster, cluster } from './cluster.ts';
import { type SimulatedNode, type SimulatedNodeOptions, simulatedNode } from './node.ts';
import { IMAGE } from './pods.ts';

export const PODS = '/api/v1/namespaces/default/pods';

export interface JoinedNode extends Cluster {
  readonly node: SimulatedNode;
}

/** It has been registered, and reads its static pods from files. `prepare` comes before it starts. */
export async function joinedNode(
  options: Omit<SimulatedNodeOptions, 'clusterOf'> = {},
  prepare: (cluster: Cluster) => void = () => {},
): Promise<JoinedNode> {
  const made: { cluster?: Cluster } = {};
  const node = await simulatedNode({
    fromFiles: true,
    ...options,
    clusterOf: (clock) => {
      made.cluster = cluster(clock);
      prepare(made.cluster);
      return made.cluster;
    },
  });
  if (made.cluster === undefined) throw new Error('the node has no cluster');
  await made.cluster.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await node.advance('1s');
  return { ...made.cluster, node };
}

/** A pod that is bound to the node. */
export const boundPod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: IMAGE }],
    ...spec,
  },
});
