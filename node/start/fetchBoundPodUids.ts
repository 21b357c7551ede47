import * as z from 'zod/mini';
import { systemClock } from '../../base/time/clock.ts';
import { parseResponse } from '../../kubeclient/answer.ts';
import { POD, PODS_PATH, toListType } from '../../kubeclient/paths.ts';
import { joinCluster } from '../cluster/joinCluster.ts';
import type { ClusterConfig } from '../config/compile/cluster.ts';
import { readHostIdentity } from '../host/hostIdentity.ts';

const listSchema = z.looseObject({
  items: z.array(z.looseObject({ metadata: z.looseObject({ uid: z.string() }) })),
});

/** Time limit in milliseconds for listing the pods, including retries. */
const TIMEOUT_MS = 15_000;

interface CallLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** Lists the UIDs of the pods that are bound to the node, without starting a watch. Rejects with the error of the request. */
export async function fetchBoundPodUids(
  cluster: ClusterConfig,
  nodeName: string,
  { signal, timeoutMs: limitMs = TIMEOUT_MS }: CallLimits,
): Promise<ReadonlySet<string>> {
  const { client, close } = await joinCluster(cluster, await readHostIdentity());
  const timeoutController = new AbortController();
  const timeoutError = new Error(`no list of the node's pods within ${limitMs / 1000}s`);
  const timer = systemClock.setTimeout(() => timeoutController.abort(timeoutError), limitMs);
  try {
    const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName}` });
    const path = `${PODS_PATH}?${query}`;
    const podList = await client.get(path, {
      signal: AbortSignal.any([signal, timeoutController.signal]),
      type: toListType(POD),
    });
    const { items } = parseResponse(listSchema, podList, { request: `GET ${path}`, expected: 'a list of pods' });
    return new Set(items.map(({ metadata: { uid } }) => uid));
  } finally {
    systemClock.clearTimeout(timer);
    close();
  }
}
