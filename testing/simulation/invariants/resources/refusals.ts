/** Detects pods that are rejected although the node has the resources that they request. */
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { Pod, PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import { hostPortsOf } from '../../../../kubernetes/resources/requests.ts';
import { podRequest } from '../../../../kubernetes/resources/resources.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import { DEVICE_RESOURCE } from '../../host/simulatedDevices.ts';
import type { Watched } from '../invariant.ts';

/** The largest requests of a pod so far. */
interface PodRequests {
  /** The last spec. Undefined if the pod is gone. */
  readonly spec?: PodSpec | undefined;
  readonly ports: readonly number[];
  readonly cpu: number;
  readonly memory: number;
  /** Since when the pod holds no resources, in node time. */
  readonly until?: number | undefined;
}

/**
 * Resources that were released this long ago must be available. An end is published at once, its consequences later.
 */
const FREE_AFTER_MS = 60_000;

const wasRefused = ({ status }: Pod): boolean => status?.message?.startsWith('Pod was rejected: ') === true;

export class Refusals {
  readonly #watched: Watched;
  readonly #requests = new Map<string, PodRequests>();
  /** The time of each rejection, in node time. */
  readonly #refused = new Map<string, number>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  noteStatus({ uid, removed, pod }: PodChange): void {
    const { elapsed } = this.#watched.host.clock;
    if (removed || !wasRefused(pod)) this.#refused.delete(uid);
    else if (!this.#refused.has(uid)) this.#refused.set(uid, elapsed);
    const isOver = removed || isTerminalPhase(pod.status?.phase);
    const before = this.#requests.get(uid);
    const now = before !== undefined && before.spec === pod.spec ? before : maxRequests(pod, before);
    if (now !== before || removed || isOver !== (before.until !== undefined)) {
      const until = isOver ? (before?.until ?? elapsed) : undefined;
      this.#requests.set(uid, { ...now, until, spec: removed ? undefined : pod.spec });
    }
    if (removed) this.#forget(elapsed);
  }

  /** Forgets pods that have been gone for so long that they cannot explain any rejection. */
  #forget(elapsed: number): void {
    const from = Math.min(elapsed, ...this.#refused.values()) - FREE_AFTER_MS;
    for (const [uid, { spec, until = elapsed }] of this.#requests)
      if (spec === undefined && until < from) this.#requests.delete(uid);
  }

  /** Whether a pod was rejected and the node lacked what it was rejected for. */
  explain(pod: Pod): boolean {
    const { uid } = pod.metadata;
    const at = this.#refused.get(uid);
    if (!wasRefused(pod) || at === undefined) return false;
    const reason = pod.status?.reason ?? '';
    // All other reasons for a rejection are in the pod's own manifest.
    if (!reason.startsWith('OutOf') && reason !== 'UnexpectedAdmissionError' && reason !== 'NodePorts') return true;
    // The plugin may fail to allocate devices, and this class does not count them.
    if (reason === 'UnexpectedAdmissionError' && podRequest(pod.spec, DEVICE_RESOURCE) > 0) return true;
    const ports = hostPortsOf(pod.spec).map(({ port }) => port);
    const others = this.#holders(uid, at);
    const isTaken = others.some((each) => each.ports.some((port) => ports.includes(port)));
    return isTaken || this.isShort(pod, others);
  }

  /** Whether the node lacks the resources for a pod. */
  isShort({ spec, metadata: { uid } }: Pod, others = this.#holders(uid, this.#watched.host.clock.elapsed)): boolean {
    const { cpuMillis, memoryBytes, pods } = this.#watched.capacity;
    const sum = (of: (asked: PodRequests) => number) => others.reduce((total, each) => total + of(each), 0);
    return (
      podRequest(spec, 'cpu') + sum(({ cpu }) => cpu) > cpuMillis ||
      podRequest(spec, 'memory') + sum(({ memory }) => memory) > memoryBytes ||
      others.length + 1 > pods
    );
  }

  /**
   * The pods that held resources at a time. Some ends are published before they happen, and some admissions after they
   * happened.
   */
  #holders(uid: string, at: number): PodRequests[] {
    const running = new Set(this.#watched.host.running().map(({ podUid }) => podUid));
    const isFree = (of: string, { until = at }: PodRequests) => until < at - FREE_AFTER_MS && !running.has(of);
    return [...this.#requests].flatMap(([of, each]) =>
      of === uid || this.#refused.has(of) || isFree(of, each) ? [] : [each],
    );
  }
}

/** A pod that is being resized keeps its former resources until the resize is complete. */
const maxRequests = (pod: Pod, before: PodRequests | undefined): PodRequests => ({
  ports: hostPortsOf(pod.spec).map(({ port }) => port),
  cpu: Math.max(podRequest(pod.spec, 'cpu'), before?.cpu ?? 0),
  memory: Math.max(podRequest(pod.spec, 'memory'), before?.memory ?? 0),
});
