/** Asks an API server, once, which pods it has for a node. */
import * as z from 'zod/mini';
import { PODS } from '../kube/paths.ts';
import type { ClusterConfig } from './config/cluster.ts';
import { hostIdentity } from './hostIdentity.ts';
import { joinCluster } from './joinCluster.ts';

const listSchema = z.looseObject({
  items: z.array(z.looseObject({ metadata: z.looseObject({ uid: z.string() }) })),
});

/** The UIDs of the pods that are bound to the node; rejects with what the server, or the way to it, says. */
export async function boundPods(cluster: ClusterConfig, nodeName: string): Promise<ReadonlySet<string>> {
  const { client, close } = await joinCluster(cluster, await hostIdentity());
  try {
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName}` });
    const { items } = z.parse(
      listSchema,
      await client.get(`${PODS}?${query}`, { signal: new AbortController().signal }),
    );
    return new Set(items.map(({ metadata: { uid } }) => uid));
  } finally {
    close();
  }
}
