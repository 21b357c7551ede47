/** The pods of the node for those who read its server: what it has, and what its runtime runs. */

import { startLimit } from '../../base/limit.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { Cri } from '../../cri/calls.ts';
import type * as wire from '../../cri/generated/runtime.ts';
import { ContainerState, PodSandboxState } from '../../cri/generated/runtime.ts';
import { containerNameOf, POD_UID_LABEL } from '../../cri/labels.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { sendJson } from '../answers.ts';
import type { HttpResponse, Route } from '../exchange.ts';

interface PodsParts {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'listPodSandbox' | 'listContainers'>;
  /** How long a call to the runtime may take. */
  readonly limitMs: number;
}

/** All that the node has, with their status as it is (`getPods` in `pkg/kubelet/server/server.go`). */
export const podsRoute = ({ pods }: Pick<PodsParts, 'pods'>): Route => ({
  tree: '/pods',
  answer: async ({ response }) => {
    sendList(response, pods());
  },
});

const LIST = { kind: 'PodList', apiVersion: 'v1', metadata: {} };

/** What the runtime runs, of whatever agent (`getRunningPods` there, `ToAPIPod` in `pkg/kubelet/container/runtime.go`). */
export const runningPodsRoute = ({ cri, limitMs }: Omit<PodsParts, 'pods'>): Route => ({
  tree: '/runningpods',
  answer: async ({ response, signal }) => {
    const limit = startLimit(limitMs);
    const options = { signal: AbortSignal.any([signal, limit.signal]), timeoutMs: limitMs };
    try {
      const [{ items }, { containers }] = await Promise.all([
        cri.listPodSandbox({ filter: undefined }, options),
        cri.listContainers({ filter: undefined }, options),
      ]);
      const running = runningPods(
        items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY),
        containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING),
      );
      sendList(response, running);
    } finally {
      limit.end();
    }
  },
});

/** One for each UID; its containers by the UID that they name, wherever they run. */
function runningPods(sandboxes: readonly wire.PodSandbox[], containers: readonly wire.Container[]) {
  const byPod = Map.groupBy(containers, ({ labels }) => lookUp(labels, POD_UID_LABEL) ?? '');
  const pods = new Map(sandboxes.flatMap(({ metadata }) => (metadata ? [[metadata.uid, metadata] as const] : [])));
  return [...pods.values()].map(({ name, namespace, uid }) => ({
    metadata: { name, namespace, uid },
    spec: { containers: (byPod.get(uid) ?? []).map(runningContainer) },
    status: {},
  }));
}

const runningContainer = (container: wire.Container) => ({
  name: containerNameOf(container),
  image: container.imageRef || container.image?.image || '',
  resources: {},
});

/** As Go's encoder writes it where `<`, `>` and `&` are concerned; a slow client holds this text, and no more. */
function sendList(response: HttpResponse, items: readonly object[]): void {
  const text = `${JSON.stringify({ ...LIST, items: items.length > 0 ? items : null })}\n`;
  sendJson(response, text.replaceAll(/[<>&\u2028\u2029]/g, escaped));
}

const escaped = (each: string): string => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
