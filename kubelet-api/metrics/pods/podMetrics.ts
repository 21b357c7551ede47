/**
 * How pods start, work and end, from the states of their actors and the statuses that are told of them.
 *
 * What a kubelet's workers do in a sync the actors of a pod do in rounds. So `create` is a pod's first round, from its
 * beginning (when no other pod is in its way) until its containers are started or cannot be; `sync` each later launch of a
 * container; `update` the change of a running one to the resources of an updated pod; `kill` the end of a pod's containers.
 */
import type { StateChange } from '../../../actors/status/sinceMap.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../../../kubernetes/api/staticPod.ts';
import type { MachineDecision } from '../../../machines/shared/machineDecision.ts';
import type { Registry } from '../registry.ts';
import type { FollowedPod, FollowedPods } from './followedPods.ts';
import { podFamilies } from './podFamilies.ts';
import { rejectionLabel, startTimes } from './podStarts.ts';
import type { ResizeMetrics } from './resizeMetrics.ts';
import { hasStarted, isFirstRoundOver, newEnds, ranBefore } from './statusChanges.ts';

interface PodMetricsParts {
  readonly registry: Registry;
  readonly pods: FollowedPods;
  readonly resizes: Pick<ResizeMetrics, 'updated' | 'statusChanged' | 'deferredAccepted'>;
  /** In milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether there is an API server that statuses are told. */
  readonly isInCluster: boolean;
}

/** Whose states are looked at. */
const POD = 'pod/';
const CONTAINER = 'container/';

export class PodMetrics {
  readonly #parts: PodMetricsParts;
  readonly #families: ReturnType<typeof podFamilies>;
  /** What ended before it was another agent's to count. */
  readonly #since: number;
  /** Whether a pod with a network of its own has started. */
  #hasNetworkPod = false;

  constructor(parts: PodMetricsParts) {
    this.#parts = parts;
    this.#families = podFamilies(parts.registry);
    this.#since = parts.now();
    for (const isStatic of ['', 'true']) this.#families.restarted.add([isStatic], 0);
  }

  /** An actor has come into a state. */
  moved({ actor, state, at }: StateChange): void {
    if (!actor.startsWith(POD)) return;
    const end = actor.indexOf('/', POD.length);
    const uid = end === -1 ? actor.slice(POD.length) : actor.slice(POD.length, end);
    const outermost = state.split(/[. ]/, 1)[0] ?? '';
    if (end === -1) this.#podMoved(uid, outermost, at);
    else if (actor.startsWith(CONTAINER, end + 1) && !actor.includes('/', end + 1 + CONTAINER.length))
      this.#containerMoved(uid, actor.slice(end + 1), outermost, at);
  }

  decided(decision: MachineDecision): void {
    if (decision.decision === 'orphanTerminated') this.#families.orphaned.add([]);
    if (decision.decision === 'deferredResizeAccepted') this.#parts.resizes.deferredAccepted(decision.trigger);
    if (decision.decision !== 'preempted') return;
    const followed = this.#parts.pods.of(decision.uid);
    if (followed) followed.preemptedFor = decision.resource;
  }

  /** A pod's status has been told, or that it is gone. */
  changed({ uid, pod, removed }: Pick<PodChange, 'uid' | 'pod' | 'removed'>): void {
    const { pods } = this.#parts;
    const followed = pods.of(uid);
    if (followed === undefined) return;
    if (followed.pod && followed.pod.spec !== pod.spec) this.#parts.resizes.updated(followed.pod.spec, pod.spec);
    this.#statusTold(pod, followed);
    // Its last status is still to be put where its end has to be known.
    if (removed) pods.forget(uid);
  }

  /** The API server has its latest status. */
  statusPut(uid: string): void {
    const followed = this.#parts.pods.of(uid);
    const now = this.#parts.now();
    if (followed?.untoldSince === undefined) return;
    this.#families.statusSync.observe([], (now - followed.untoldSince) / 1_000);
    delete followed.untoldSince;
    if (followed.start !== 'started' || followed.pod === undefined) return;
    followed.start = 'told';
    const { totalMs, sliMs } = startTimes(followed.pod, followed, now) ?? {};
    if (totalMs !== undefined) this.#families.startTotal.observe([], totalMs / 1_000);
    if (sliMs !== undefined) {
      this.#families.startSli.observe([], sliMs / 1_000);
      if (!this.#hasNetworkPod && !followed.pod.spec.hostNetwork) {
        this.#hasNetworkPod = true;
        this.#families.firstNetworkPod.set([], sliMs / 1_000);
      }
    }
    followed.pulls.length = 0;
  }

  /** A running container has the resources of its updated pod. */
  resized(ms: number): void {
    this.#families.worker.observe(['update'], ms / 1_000);
  }

  #podMoved(uid: string, state: string, at: number): void {
    const { worker, workerStart, restarted } = this.#families;
    const before = this.#parts.pods.of(uid);
    const followed = this.#parts.pods.begin(uid, at);
    if (before?.pod && before !== followed) restarted.add([isStaticPod(before.pod) ? 'true' : '']);
    if (state === 'admitting' && followed.begunAt === undefined) {
      followed.begunAt = at;
      workerStart.observe([], (at - followed.seenAt) / 1_000);
    }
    if (state === 'refused') followed.isRefused = true;
    if (state === 'terminating') followed.endingAt ??= at;
    if (state !== 'finished' && state !== 'terminated') return;
    if (followed.endingAt !== undefined) worker.observe(['kill'], (at - followed.endingAt) / 1_000);
    delete followed.endingAt;
    // As in a kubelet it counts once the pod has terminated.
    if (followed.preemptedFor !== undefined) this.#families.preemptions.add([followed.preemptedFor]);
    delete followed.preemptedFor;
    if (state === 'terminated') followed.goneAt = at;
  }

  #containerMoved(uid: string, name: string, state: string, at: number): void {
    const followed = this.#parts.pods.of(uid);
    if (followed === undefined) return;
    const begunAt = followed.launches.get(name);
    if (state === 'launching') {
      if (begunAt === undefined && followed.isRoundOver) followed.launches.set(name, at);
    } else if (begunAt !== undefined) {
      followed.launches.delete(name);
      this.#families.worker.observe(['sync'], (at - begunAt) / 1_000);
    }
  }

  #statusTold(pod: Pod, followed: FollowedPod): void {
    const { status } = pod;
    const before = followed.pod?.status;
    if (status === undefined || status === before) return;
    this.#parts.resizes.statusChanged(before, status);
    for (const { type, run } of newEnds(before, status, this.#since))
      this.#families.terminated.add([type, String(run.exitCode), run.reason ?? '']);
    if (before === undefined) {
      followed.isOld = ranBefore(status, followed.seenAt);
      if (!followed.isOld) this.#families.containersPerPod.observe([], pod.spec.containers.length);
    }
    followed.pod = pod;
    if (this.#parts.isInCluster) followed.untoldSince ??= this.#parts.now();
    this.#startTold(pod, followed, before?.phase);
    if (!followed.isRefused || status.phase !== 'Failed') return;
    this.#families.rejections.add([rejectionLabel(status.reason ?? '')]);
    followed.isRefused = false;
  }

  #startTold(pod: Pod, followed: FollowedPod, phaseBefore: string | undefined): void {
    const { status = {} } = pod;
    const now = this.#parts.now();
    const { worker, start } = this.#families;
    if (!followed.isRoundOver && isFirstRoundOver(status)) {
      followed.isRoundOver = true;
      const { begunAt, isOld } = followed;
      if (begunAt !== undefined && !isOld) worker.observe(['create'], (now - begunAt) / 1_000);
    }
    if (followed.isOld) return;
    if (phaseBefore !== 'Running' && status.phase === 'Running') start.observe([], (now - followed.seenAt) / 1_000);
    if (followed.start === 'pending' && hasStarted(status)) followed.start = 'started';
  }
}
