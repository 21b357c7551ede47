/** Serves the lists of the node's pods and of the pods in its runtime. */

import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { labeledContainerName, POD_UID_LABEL } from '../../cri/config/labels.ts';
import type * as wire from '../../cri/generated/runtime.ts';
import { ContainerState, PodSandboxState } from '../../cri/generated/runtime.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { sendJson } from '../answers.ts';
import type { HttpResponse, Route } from '../exchange.ts';

interface PodsParts {
  readonly pods: () => readonly Pod[];
  readonly cri: Pick<Cri, 'listPodSandbox' | 'listContainers'>;
  /** Timeout of a call to the runtime, in milliseconds. */
  readonly timeoutMs: number;
}

/** Serves all pods of the node with their current status (`getPods` in `pkg/kubelet/server/server.go`). */
export const podsRoute = ({ pods }: Pick<PodsParts, 'pods'>): Route => ({
  pathPrefix: '/pods',
  handle: async ({ response }) => {
    sendList(response, pods());
  },
});

const POD_LIST = { kind: 'PodList', apiVersion: 'v1', metadata: {} };

/**
 * Serves the pods in the runtime, including those of other agents (`getRunningPods` in `pkg/kubelet/server/server.go`,
 * `ToAPIPod` in `pkg/kubelet/container/runtime.go`).
 */
export const runningPodsRoute = ({ cri, timeoutMs }: Omit<PodsParts, 'pods'>): Route => ({
  pathPrefix: '/runningpods',
  handle: async ({ response, signal }) => {
    const limit = startTimeLimit(timeoutMs);
    const options = { signal: AbortSignal.any([signal, limit.signal]), timeoutMs };
    try {
      const [{ items }, { containers }] = await Promise.all([
        cri.listPodSandbox({ filter: undefined }, options),
        cri.listContainers({ filter: undefined }, options),
      ]);
      const runningItems = runningPods(
        items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY),
        containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING),
      );
      sendList(response, runningItems);
    } finally {
      limit.clear();
    }
  },
});

/** Returns one pod per UID. A container belongs to the pod that its UID label names, regardless of its sandbox. */
function runningPods(sandboxes: readonly wire.PodSandbox[], containers: readonly wire.Container[]) {
  const containersByPod = Map.groupBy(containers, ({ labels }) => lookUp(labels, POD_UID_LABEL) ?? '');
  const pods = new Map(sandboxes.flatMap(({ metadata }) => (metadata ? [[metadata.uid, metadata] as const] : [])));
  return [...pods.values()].map(({ name, namespace, uid }) => ({
    metadata: { name, namespace, uid },
    spec: { containers: (containersByPod.get(uid) ?? []).map(runningContainer) },
    status: {},
  }));
}

const runningContainer = (container: wire.Container) => ({
  name: labeledContainerName(container),
  image: container.imageRef || container.image?.image || '',
  resources: {},
});

/** Sends a list of pods as JSON. Escapes `<`, `>` and `&` as Go's encoder does. */
function sendList(response: HttpResponse, items: readonly object[]): void {
  const podListJson = `${JSON.stringify({ ...POD_LIST, items: items.length > 0 ? items : null })}\n`;
  sendJson(response, podListJson.replaceAll(/[<>&\u2028\u2029]/g, escapeCharacter));
}

const escapeCharacter = (each: string): string => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
