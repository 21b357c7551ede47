/**
 * Measures the starts, syncs and terminations of pods, based on the states of their actors and their published
 * statuses. The actors' work is mapped to the operations of the kubelet's pod worker. `create` lasts from the start of
 * admission until the first containers have started or failed to start. `sync` is a later launch of a container,
 * `update` is the resize of a running container, and `kill` is the termination of a pod.
 */
import type { StateChange } from '../../../actors/status/sinceMap.ts';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import { isStaticPod } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { MachineDecision } from '../../../machines/shared/events/machineDecision.ts';
import type { Registry } from '../registry.ts';
import { registerPodFamilies } from './podFamilies.ts';
import { rejectionLabel, startTimes } from './podStarts.ts';
import type { ResizeMetrics } from './resizeMetrics.ts';
import { hasFinishedFirstRound, hasRunBefore, hasStarted, newTerminations } from './statusChanges.ts';
import type { TrackedPod, TrackedPods } from './trackedPods.ts';

interface PodMetricsParts {
  readonly registry: Registry;
  readonly pods: TrackedPods;
  readonly resizeMetrics: Pick<ResizeMetrics, 'updated' | 'infeasible' | 'deferredAccepted'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether statuses are reported to an API server. */
  readonly isInCluster: boolean;
}

/** Prefixes of the observed actors' paths. */
const POD_PREFIX = 'pod/';
const CONTAINER_PREFIX = 'container/';

export class PodMetrics {
  readonly #parts: PodMetricsParts;
  readonly #families: ReturnType<typeof registerPodFamilies>;
  /**
   * Start time of this agent, in milliseconds since the epoch. Earlier terminations were counted by a previous agent.
   */
  readonly #startedAt: number;
  /** Whether the start of a pod without `hostNetwork` has been measured. */
  #hasMeasuredNetworkPod = false;

  constructor(parts: PodMetricsParts) {
    this.#parts = parts;
    this.#families = registerPodFamilies(parts.registry);
    this.#startedAt = parts.now();
    for (const isStatic of ['', 'true']) this.#families.restartedPods.add([isStatic], 0);
  }

  /** Called when an actor has entered a state. */
  recordStateChange({ actor, state, at }: StateChange): void {
    if (!actor.startsWith(POD_PREFIX)) return;
    const uidEnd = actor.indexOf('/', POD_PREFIX.length);
    const uid = uidEnd === -1 ? actor.slice(POD_PREFIX.length) : actor.slice(POD_PREFIX.length, uidEnd);
    const outermostState = state.split(/[. ]/, 1)[0] ?? '';
    if (uidEnd === -1) this.#recordPodState(uid, outermostState, at);
    else if (
      actor.startsWith(CONTAINER_PREFIX, uidEnd + 1) &&
      !actor.includes('/', uidEnd + 1 + CONTAINER_PREFIX.length)
    )
      this.#recordContainerState(uid, actor.slice(uidEnd + 1), outermostState, at);
  }

  recordDecision(decision: MachineDecision): void {
    if (decision.decision === 'orphanTerminated') this.#families.orphanedPods.add([]);
    if (decision.decision === 'deferredResizeAccepted') this.#parts.resizeMetrics.deferredAccepted(decision.trigger);
    if (decision.decision === 'resizeInfeasible') this.#parts.resizeMetrics.infeasible(decision.message);
    if (decision.decision === 'evicted') this.#families.evictions.add([decision.cause]);
    if (decision.decision === 'evictionStatsUsed')
      this.#families.evictionStatsAge.observe([decision.signal], decision.ageMs / 1_000);
    if (decision.decision !== 'preempted') return;
    const trackedPod = this.#parts.pods.get(decision.uid);
    if (trackedPod) trackedPod.preemptedFor = decision.resource;
  }

  /** Called when a pod's status has been published or the pod has been removed. */
  recordPodChange({ uid, pod, removed }: Pick<PodChange, 'uid' | 'pod' | 'removed'>): void {
    const { pods } = this.#parts;
    const trackedPod = pods.get(uid);
    if (trackedPod === undefined) return;
    if (trackedPod.pod && trackedPod.pod.spec !== pod.spec)
      this.#parts.resizeMetrics.updated(trackedPod.pod.spec, pod.spec);
    this.#recordStatusChange(pod, trackedPod);
    if (removed) pods.forget(uid);
  }

  /** Called when the API server has accepted the latest status of a pod. */
  statusAcknowledged(uid: string): void {
    const trackedPod = this.#parts.pods.get(uid);
    const now = this.#parts.now();
    if (trackedPod?.unpublishedSince === undefined) return;
    this.#families.statusSyncDuration.observe([], (now - trackedPod.unpublishedSince) / 1_000);
    delete trackedPod.unpublishedSince;
    if (trackedPod.startState !== 'started' || trackedPod.pod === undefined) return;
    trackedPod.startState = 'published';
    const { totalMs, sliMs } = startTimes(trackedPod.pod, trackedPod, now) ?? {};
    if (totalMs !== undefined) this.#families.startTotal.observe([], totalMs / 1_000);
    if (sliMs !== undefined) {
      this.#families.startSli.observe([], sliMs / 1_000);
      if (!this.#hasMeasuredNetworkPod && !trackedPod.pod.spec.hostNetwork) {
        this.#hasMeasuredNetworkPod = true;
        this.#families.firstNetworkPodStartDuration.set([], sliMs / 1_000);
      }
    }
    trackedPod.pulls.length = 0;
  }

  /** Called when a running container has been resized. `ms` is the duration of the resize. */
  resized(ms: number): void {
    this.#families.workerDuration.observe(['update'], ms / 1_000);
  }

  #recordPodState(uid: string, state: string, at: number): void {
    const { workerDuration, workerStartDuration, admissionDuration, restartedPods } = this.#families;
    const previousPod = this.#parts.pods.get(uid);
    const trackedPod = this.#parts.pods.track(uid, at);
    if (previousPod?.pod && previousPod !== trackedPod) restartedPods.add([isStaticPod(previousPod.pod) ? 'true' : '']);
    if (state === 'admitting' && trackedPod.workStartedAt === undefined) {
      trackedPod.workStartedAt = at;
      workerStartDuration.observe([], (at - trackedPod.firstSeenAt) / 1_000);
    }
    if (state === 'admitting') trackedPod.admittingSince ??= at;
    else if (trackedPod.admittingSince !== undefined) {
      // Ignore a pod that terminates while its admission is pending, because no decision has been made.
      if (state !== 'terminating') admissionDuration.observe([], at - trackedPod.admittingSince);
      delete trackedPod.admittingSince;
    }
    if (state === 'refused') trackedPod.isRejected = true;
    if (state === 'terminating') trackedPod.terminatingSince ??= at;
    if (state !== 'finished' && state !== 'terminated') return;
    if (trackedPod.terminatingSince !== undefined)
      workerDuration.observe(['kill'], (at - trackedPod.terminatingSince) / 1_000);
    delete trackedPod.terminatingSince;
    // Count a preemption only once the preempted pod has terminated, as in the kubelet.
    if (trackedPod.preemptedFor !== undefined) this.#families.preemptions.add([trackedPod.preemptedFor]);
    delete trackedPod.preemptedFor;
    if (state === 'terminated') trackedPod.removedAt = at;
  }

  #recordContainerState(uid: string, name: string, state: string, at: number): void {
    const trackedPod = this.#parts.pods.get(uid);
    if (trackedPod === undefined) return;
    const launchedAt = trackedPod.launchTimes.get(name);
    if (state === 'launching') {
      if (launchedAt === undefined && trackedPod.isFirstRoundDone) trackedPod.launchTimes.set(name, at);
    } else if (launchedAt !== undefined) {
      trackedPod.launchTimes.delete(name);
      this.#families.workerDuration.observe(['sync'], (at - launchedAt) / 1_000);
    }
  }

  #recordStatusChange(pod: Pod, trackedPod: TrackedPod): void {
    const { status } = pod;
    const previousStatus = trackedPod.pod?.status;
    if (status === undefined || status === previousStatus) return;
    for (const { type, run } of newTerminations(previousStatus, status, this.#startedAt))
      this.#families.terminatedContainers.add([type, String(run.exitCode), run.reason ?? '']);
    if (previousStatus === undefined) {
      trackedPod.hadRunBeforeAgent = hasRunBefore(status, trackedPod.firstSeenAt);
      if (!trackedPod.hadRunBeforeAgent) this.#families.containersPerPod.observe([], pod.spec.containers.length);
    }
    trackedPod.pod = pod;
    if (this.#parts.isInCluster) trackedPod.unpublishedSince ??= this.#parts.now();
    this.#observeStart(pod, trackedPod, previousStatus?.phase);
    if (!trackedPod.isRejected || status.phase !== 'Failed') return;
    this.#families.rejections.add([rejectionLabel(status.reason ?? '')]);
    trackedPod.isRejected = false;
  }

  #observeStart(pod: Pod, trackedPod: TrackedPod, previousPhase: string | undefined): void {
    const { status = {} } = pod;
    const now = this.#parts.now();
    const { workerDuration, startDuration } = this.#families;
    if (!trackedPod.isFirstRoundDone && hasFinishedFirstRound(status)) {
      trackedPod.isFirstRoundDone = true;
      const { workStartedAt, hadRunBeforeAgent } = trackedPod;
      if (workStartedAt !== undefined && !hadRunBeforeAgent)
        workerDuration.observe(['create'], (now - workStartedAt) / 1_000);
    }
    if (trackedPod.hadRunBeforeAgent) return;
    if (previousPhase !== 'Running' && status.phase === 'Running')
      startDuration.observe([], (now - trackedPod.firstSeenAt) / 1_000);
    if (trackedPod.startState === 'pending' && hasStarted(status)) trackedPod.startState = 'started';
  }
}
