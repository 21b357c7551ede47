/** Builds the terminations of pods that are no longer desired, including pods known only from the runtime. */

import { lookUp } from '../../../base/values/lookUp.ts';
import { fullName, sourceOf } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { readHandler } from '../../../kubernetes/api/schema/probe.ts';
import type { ObservedContainer, ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import { hostPortsOf, type PodResourceRequests } from '../../../kubernetes/resources/requests.ts';
import { displayName } from '../../../kubernetes/shownName.ts';
import { type ShutdownPeriod, shutdownGraceSeconds } from '../../../kubernetes/shutdown/periods.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import type { Termination, TerminationReason } from '../../../kubernetes/status/view.ts';
import type { AdmissionEvent } from '../../shared/events/events.ts';
import type { NodeContext } from '../context.ts';

/** Grace period in seconds of an orphaned pod, which exists in the runtime but is not contained in any source (C10). */
const ORPHAN_GRACE_SECONDS = 1;

/** Resource requests that are assumed for a pod whose allocation was not persisted. */
const UNKNOWN_REQUESTS: PodResourceRequests = {
  cpuMillis: 0,
  memoryBytes: 0,
  extra: {},
  hostPorts: [],
  critical: false,
  priority: null,
  qos: 'BestEffort',
};

/**
 * Returns a pod that is known only from the runtime but is not an orphan. It terminates within its own grace period.
 */
const podWithOwnGrace = (observed: ObservedPod): Pod => {
  const pod = orphanPod(observed);
  const { terminationGracePeriodSeconds: _short, ...spec } = pod.spec;
  const gracePeriods = observed.containers.flatMap(({ podGraceSeconds = [] }) => podGraceSeconds);
  // Omit the grace period if the runtime has no record of it, so that the default applies.
  return {
    ...pod,
    spec: gracePeriods.length === 0 ? spec : { ...spec, terminationGracePeriodSeconds: Math.max(...gracePeriods) },
  };
};

/**
 * Returns a pod that is known only from the runtime, with the fields required to terminate it, including preStop hooks
 * (C10).
 */
export const orphanPod = ({ uid, namespace, name, containers }: ObservedPod): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid, namespace, name },
  spec: {
    terminationGracePeriodSeconds: ORPHAN_GRACE_SECONDS,
    containers: [...Map.groupBy(containers, ({ name: containerName }) => containerName).values()].flatMap(([newest]) =>
      newest ? [orphanContainer(newest)] : [],
    ),
  },
});

function orphanContainer({ name, image, ports, preStop }: ObservedContainer): Container {
  const hook = preStop === undefined ? undefined : readHandler(preStop);
  return {
    name,
    image,
    ...(ports ? { ports: [...ports] } : {}),
    ...(hook ? { lifecycle: { preStop: hook } } : {}),
  };
}

/**
 * Returns the admission entry of a pod that only has to terminate. The entry reserves the full name and the resources
 * that the pod still holds (C24). A pod holds its admitted resources while a container may run, and its host ports
 * while a sandbox is ready. Terminated containers hold no resources (`isPodInactive` in `pkg/kubelet/kubelet_pods.go`).
 */
export function terminatingEntry(
  { allocations, statuses }: NodeContext,
  pod: Pod,
  observed: ObservedPod,
): AdmissionEvent {
  const { uid } = pod.metadata;
  const hasSandbox = observed.sandboxes.some(({ state }) => state === 'ready');
  const hasProcess = observed.containers.some(({ state }) => state === 'running' || state === 'unknown');
  const allocation = lookUp(allocations, uid);
  // The pod's host ports are read from the runtime if nothing was persisted for the pod.
  const hostPorts = allocation?.hostPorts ?? hostPortsOf(orphanPod(observed).spec);
  const requests = hasProcess && allocation ? allocation : { ...UNKNOWN_REQUESTS, hostPorts };
  const reservation = { ...requests, pod: displayName(pod.metadata) };
  const status = lookUp(statuses, uid);
  // A terminal status from a host shutdown does not prove that a static pod has ended, because the pod may have been
  // started again since.
  const hasEnded = status !== undefined && !(hasProcess && status.reason === 'Terminated');
  const holdsResources = (hasProcess || hasSandbox) && !hasEnded;
  return {
    type: 'admission.addTerminating',
    uid,
    fullName: fullName(pod),
    requests: holdsResources ? reservation : null,
  };
}

/** Returns the termination of a pod within its own grace period (at least 1 s, C10). */
export const terminationOf = (pod: Pod, reason: TerminationReason, at: number): Termination => ({
  reason,
  graceSeconds: Math.max(1, pod.spec.terminationGracePeriodSeconds ?? 30),
  at,
});

/** Returns a pod that no source has listed, reconstructed from the runtime, with its termination. */
export function terminationOfUnlisted(
  observed: ObservedPod,
  { isOrphan, at }: { readonly isOrphan: boolean; readonly at: number },
): { readonly pod: Pod; readonly termination: Termination } {
  const pod = isOrphan ? orphanPod(observed) : podWithOwnGrace(observed);
  const termination = terminationOf(pod, isOrphan ? 'Orphaned' : 'NodeShutdown', at);
  return { pod, termination: { ...termination, isUnreported: true } };
}

/**
 * Returns the termination of a pod that its source is deleting, within the grace period of the deletion (C10). Returns
 * undefined for any other pod. The terminated pod remains until its source has removed it (C12).
 */
export function deletionOf(pod: Pod, at: number): Termination | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const termination = terminationOf(pod, 'Deleted', at);
  // A deletion grace period of 0 is treated as unset, as in the kubelet.
  return {
    ...termination,
    graceSeconds: deletionGracePeriodSeconds || termination.graceSeconds,
    staysUntilUnlisted: true,
  };
}

/**
 * Returns the termination of a pod whose phase on the API server is terminal although it may still be running. The pod
 * terminates within its own grace period and retains that phase (C2). Returns undefined for any other pod.
 */
export function externalTermination(pod: Pod, at: number): Termination | undefined {
  const phase = pod.status?.phase;
  if (sourceOf(pod) !== 'api' || !isTerminalPhase(phase)) return undefined;
  return { ...terminationOf(pod, 'EndedElsewhere', at), phase, staysUntilUnlisted: true };
}

const SHUTDOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/**
 * Returns the termination of a pod before the host shuts down (C49). The pod remains on the node with the phase Failed
 * until its source no longer contains it.
 */
export const shutdownTerminationOf = (pod: Pod, period: ShutdownPeriod, at: number): Termination => ({
  reason: 'Terminated',
  message: SHUTDOWN_MESSAGE,
  graceSeconds: Math.max(1, shutdownGraceSeconds(pod, period)),
  phase: 'Failed',
  at,
  staysUntilUnlisted: true,
  disruption: SHUTDOWN_MESSAGE,
  isAwaited: true,
});

/**
 * Returns the termination of a pod that makes room for a critical one (C24). The pod remains on the node with the phase
 * Failed until its source no longer contains it.
 */
export const preemptionOf = (pod: Pod, at: number): Termination => ({
  ...terminationOf(pod, 'Preempting', at),
  message: 'Preempted in order to admit critical pod',
  phase: 'Failed',
  staysUntilUnlisted: true,
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
});
