/** Holds it against a node that it refuses a pod for which it has room: by what its pods ask for, and what it has. */
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { Pod, PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { hostPortsOf } from '../../../kubernetes/resources/requests.ts';
import { podRequest } from '../../../kubernetes/resources/resources.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import type { Watched } from './invariant.ts';

/** What a pod was seen to ask for, at most. */
interface Asked {
  /** Its last; absent when it is gone. */
  readonly spec?: PodSpec | undefined;
  readonly ports: readonly number[];
  readonly cpu: number;
  readonly memory: number;
  /** Since when it takes nothing any more, by the time that no jump of the clock changes. */
  readonly until?: number | undefined;
}

/** What has become free so long ago was free when it was decided: of an end is told at once, of its consequences later. */
const FREE_AFTER_MS = 60_000;

const wasRefused = ({ status }: Pod): boolean => status?.message?.startsWith('Pod was rejected: ') === true;

export class Refusals {
  readonly #watched: Watched;
  readonly #asked = new Map<string, Asked>();
  /** When each was refused, by the time that no jump of the clock changes. */
  readonly #refused = new Map<string, number>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  noteStatus({ uid, removed, pod }: PodChange): void {
    const { elapsed } = this.#watched.host.clock;
    if (removed || !wasRefused(pod)) this.#refused.delete(uid);
    else if (!this.#refused.has(uid)) this.#refused.set(uid, elapsed);
    const isOver = removed || isTerminalPhase(pod.status?.phase);
    const before = this.#asked.get(uid);
    const now = before !== undefined && before.spec === pod.spec ? before : largest(pod, before);
    if (now !== before || removed || isOver !== (before.until !== undefined)) {
      const until = isOver ? (before?.until ?? elapsed) : undefined;
      this.#asked.set(uid, { ...now, until, spec: removed ? undefined : pod.spec });
    }
    if (removed) this.#forget(elapsed);
  }

  /** What is gone for so long that it was no reason for any refusal. */
  #forget(elapsed: number): void {
    const from = Math.min(elapsed, ...this.#refused.values()) - FREE_AFTER_MS;
    for (const [uid, { spec, until = elapsed }] of this.#asked)
      if (spec === undefined && until < from) this.#asked.delete(uid);
  }

  /** Whether a pod was refused, and there was not enough of what it was refused for. */
  explain(pod: Pod): boolean {
    const { uid } = pod.metadata;
    const at = this.#refused.get(uid);
    if (!wasRefused(pod) || at === undefined) return false;
    const reason = pod.status?.reason ?? '';
    // What else a pod is refused for stands in its own manifest.
    if (!reason.startsWith('OutOf') && reason !== 'UnexpectedAdmissionError' && reason !== 'NodePorts') return true;
    const ports = hostPortsOf(pod).map(({ port }) => port);
    const others = this.#others(uid, at);
    const isTaken = others.some((each) => each.ports.some((port) => ports.includes(port)));
    return isTaken || this.isShort(pod, others);
  }

  /** Whether there is not enough room for a pod beside the others. */
  isShort({ spec, metadata: { uid } }: Pod, others = this.#others(uid, this.#watched.host.clock.elapsed)): boolean {
    const { cpuMillis, memoryBytes, pods } = this.#watched.capacity;
    const sum = (of: (asked: Asked) => number) => others.reduce((total, each) => total + of(each), 0);
    return (
      podRequest(spec, 'cpu') + sum(({ cpu }) => cpu) > cpuMillis ||
      podRequest(spec, 'memory') + sum(({ memory }) => memory) > memoryBytes ||
      others.length + 1 > pods
    );
  }

  /** Who took something at that time; of some ends it is told before they have come, of what was admitted after that. */
  #others(uid: string, at: number): Asked[] {
    const running = new Set(this.#watched.host.running().map(({ podUid }) => podUid));
    const isFree = (of: string, { until = at }: Asked) => until < at - FREE_AFTER_MS && !running.has(of);
    return [...this.#asked].flatMap(([of, each]) =>
      of === uid || this.#refused.has(of) || isFree(of, each) ? [] : [each],
    );
  }
}

/** A pod that is resized keeps what it had until that is done. */
const largest = (pod: Pod, before: Asked | undefined): Asked => ({
  ports: hostPortsOf(pod).map(({ port }) => port),
  cpu: Math.max(podRequest(pod.spec, 'cpu'), before?.cpu ?? 0),
  memory: Math.max(podRequest(pod.spec, 'memory'), before?.memory ?? 0),
});
