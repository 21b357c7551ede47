/** Defines the context of the eviction machine and pure functions on it. The chart is in chart.ts. */
import type { Failure } from '../../base/failure.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { isCriticalPod } from '../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type InvolvedObject, involvedPod } from '../../kubernetes/events/recordedEvent.ts';
import { type DiskLayout, type ReclaimStep, reclaimStepsOf } from '../../kubernetes/eviction/layout.ts';
import {
  hasLocalStorageLimit,
  type LocalStorageLimit,
  localStorageViolation,
} from '../../kubernetes/eviction/localStorage.ts';
import { EVICTED, evictionMessage } from '../../kubernetes/eviction/message.ts';
import {
  assessPressure,
  initialPressure,
  type Observations,
  type PressureState,
  thresholdsMet,
} from '../../kubernetes/eviction/pressure.ts';
import { rankPods, selectVictim } from '../../kubernetes/eviction/ranking.ts';
import { type PressureCondition, resourceOf, type Signal } from '../../kubernetes/eviction/signals.ts';
import { isHard, type Threshold, withContainerFsThresholds } from '../../kubernetes/eviction/thresholds.ts';
import type { PodUsages } from '../../kubernetes/eviction/usage.ts';
import type { DeadContainer } from '../../kubernetes/lifecycle/garbage.ts';
import type { Termination } from '../../kubernetes/status/view.ts';
import { killLimitMs } from '../pod/termination.ts';
import type { PortTypes } from '../shared/ports.ts';

/**
 * Eviction settings. A type alias rather than an interface, because generated declaration files can inline an alias but
 * can refer to an interface only by name.
 */
export type EvictionInput = {
  readonly nodeName: string;
  readonly thresholds: readonly Threshold[];
  /** Time in milliseconds for which the node continues to report pressure after a threshold was last met. */
  readonly transitionMs: number;
  /** Maximum grace period in seconds of a pod that is evicted because of a soft threshold. */
  readonly maxPodGraceSeconds: number;
  /** Whether the pods' limits on local ephemeral storage are enforced. */
  readonly enforcesStorageLimits: boolean;
};

/** A pod that is being evicted. */
export interface Eviction {
  readonly uid: string;
  /** Reference to the pod in the `Evicted` event. */
  readonly involved: InvolvedObject;
  /**
   * Cause of the eviction as named in the metrics: the signal of the threshold that was met, or the limit that the pod
   * has exceeded.
   */
  readonly cause: Signal | LocalStorageLimit;
  readonly termination: Termination;
  /** Annotations of the `Evicted` event. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** An attempt to free disk space by removing dead containers and unused images before any pod is evicted. */
export interface Reclaim {
  readonly signal: Signal;
  /** Time of the measurement that caused the attempt, in milliseconds since the epoch. */
  readonly at: number;
  readonly containerCount: number;
  readonly imageCount: number;
  /** Total size of the removed images. */
  readonly imageBytes: number;
}

export type EvictionContext = EvictionInput & {
  /** Time of the last measurement, in milliseconds since the epoch. 0 before the first one. */
  readonly measuredAt: number;
  readonly pressure: PressureState;
  /** Older observations, the oldest first, from which the rate of consumption is computed. */
  readonly earlierObservations: readonly { readonly measuredAt: number; readonly observations: Observations }[];
  readonly conditions: readonly PressureCondition[];
  /** The thresholds that take effect in the current eviction pass. The first one is handled next. */
  readonly acting: readonly Threshold[];
  /** Layout of the node's filesystems. Undefined until it has been determined. */
  readonly layout: DiskLayout | undefined;
  /** Pods that may be evicted, as listed by the node for the current eviction pass. */
  readonly pods: readonly Pod[];
  readonly deadContainers: readonly DeadContainer[];
  readonly evictions: readonly Eviction[];
  /** UIDs of the evicted pods that have no processes left or are gone. */
  readonly stoppedUids: readonly string[];
  readonly cleanedUpUids: readonly string[];
  /** The last attempt to reclaim disk space. Undefined before the first one. */
  readonly reclaim?: Reclaim;
  readonly failure?: Failure | undefined;
};

export const initialEvictionContext = (input: EvictionInput): EvictionContext => ({
  ...input,
  measuredAt: 0,
  pressure: initialPressure,
  earlierObservations: [],
  conditions: [],
  acting: [],
  layout: undefined,
  pods: [],
  deadContainers: [],
  evictions: [],
  stoppedUids: [],
  cleanedUpUids: [],
});

type Measurement = PortTypes['measureResources']['output'];

/** Returns the UIDs of the pods with enforced ephemeral-storage limits. */
export const limitedUids = ({ pods, enforcesStorageLimits }: EvictionContext): string[] =>
  enforcesStorageLimits ? pods.filter(hasLocalStorageLimit).map(({ metadata }) => metadata.uid) : [];

/** Returns the context changes that result from a measurement. */
export function assessMeasurement(context: EvictionContext, measurement: Measurement): Partial<EvictionContext> {
  const { layout, observations, usages, at, uptimeMs: now } = measurement;
  const { transitionMs } = context;
  const thresholds = withContainerFsThresholds(context.thresholds, layout);
  const { state, conditions, acting } = assessPressure(context.pressure, {
    thresholds,
    observations,
    transitionMs,
    now,
  });
  const evictions = storageEvictions({ ...context, layout }, usages, at);
  const earlierObservations = nextEarlierObservations(context);
  return {
    measuredAt: at,
    earlierObservations,
    pressure: state,
    conditions,
    acting,
    layout,
    evictions,
    failure: undefined,
  };
}

/** Interval in milliseconds between two observations that are retained for computing the rate of consumption. */
const RETENTION_INTERVAL_MS = 300_000;

/**
 * Returns the last two retained observations. They are at least five minutes apart, so that rates cover five to ten
 * minutes.
 */
function nextEarlierObservations({
  measuredAt,
  pressure: { observations },
  earlierObservations: retainedObservations,
}: EvictionContext): EvictionContext['earlierObservations'] {
  const lastRetainedAt = retainedObservations.at(-1)?.measuredAt ?? -RETENTION_INTERVAL_MS;
  if (measuredAt === 0 || measuredAt - lastRetainedAt < RETENTION_INTERVAL_MS) return retainedObservations;
  return [...retainedObservations.slice(-1), { measuredAt, observations }];
}

/** Returns the thresholds in force. The thresholds of containerfs depend on the layout of the filesystems. */
export const effectiveThresholds = ({ thresholds, layout }: EvictionContext): readonly Threshold[] =>
  layout === undefined ? thresholds : withContainerFsThresholds(thresholds, layout);

/** Returns the evictions of pods that exceed an ephemeral-storage limit. Critical pods are not evicted. */
function storageEvictions(
  { pods, layout = 'single' }: Pick<EvictionContext, 'pods' | 'layout'>,
  usages: PodUsages,
  at: number,
): Eviction[] {
  return pods.flatMap((pod) => {
    const usage = lookUp(usages, pod.metadata.uid);
    const violation = usage && localStorageViolation(pod, usage, layout);
    if (violation === undefined || isCriticalPod(pod)) return [];
    const termination = evictionTermination(violation.message, { graceSeconds: IMMEDIATE_GRACE_SECONDS, at });
    return [{ ...identityOf(pod), cause: violation.limit, termination, annotations: {} }];
  });
}

/** Returns the steps that may relieve the pressure before a pod is evicted. */
export function reclaimSteps({ acting: [threshold], layout }: EvictionContext): readonly ReclaimStep[] {
  return threshold === undefined || layout === undefined ? [] : reclaimStepsOf(threshold.signal, layout);
}

/** Returns the attempt to reclaim disk space that starts now. Undefined if no threshold takes effect. */
export const startedReclaim = ({ acting: [threshold], measuredAt: at }: EvictionContext): Reclaim | undefined =>
  threshold && { signal: threshold.signal, at, containerCount: 0, imageCount: 0, imageBytes: 0 };

/**
 * Whether enough space was reclaimed to resolve the threshold that took effect, i.e. its minimum reclaim is available
 * beyond the threshold. A kubelet evicts a pod nevertheless if the threshold of any other signal is met
 * (`reclaimNodeLevelResources` in `pkg/kubelet/eviction/eviction_manager.go`).
 */
export function isRelieved({ acting: [threshold] }: EvictionContext, { observations }: Measurement): boolean {
  return threshold !== undefined && thresholdsMet([threshold], observations, { withMinReclaim: true }).length === 0;
}

/** Returns the pods to rank and the resource to rank them by, which is that of the threshold that took effect. */
export const podsToMeasure = ({ pods, acting: [threshold] }: EvictionContext): PortTypes['measurePods']['input'] => ({
  uids: pods.map(({ metadata }) => metadata.uid),
  resource: threshold === undefined ? 'everything' : resourceOf(threshold.signal),
});

/** Grace period in seconds of a pod that is evicted because of a hard threshold or a storage limit. */
const IMMEDIATE_GRACE_SECONDS = 1;

/**
 * Returns the eviction of the pod that is ranked first for the threshold that took effect. Undefined if no pod can be
 * evicted.
 */
export function nextEviction(
  context: EvictionContext,
  { usages, at }: PortTypes['measurePods']['output'],
): Eviction | undefined {
  const { acting, layout, pods, pressure, maxPodGraceSeconds } = context;
  const [threshold] = acting;
  if (threshold === undefined || layout === undefined) return undefined;
  const victim = selectVictim(rankPods({ pods, usages, signal: threshold.signal, layout }));
  if (victim === undefined) return undefined;
  const { pod, usage } = victim;
  const { observations } = pressure;
  const { message, annotations } = evictionMessage(pod, { threshold, observations, usage });
  const ownGraceSeconds = pod.spec.terminationGracePeriodSeconds ?? maxPodGraceSeconds;
  const graceSeconds = isHard(threshold) ? IMMEDIATE_GRACE_SECONDS : Math.min(maxPodGraceSeconds, ownGraceSeconds);
  const termination = { ...evictionTermination(message, { graceSeconds, at }), disruption: message };
  return { ...identityOf(pod), cause: threshold.signal, termination, annotations };
}

const identityOf = (pod: Pod) => ({ uid: pod.metadata.uid, involved: involvedPod(pod) });

/**
 * Returns the termination of an evicted pod. The pod remains on the node with the phase Failed until its source no
 * longer contains it.
 */
const evictionTermination = (
  message: string,
  time: { readonly graceSeconds: number; readonly at: number },
): Termination => ({
  reason: EVICTED,
  message,
  graceSeconds: Math.max(1, time.graceSeconds),
  at: time.at,
  phase: 'Failed',
  staysUntilUnlisted: true,
  isAwaited: true,
});

/** Returns the time limit in milliseconds for stopping the pods that are being evicted. */
export const stopLimitMs = ({ evictions }: EvictionContext): number =>
  Math.max(0, ...evictions.map(({ termination }) => killLimitMs(termination)));

export const haveEvictedPodsStopped = ({ evictions, stoppedUids, cleanedUpUids }: EvictionContext): boolean =>
  evictions.every(({ uid }) => stoppedUids.includes(uid) || cleanedUpUids.includes(uid));

export const areEvictedPodsCleanedUp = ({ evictions, cleanedUpUids }: EvictionContext): boolean =>
  evictions.every(({ uid }) => cleanedUpUids.includes(uid));
