/** Detects pods that are rejected although the node has the resources that they request. */
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { Pod, PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import { hostPortsOf } from '../../../../kubernetes/resources/requests.ts';
import { podRequest } from '../../../../kubernetes/resources/resources.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import { DEVICE_RESOURCE } from '../../host/simulatedDevices.ts';
import type { Watched } from '../invariant.ts';

/** Largest requests of a pod so far. */
interface PodRequests {
  /** Last spec. Undefined if the pod is gone. */
  readonly spec?: PodSpec | undefined;
  readonly ports: readonly number[];
  readonly cpu: number;
  readonly memory: number;
  /** Node time in milliseconds since when the pod has held no resources. Undefined while it holds some. */
  readonly until?: number | undefined;
}

/**
 * Time in milliseconds after which released resources must be available. The end of a pod is published immediately, but
 * its consequences follow later.
 */
const FREE_AFTER_MS = 60_000;

const wasRefused = ({ status }: Pod): boolean => status?.message?.startsWith('Pod was rejected: ') === true;

export class Refusals {
  readonly #watched: Watched;
  readonly #requests = new Map<string, PodRequests>();
  /** Node time of each rejection in milliseconds, by pod UID. */
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

  /** Forgets pods that have been gone for too long to explain any rejection. */
  #forget(elapsed: number): void {
    const from = Math.min(elapsed, ...this.#refused.values()) - FREE_AFTER_MS;
    for (const [uid, { spec, until = elapsed }] of this.#requests)
      if (spec === undefined && until < from) this.#requests.delete(uid);
  }

  /** Whether a pod was rejected with a good reason, i.e. the node lacked what the rejection names. */
  explain(pod: Pod): boolean {
    const { uid } = pod.metadata;
    const at = this.#refused.get(uid);
    if (!wasRefused(pod) || at === undefined) return false;
    const reason = pod.status?.reason ?? '';
    // Other rejection reasons depend only on the pod's own manifest.
    if (!reason.startsWith('OutOf') && reason !== 'UnexpectedAdmissionError' && reason !== 'NodePorts') return true;
    // The device plugin may fail to allocate devices, which this class does not count.
    if (reason === 'UnexpectedAdmissionError' && podRequest(pod.spec, DEVICE_RESOURCE) > 0) return true;
    const ports = hostPortsOf(pod.spec).map(({ port }) => port);
    const others = this.#holders(uid, at);
    const isTaken = others.some((each) => each.ports.some((port) => ports.includes(port)));
    return isTaken || this.isShort(pod, others);
  }

  /** Whether the node has too few resources for a pod. */
  isShort({ spec, metadata: { uid } }: Pod, others = this.#holders(uid, this.#watched.host.clock.elapsed)): boolean {
    const { cpuMillis, memoryBytes, pods } = this.#watched.capacity;
    const sum = (of: (requests: PodRequests) => number) => others.reduce((total, each) => total + of(each), 0);
    return (
      podRequest(spec, 'cpu') + sum(({ cpu }) => cpu) > cpuMillis ||
      podRequest(spec, 'memory') + sum(({ memory }) => memory) > memoryBytes ||
      others.length + 1 > pods
    );
  }

  /**
   * Returns the other pods that may have held resources at a time. Some ends are published before they take effect, and
   * some admissions after they took effect.
   */
  #holders(uid: string, at: number): PodRequests[] {
    const running = new Set(this.#watched.host.running().map(({ podUid }) => podUid));
    const isFree = (of: string, { until = at }: PodRequests) => until < at - FREE_AFTER_MS && !running.has(of);
    return [...this.#requests].flatMap(([of, each]) =>
      of === uid || this.#refused.has(of) || isFree(of, each) ? [] : [each],
    );
  }
}

/**
 * Returns the larger of the previous and the current requests, because a pod that is being resized holds its former
 * resources until the resize is complete.
 */
const maxRequests = (pod: Pod, before: PodRequests | undefined): PodRequests => ({
  ports: hostPortsOf(pod.spec).map(({ port }) => port),
  cpu: Math.max(podRequest(pod.spec, 'cpu'), before?.cpu ?? 0),
  memory: Math.max(podRequest(pod.spec, 'memory'), before?.memory ?? 0),
});
