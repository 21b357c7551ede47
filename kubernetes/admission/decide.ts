/**
 * Decides whether a node admits a pod. The checks, their order, their reasons and their messages are those of the
 * kubelet.
 */
import { needsAppArmor } from '../api/appArmor.ts';
import { containersOf } from '../api/pods/containers.ts';
import { isStaticPod } from '../api/pods/staticPod.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { unsupportedFeatures } from '../node/declaredFeatures.ts';
import { type Capacity, type PodRequests, portConflict, refusalFor, shortages } from '../resources/requests.ts';
import type { AdmissionNode, Taint } from './node.ts';
import { nodeMismatch } from './nodeAffinity.ts';
import { type Occupant, selectVictims } from './preemption.ts';
import { pressureRefusal } from './pressure.ts';
import type { Refusal, RefusalReason, Shortage } from './refusal.ts';
import { shortageCause } from './refusal.ts';
import { sysctlRefusal } from './sysctls.ts';
import { untoleratedTaint } from './taints.ts';

/** A pod whose admission has to be decided. */
export interface Candidate {
  readonly pod: Pod;
  readonly requests: PodRequests;
  /**
   * Whether the pod was admitted before the agent restarted. Such a pod is not refused because of labels or taints,
   * which may have changed since its admission.
   */
  readonly wasAdmitted: boolean;
}

/** The node's capacity, and the pods that use it. */
export interface NodeUsage {
  readonly node: AdmissionNode;
  readonly capacity: Capacity;
  readonly occupants: readonly Occupant[];
  /** Requests of the pods that are waiting for resources. The node reserves the requested resources for them. */
  readonly reserved: readonly PodRequests[];
}

export type Decision =
  | { readonly kind: 'admitted' }
  /**
   * `isByLabels` is true if the node's labels are the only reason for the refusal, in which case a change of the labels
   * could lift the refusal.
   */
  | ({ readonly kind: 'refused'; readonly isByLabels?: true } & Refusal)
  /**
   * The pods with these UIDs must be terminated before the pod can be admitted. `resource` is the first resource that
   * is insufficient.
   */
  | { readonly kind: 'preempting'; readonly uids: readonly string[]; readonly resource: string };

/**
 * Decides whether to admit one pod. A critical pod is not refused for a lack of resources that preemption can free
 * (C24).
 */
export function decideAdmission(candidate: Candidate, { node, capacity, occupants, reserved }: NodeUsage): Decision {
  const { pod, requests } = candidate;
  const permanentRefusal = pressureRefusal(pod.spec, requests, node.pressure) ?? permanentRefusalOf(pod, node);
  if (permanentRefusal) return { kind: 'refused', ...permanentRefusal };
  const otherRequests = [...occupants.map((each) => each.requests), ...reserved];
  const missingResources = shortages(requests, otherRequests, capacity);
  const [firstRefusal, ...otherRefusals] = nonResourceRefusals(candidate, node, otherRequests);
  const [firstShortage] = missingResources;
  if (firstShortage && !requests.critical) return { kind: 'refused', ...refusalFor(firstShortage) };
  // Disregard missing AppArmor support and missing features, because the kubelet checks these only if nothing else
  // prevents admission.
  const isByLabels =
    firstShortage === undefined && firstRefusal?.reason === 'NodeAffinity' && otherRefusals.every(isCheckedLast);
  if (firstRefusal) return { kind: 'refused', ...(isByLabels ? { isByLabels } : {}), ...firstRefusal };
  // Check for a shutdown before preemption, so that no pod is preempted for a pod that is refused anyway. The kubelet
  // checks for a shutdown only after it has preempted pods.
  if (node.isShuttingDown) return { kind: 'refused', ...SHUTDOWN_REFUSAL };
  return firstShortage === undefined ? { kind: 'admitted' } : decidePreemption(requests, missingResources, occupants);
}

/** Refusal of a pod while the host shuts down (`pkg/kubelet/nodeshutdown/nodeshutdown_manager.go`). */
const SHUTDOWN_REFUSAL: Refusal = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

const isCheckedLast = ({ reason }: Refusal): boolean => reason === 'AppArmor' || reason === 'PodFeatureUnsupported';

/**
 * Decides whether an admitted pod may change its resources, with the same rules for refusal and preemption as for a new
 * pod.
 */
export function decideUpdate(
  requests: PodRequests,
  { capacity, occupants, reserved }: Omit<NodeUsage, 'node'>,
): Decision {
  const otherRequests = [...occupants.map((each) => each.requests), ...reserved];
  const missingResources = shortages(requests, otherRequests, capacity);
  const [firstShortage] = missingResources;
  const portRefusal = portConflict(requests, otherRequests);
  if (firstShortage && !requests.critical) return { kind: 'refused', ...refusalFor(firstShortage) };
  if (portRefusal) return { kind: 'refused', ...portRefusal };
  return firstShortage === undefined ? { kind: 'admitted' } : decidePreemption(requests, missingResources, occupants);
}

/** Selects pods to preempt for a critical pod that needs more resources than are free. */
function decidePreemption(
  requests: PodRequests,
  missingResources: readonly Shortage[],
  occupants: readonly Occupant[],
): Decision {
  const preemption = selectVictims(requests, missingResources, occupants);
  if ('victims' in preemption) {
    return {
      kind: 'preempting',
      uids: preemption.victims.map(({ uid }) => uid),
      resource: missingResources[0]?.resource ?? '',
    };
  }
  const causes = missingResources.slice(0, 1).map(shortageCause);
  return { kind: 'refused', ...preemptionRefusal(preemption.unmet), cause: causes.join() };
}

/**
 * Returns the refusal if there is a reason for it that neither the termination of other pods nor a change of the node's
 * labels can remove.
 */
function permanentRefusalOf({ metadata, spec }: Pod, { sysctls, strictGroups }: AdmissionNode): Refusal | undefined {
  const forbiddenSysctl = sysctlRefusal(spec, sysctls);
  if (forbiddenSysctl) return forbiddenSysctl;
  if ((metadata.labels?.['kubernetes.io/os'] ?? 'linux') !== 'linux') {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message };
  }
  if (spec.os !== undefined && spec.os.name !== 'linux') {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  if (hasWindowsOptions(spec)) {
    const message = 'Failed to admit pod as it has Windows options, which have no effect on a node with Linux';
    return { reason: 'PodOSNotSupported', message };
  }
  if (spec.securityContext?.supplementalGroupsPolicy === 'Strict' && !strictGroups) {
    const message = 'SupplementalGroupsPolicy=Strict is not supported in this node';
    return { reason: 'SupplementalGroupsPolicyNotSupported', message };
  }
  return undefined;
}

/** Whether the pod or a container has Windows options, which the kubelet on Linux ignores. */
function hasWindowsOptions(spec: PodSpec): boolean {
  const securityContexts = [
    spec.securityContext,
    ...containersOf(spec).map(({ container }) => container.securityContext),
  ];
  return securityContexts.some((context) => Object.keys(context?.windowsOptions ?? {}).length > 0);
}

/** Returns the refusals for all reasons other than insufficient resources. */
function nonResourceRefusals(
  { pod, requests, wasAdmitted }: Candidate,
  node: AdmissionNode,
  otherRequests: readonly PodRequests[],
): Refusal[] {
  const { spec } = pod;
  const mismatch = wasAdmitted ? undefined : nodeMismatch(spec, node);
  const featureProblem = unsupportedFeatures(spec);
  const portRefusal = portConflict(requests, otherRequests);
  const taint = wasAdmitted || isStaticPod(pod) ? undefined : untoleratedTaint(spec, node.taints);
  return [
    ...(mismatch === undefined
      ? []
      : [
          { ...predicateRefusal('NodeAffinity', "node(s) didn't match Pod's node affinity/selector"), cause: mismatch },
        ]),
    ...(!spec.nodeName || spec.nodeName === node.name
      ? []
      : [
          {
            ...predicateRefusal('NodeName', "node(s) didn't match the requested node name"),
            cause: `needs node ${spec.nodeName}, but this is node ${node.name}`,
          },
        ]),
    ...(portRefusal ? [portRefusal] : []),
    ...(taint === undefined
      ? []
      : [
          {
            ...predicateRefusal('TaintToleration', "node(s) had taints that the pod didn't tolerate"),
            cause: `needs a toleration for taint ${formatTaint(taint)}`,
          },
        ]),
    ...(node.appArmor || !needsAppArmor(pod)
      ? []
      : [{ reason: 'AppArmor' as const, message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }]),
    ...(featureProblem === undefined ? [] : [{ reason: 'PodFeatureUnsupported' as const, message: featureProblem }]),
  ];
}

/** Formats a taint like kubectl, e.g. `gpu=yes:NoExecute`. */
const formatTaint = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect}`;

const predicateRefusal = (predicate: RefusalReason, detail: string): Refusal => ({
  reason: predicate,
  message: `Predicate ${predicate} failed: ${detail}`,
});

/**
 * Returns the refusal of a critical pod for which preemption cannot free enough resources. The reason in this refusal
 * differs from the reason for a plain shortage (C24).
 */
function preemptionRefusal(unmetDescription: string): Refusal {
  const cause = `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: ${unmetDescription}`;
  const message = `Unexpected error while attempting to recover from admission failure: ${cause}`;
  return { reason: 'UnexpectedAdmissionError', message };
}
