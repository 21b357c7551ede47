/** How pods end that the node does not want any more, also those of which only the runtime knows. */

import { lookUp } from '../../base/lookUp.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { readHandler } from '../../kubernetes/api/schema/probe.ts';
import { fullName, sourceOf } from '../../kubernetes/api/staticPod.ts';
import type { ObservedContainer, ObservedPod } from '../../kubernetes/lifecycle/observed.ts';
import { hostPortsOf, type PodResourceRequests } from '../../kubernetes/resources/requests.ts';
import { displayName } from '../../kubernetes/shownName.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';
import type { Termination, TerminationReason } from '../../kubernetes/status/view.ts';
import type { AdmissionEvent } from '../shared/events.ts';
import type { NodeContext } from './context.ts';

/** A pod that no source wants and that the runtime still has gets so long (C10). */
const ORPHAN_GRACE_SECONDS = 1;

/** The requests of a pod whose allocation was not persisted. */
const NOTHING_KNOWN: PodResourceRequests = {
  cpuMillis: 0,
  memoryBytes: 0,
  extra: {},
  hostPorts: [],
  critical: false,
  priority: null,
  qos: 'BestEffort',
};

/** A pod known only from the runtime, as it ends where it was not meant to stay without its manifest: in its own grace. */
const podWithOwnGrace = (observed: ObservedPod): Pod => {
  const pod = podOfOrphan(observed);
  const { terminationGracePeriodSeconds: _short, ...spec } = pod.spec;
  const graces = observed.containers.flatMap(({ podGraceSeconds = [] }) => podGraceSeconds);
  // Where none was noted it is that of a pod that says nothing.
  return { ...pod, spec: graces.length === 0 ? spec : { ...spec, terminationGracePeriodSeconds: Math.max(...graces) } };
};

/** A pod known only from the runtime: enough of one to end it, its preStop hooks included (C10). */
export const podOfOrphan = ({ uid, namespace, name, containers }: ObservedPod): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid, namespace, name },
  spec: {
    terminationGracePeriodSeconds: ORPHAN_GRACE_SECONDS,
    containers: [...Map.groupBy(containers, ({ name: of }) => of).values()].flatMap(([newest]) =>
      newest ? [containerOfOrphan(newest)] : [],
    ),
  },
});

function containerOfOrphan({ name, image, ports, preStop }: ObservedContainer): Container {
  const hook = preStop === undefined ? undefined : readHandler(preStop);
  return {
    name,
    image,
    ...(ports ? { ports: [...ports] } : {}),
    ...(hook ? { lifecycle: { preStop: hook } } : {}),
  };
}

/**
 * Returns what admission needs of a pod that only has to end: its full name, and what it still holds (C24). A pod holds what
 * it was admitted for while a container may run, and its host ports while a sandbox is ready. Terminated containers hold
 * nothing (`isPodInactive` in `pkg/kubelet/kubelet_pods.go`).
 */
export function entryOfEnding({ allocations, statuses }: NodeContext, pod: Pod, observed: ObservedPod): AdmissionEvent {
  const { uid } = pod.metadata;
  const hasSandbox = observed.sandboxes.some(({ state }) => state === 'ready');
  const hasProcess = observed.containers.some(({ state }) => state === 'running' || state === 'unknown');
  const admitted = lookUp(allocations, uid);
  // The runtime has the ports of a pod of which nothing was persisted.
  const hostPorts = admitted?.hostPorts ?? hostPortsOf(podOfOrphan(observed));
  const requests = hasProcess && admitted ? admitted : { ...NOTHING_KNOWN, hostPorts };
  const held = { ...requests, pod: displayName(pod.metadata) };
  const holdsAny = (hasProcess || hasSandbox) && lookUp(statuses, uid) === undefined;
  return { type: 'admission.addEnding', uid, fullName: fullName(pod), requests: holdsAny ? held : null };
}

/** The command for a pod that is to go, with the pod's own grace (at least 1 s, C10). */
export const terminationOf = (pod: Pod, reason: TerminationReason, at: number): Termination => ({
  reason,
  graceSeconds: Math.max(1, pod.spec.terminationGracePeriodSeconds ?? 30),
  at,
});

/** A pod of which no source has told, as far as the runtime knows it, and the command that ends it. */
export function endingOfUnheard(
  observed: ObservedPod,
  { isOrphan, at }: { readonly isOrphan: boolean; readonly at: number },
): { readonly pod: Pod; readonly termination: Termination } {
  const pod = isOrphan ? podOfOrphan(observed) : podWithOwnGrace(observed);
  const termination = terminationOf(pod, isOrphan ? 'Orphaned' : 'NodeShutdown', at);
  return { pod, termination: { ...termination, isUnheard: true } };
}

/**
 * The command for a pod that its source says is being deleted, within the grace that goes with that (C10); undefined for
 * any other. It stays, as one that has ended, until its source lets it go (C12).
 */
export function deletionOf(pod: Pod, at: number): Termination | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const own = terminationOf(pod, 'Deleted', at);
  // As with a kubelet 0 says nothing.
  return { ...own, graceSeconds: deletionGracePeriodSeconds || own.graceSeconds, stays: true };
}

/**
 * The command for a pod of which its API server says that it has ended while it may run yet: it ends within its own grace,
 * and has the phase that the server says (C2).
 */
export function endElsewhere(pod: Pod, at: number): Termination | undefined {
  const phase = pod.status?.phase;
  if (sourceOf(pod) !== 'api' || !isTerminalPhase(phase)) return undefined;
  return { ...terminationOf(pod, 'EndedElsewhere', at), phase, stays: true };
}

/** The command for a pod that makes room for a critical one (C24): it stays, Failed, until its source does not want it. */
export const preemptionOf = (pod: Pod, at: number): Termination => ({
  ...terminationOf(pod, 'Preempting', at),
  message: 'Preempted in order to admit critical pod',
  phase: 'Failed',
  stays: true,
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
});
