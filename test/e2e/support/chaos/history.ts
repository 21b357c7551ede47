/** The history of each pod as seen by a watch, which must be one that a single pod can have. */
import { readWatchEvent } from '../../../../cli/commands/get/readPods.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import type { TestCluster } from '../cluster.ts';

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed'];
const rankOf = (status: PodStatus | undefined): number => Math.min(PHASES.indexOf(status?.phase ?? 'Pending'), 2);

export class History {
  /** All versions of each pod, by UID. */
  readonly #versions = new Map<string, Pod[]>();
  readonly #gone = new Set<string>();

  /** Watches the pods until the returned function is called. */
  follow({ server }: TestCluster): Promise<() => void> {
    return server.watch('/api/v1/pods?watch=true', (line) => {
      const { type, pod } = readWatchEvent(line);
      const { uid } = pod.metadata;
      if (type === 'DELETED') this.#gone.add(uid);
      this.#versions.set(uid, [...(this.#versions.get(uid) ?? []), pod]);
    });
  }

  /** Returns the number of pods that have had this name. */
  countOf(name: string): number {
    return [...this.#versions.values()].filter((pods) => pods.at(-1)?.metadata.name === name).length;
  }

  /** Lists impossible status changes. */
  impossibleChanges(): string[] {
    return [...this.#versions.values()].flatMap((pods) =>
      pods
        .slice(1)
        .flatMap((pod, index) => statusProblems(pods[index]?.status, pod.status).map((what) => problem(pod, what))),
    );
  }

  /** Lists problems of the last status of a deleted pod whose deletion was awaited. */
  lastStatusProblems(uid: string): string[] {
    const pod = this.#versions.get(uid)?.at(-1);
    if (pod === undefined || !this.#gone.has(uid)) return [`pod ${uid} is not gone`];
    const { containerStatuses: all = [] } = pod.status ?? {};
    const running = all.filter(({ state }) => state?.terminated === undefined && state?.waiting === undefined);
    return running.map(({ name }) => problem(pod, `container ${name} ran when it went: ${JSON.stringify(pod.status)}`));
  }
}

const problem = ({ metadata: { name, uid } }: Pod, what: string) => `pod ${name} (${uid}): ${what}`;

/** Lists impossible changes between two successive statuses. */
function statusProblems(before: PodStatus | undefined, after: PodStatus | undefined): string[] {
  const [was, is] = [rankOf(before), rankOf(after)];
  const ended = was === 2 && before?.phase !== after?.phase;
  const back = is < was || ended ? [`from ${before?.phase} to ${after?.phase}`] : [];
  return [...back, ...all(before).flatMap((each) => containerProblems(each, find(after, each.name)))];
}

const all = (status: PodStatus | undefined): ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];
const find = (status: PodStatus | undefined, name: string) => all(status).find((each) => each.name === name);

function containerProblems(before: ContainerStatus, after: ContainerStatus | undefined): string[] {
  const { name, restartCount: was, containerID: old } = before;
  // A container that was created but not started may be replaced, because it has not run.
  const hasBegun = before.state?.waiting === undefined && old !== undefined;
  if (after === undefined) return [`container ${name} has no status any more`];
  const { restartCount: is, containerID: id } = after;
  const sinks = is < was ? [`container ${name} was restarted ${was} times, then ${is} times`] : [];
  const changes =
    hasBegun && id !== old && is === was
      ? [`container ${name} was ${JSON.stringify(before)}, then ${JSON.stringify(after)}`]
      : [];
  const revives = before.state?.terminated && after.state?.running && is === was;
  return [...sinks, ...changes, ...(revives ? [`container ${name} runs again that had ended`] : [])];
}
