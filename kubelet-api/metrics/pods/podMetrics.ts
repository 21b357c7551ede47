/**
 * Measures the starts, syncs and terminations of pods, based on the states of their actors and their published
 * statuses.
 *
 * The actors' work is mapped to the operations of a kubelet's pod worker. `create` lasts from the start of admission
 * until the first containers are started or have failed to start. `sync` is each later launch of a container, `update`
 * the resize of a running container, and `kill` the termination of a pod.
 */
import type { StateChange } from '../../../actors/status/sinceMap.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../../../kubernetes/api/staticPod.ts';
import type { MachineDecision } from '../../../machines/shared/machineDecision.ts';
import type { Registry } from '../registry.ts';
import { podFamilies } from './podFamilies.ts';
import { rejectionLabel, startTimes } from './podStarts.ts';
import type { ResizeMetrics } from './resizeMetrics.ts';
import { hasFinishedFirstRound, hasStarted, newTerminations, ranBefore } from './statusChanges.ts';
import type { TrackedPod, TrackedPods } from './trackedPods.ts';

interface PodMetricsParts {
  readonly registry: Registry;
  readonly pods: TrackedPods;
  readonly resizes: Pick<ResizeMetrics, 'updated' | 'statusChanged' | 'deferredAccepted'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether statuses are reported to an API server. */
  readonly isInCluster: boolean;
}

/** Prefixes of the paths of actors whose states are observed. */
const POD_PREFIX = 'pod/';
const CONTAINER_PREFIX = 'container/';

export class PodMetrics {
  readonly #parts: PodMetricsParts;
  readonly #families: ReturnType<typeof podFamilies>;
  /** Terminations before this time were counted by a previous agent. */
  readonly #startedAt: number;
  /** Whether a pod without `hostNetwork` has started. */
  #hasNetworkPod = false;

  constructor(parts: PodMetricsParts) {
    this.#parts = parts;
    this.#families = podFamilies(parts.registry);
    this.#startedAt = parts.now();
    for (const isStatic of ['', 'true']) this.#families.restarted.add([isStatic], 0);
  }

  /** Called when an actor has entered a state. */
  moved({ actor, state, at }: StateChange): void {
    if (!actor.startsWith(POD_PREFIX)) return;
    const uidEnd = actor.indexOf('/', POD_PREFIX.length);
    const uid = uidEnd === -1 ? actor.slice(POD_PREFIX.length) : actor.slice(POD_PREFIX.length, uidEnd);
    const outermost = state.split(/[. ]/, 1)[0] ?? '';
    if (uidEnd === -1) this.#podMoved(uid, outermost, at);
    else if (
      actor.startsWith(CONTAINER_PREFIX, uidEnd + 1) &&
      !actor.includes('/', uidEnd + 1 + CONTAINER_PREFIX.length)
    )
      this.#containerMoved(uid, actor.slice(uidEnd + 1), outermost, at);
  }

  decided(decision: MachineDecision): void {
    if (decision.decision === 'orphanTerminated') this.#families.orphaned.add([]);
    if (decision.decision === 'deferredResizeAccepted') this.#parts.resizes.deferredAccepted(decision.trigger);
    if (decision.decision !== 'preempted') return;
    const tracked = this.#parts.pods.get(decision.uid);
    if (tracked) tracked.preemptedFor = decision.resource;
  }

  /** Called when a pod's status was published or the pod was removed. */
  changed({ uid, pod, removed }: Pick<PodChange, 'uid' | 'pod' | 'removed'>): void {
    const { pods } = this.#parts;
    const tracked = pods.get(uid);
    if (tracked === undefined) return;
    if (tracked.pod && tracked.pod.spec !== pod.spec) this.#parts.resizes.updated(tracked.pod.spec, pod.spec);
    this.#statusChanged(pod, tracked);
    if (removed) pods.forget(uid);
  }

  /** Called when the API server has accepted the latest status of a pod. */
  statusAcknowledged(uid: string): void {
    const tracked = this.#parts.pods.get(uid);
    const now = this.#parts.now();
    if (tracked?.unpublishedSince === undefined) return;
    this.#families.statusSync.observe([], (now - tracked.unpublishedSince) / 1_000);
    delete tracked.unpublishedSince;
    if (tracked.start !== 'started' || tracked.pod === undefined) return;
    tracked.start = 'published';
    const { totalMs, sliMs } = startTimes(tracked.pod, tracked, now) ?? {};
    if (totalMs !== undefined) this.#families.startTotal.observe([], totalMs / 1_000);
    if (sliMs !== undefined) {
      this.#families.startSli.observe([], sliMs / 1_000);
      if (!this.#hasNetworkPod && !tracked.pod.spec.hostNetwork) {
        this.#hasNetworkPod = true;
        this.#families.firstNetworkPod.set([], sliMs / 1_000);
      }
    }
    tracked.pulls.length = 0;
  }

  /** Called when a running container has been resized. */
  resized(ms: number): void {
    this.#families.worker.observe(['update'], ms / 1_000);
  }

  #podMoved(uid: string, state: string, at: number): void {
    const { worker, workerStart, restarted } = this.#families;
    const previous = this.#parts.pods.get(uid);
    const tracked = this.#parts.pods.track(uid, at);
    if (previous?.pod && previous !== tracked) restarted.add([isStaticPod(previous.pod) ? 'true' : '']);
    if (state === 'admitting' && tracked.workStartedAt === undefined) {
      tracked.workStartedAt = at;
      workerStart.observe([], (at - tracked.seenAt) / 1_000);
    }
    if (state === 'refused') tracked.isRejected = true;
    if (state === 'terminating') tracked.terminatingSince ??= at;
    if (state !== 'finished' && state !== 'terminated') return;
    if (tracked.terminatingSince !== undefined) worker.observe(['kill'], (at - tracked.terminatingSince) / 1_000);
    delete tracked.terminatingSince;
    // As in a kubelet, a preemption counts when the pod has terminated.
    if (tracked.preemptedFor !== undefined) this.#families.preemptions.add([tracked.preemptedFor]);
    delete tracked.preemptedFor;
    if (state === 'terminated') tracked.removedAt = at;
  }

  #containerMoved(uid: string, name: string, state: string, at: number): void {
    const tracked = this.#parts.pods.get(uid);
    if (tracked === undefined) return;
    const launchedAt = tracked.launches.get(name);
    if (state === 'launching') {
      if (launchedAt === undefined && tracked.isFirstRoundDone) tracked.launches.set(name, at);
    } else if (launchedAt !== undefined) {
      tracked.launches.delete(name);
      this.#families.worker.observe(['sync'], (at - launchedAt) / 1_000);
    }
  }

  #statusChanged(pod: Pod, tracked: TrackedPod): void {
    const { status } = pod;
    const previousStatus = tracked.pod?.status;
    if (status === undefined || status === previousStatus) return;
    this.#parts.resizes.statusChanged(previousStatus, status);
    for (const { type, run } of newTerminations(previousStatus, status, this.#startedAt))
      this.#families.terminated.add([type, String(run.exitCode), run.reason ?? '']);
    if (previousStatus === undefined) {
      tracked.ranBeforeAgent = ranBefore(status, tracked.seenAt);
      if (!tracked.ranBeforeAgent) this.#families.containersPerPod.observe([], pod.spec.containers.length);
    }
    tracked.pod = pod;
    if (this.#parts.isInCluster) tracked.unpublishedSince ??= this.#parts.now();
    this.#observeStart(pod, tracked, previousStatus?.phase);
    if (!tracked.isRejected || status.phase !== 'Failed') return;
    this.#families.rejections.add([rejectionLabel(status.reason ?? '')]);
    tracked.isRejected = false;
  }

  #observeStart(pod: Pod, tracked: TrackedPod, phaseBefore: string | undefined): void {
    const { status = {} } = pod;
    const now = this.#parts.now();
    const { worker, start } = this.#families;
    if (!tracked.isFirstRoundDone && hasFinishedFirstRound(status)) {
      tracked.isFirstRoundDone = true;
      const { workStartedAt, ranBeforeAgent } = tracked;
      if (workStartedAt !== undefined && !ranBeforeAgent) worker.observe(['create'], (now - workStartedAt) / 1_000);
    }
    if (tracked.ranBeforeAgent) return;
    if (phaseBefore !== 'Running' && status.phase === 'Running') start.observe([], (now - tracked.seenAt) / 1_000);
    if (tracked.start === 'pending' && hasStarted(status)) tracked.start = 'started';
  }
}
