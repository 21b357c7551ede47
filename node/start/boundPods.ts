/** Asks an API server, once, which pods it has for a node. */
import * as z from 'zod/mini';
import { systemClock } from '../../base/clock.ts';
import { parseResponse } from '../../kubeclient/answer.ts';
import { listTypeOf, POD, PODS } from '../../kubeclient/paths.ts';
import { joinCluster } from '../cluster/joinCluster.ts';
import type { ClusterConfig } from '../config/cluster.ts';
import { hostIdentity } from '../host/hostIdentity.ts';

const listSchema = z.looseObject({
  items: z.array(z.looseObject({ metadata: z.looseObject({ uid: z.string() }) })),
});

/** So long it may take with all its tries, in milliseconds. */
const LONGEST_MS = 15_000;

interface Patience {
  readonly signal: AbortSignal;
  readonly limitMs?: number;
}

/** The UIDs of the pods that are bound to the node; rejects with what the server, or the way to it, says. */
export async function boundPods(
  cluster: ClusterConfig,
  nodeName: string,
  { signal, limitMs = LONGEST_MS }: Patience,
): Promise<ReadonlySet<string>> {
  const { client, close } = await joinCluster(cluster, await hostIdentity());
  const limit = new AbortController();
  const late = new Error(`no list of the node's pods within ${limitMs / 1000}s`);
  const timer = systemClock.setTimeout(() => limit.abort(late), limitMs);
  try {
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName}` });
    const within = { signal: AbortSignal.any([signal, limit.signal]) };
    const path = `${PODS}?${query}`;
    const list = await client.get(path, { ...within, type: listTypeOf(POD) });
    const { items } = parseResponse(listSchema, list, { request: `GET ${path}`, expected: 'a list of pods' });
    return new Set(items.map(({ metadata: { uid } }) => uid));
  } finally {
    systemClock.clearTimeout(timer);
    close();
  }
}
