/** A simulated node of a cluster, with a log of its requests to the API server. */
import type { ApiPod } from '../../../../testing/simulation/cluster/apiPod.ts';
import { type ClusterFactory, simulatedCluster } from '../../../../testing/simulation/cluster/simulatedCluster.ts';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import { invariants } from '../../../../testing/simulation/invariants/invariants.ts';
import type { SimulationOptions } from '../../../../testing/simulation/options.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

interface Asked {
  readonly name: string;
  readonly about: string;
}

/** Creates a node that is checked against all invariants. */
export async function clusterNode(options: Partial<SimulationOptions> & { readonly cluster?: ClusterFactory } = {}) {
  let asked: Asked[] = [];
  const spy: Invariant = {
    number: 10,
    description: '',
    follow: () => ({ onCall: ({ target, name, about }) => void (target === 'api' && asked.push({ name, about })) }),
  };
  const node = await simulateNode({
    seed: 1,
    cluster: simulatedCluster,
    ...options,
    invariants: [...(options.invariants ?? invariants), spy],
  });
  const { cluster, host } = node;
  if (cluster === undefined) throw new Error('the node has no cluster');
  return {
    node,
    cluster,
    host,
    /** Returns the pod as the API server has it; undefined if it does not exist. */
    pod: (name: string): ApiPod | undefined => cluster.pods().find((each) => each.name === name),
    /** Returns the runs of a pod's containers, the oldest first. */
    runs: (pod: string) =>
      host
        .containers()
        .filter(({ podName }) => podName === pod)
        .toSorted((one, other) => one.createdAt - other.createdAt),
    /** Returns and clears the requests since the last call whose names match. */
    asked: (names = /./): readonly string[] => {
      const all = asked;
      asked = [];
      return all.filter(({ name }) => names.test(name)).map(({ name, about }) => `${name} ${about}`);
    },
  };
}
