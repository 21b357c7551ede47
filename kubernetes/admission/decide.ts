/** Whether a node takes a pod: every question that the kubelet asks, in its order and with its reasons and messages. */
import { needsAppArmor } from '../api/appArmor.ts';
import { containersOf } from '../api/containers.ts';
import type { Pod, PodSpec } from '../api/schema/pod.ts';
import { isStaticPod } from '../api/staticPod.ts';
import { unsupportedFeatures } from '../node/declaredFeatures.ts';
import { type Capacity, type PodRequests, portConflict, refusalFor, shortages } from '../resources/requests.ts';
import type { AdmissionNode, Taint } from './node.ts';
import { nodeMismatch } from './nodeAffinity.ts';
import { type Occupant, preemption } from './preemption.ts';
import type { Refusal, RefusalReason, Shortage } from './refusal.ts';
import { shortageCause } from './refusal.ts';
import { sysctlRefusal } from './sysctls.ts';
import { untoleratedTaint } from './taints.ts';

/** A pod that asks to be admitted. */
export interface Candidate {
  readonly pod: Pod;
  readonly requests: PodRequests;
  /** It had been admitted before a restart of the agent: labels and taints that changed since do not turn it away. */
  readonly known: boolean;
}

/** The node as it is: what it has, and who takes of it. */
export interface Room {
  readonly node: AdmissionNode;
  readonly capacity: Capacity;
  readonly occupants: readonly Occupant[];
  /** What is promised to pods that have not come yet. */
  readonly reserved: readonly PodRequests[];
}

export type Decision =
  | { readonly kind: 'admitted' }
  /** `isByLabels`: nothing speaks against it but the labels of the node. */
  | ({ readonly kind: 'refused'; readonly isByLabels?: true } & Refusal)
  /** These pods must end first. `resource` is the first that is short. */
  | { readonly kind: 'preempting'; readonly uids: readonly string[]; readonly resource: string };

/** Decides on one pod. A critical one is never refused for what the end of others can give it (C24). */
export function decide(candidate: Candidate, { node, capacity, occupants, reserved }: Room): Decision {
  const { pod, requests } = candidate;
  const never = unfit(pod, node);
  if (never) return { kind: 'refused', ...never };
  const others = [...occupants.map((each) => each.requests), ...reserved];
  const short = shortages(requests, others, capacity);
  const [misfit, ...more] = misfits(candidate, node, others);
  const [first] = short;
  if (first && !requests.critical) return { kind: 'refused', ...refusalFor(first) };
  // A kubelet checks AppArmor and the declared features after everything else.
  const isByLabels = first === undefined && misfit?.reason === 'NodeAffinity' && more.every(isCheckedLast);
  if (misfit) return { kind: 'refused', ...(isByLabels ? { isByLabels } : {}), ...misfit };
  return first === undefined ? { kind: 'admitted' } : byPreemption(requests, short, occupants);
}

const isCheckedLast = ({ reason }: Refusal): boolean => reason === 'AppArmor' || reason === 'PodFeatureUnsupported';

/** Decides on other resources of a pod that was admitted: what a pod is refused for holds for them, and so does who goes before whom. */
export function decideUpdate(requests: PodRequests, { capacity, occupants, reserved }: Omit<Room, 'node'>): Decision {
  const others = [...occupants.map((each) => each.requests), ...reserved];
  const short = shortages(requests, others, capacity);
  const [first] = short;
  const port = portConflict(requests, others);
  if (first && !requests.critical) return { kind: 'refused', ...refusalFor(first) };
  if (port) return { kind: 'refused', ...port };
  return first === undefined ? { kind: 'admitted' } : byPreemption(requests, short, occupants);
}

/** Who ends for a critical pod that is short of something. */
function byPreemption(requests: PodRequests, short: readonly Shortage[], occupants: readonly Occupant[]): Decision {
  const found = preemption(requests, short, occupants);
  if ('victims' in found) {
    return { kind: 'preempting', uids: found.victims.map(({ uid }) => uid), resource: short[0]?.resource ?? '' };
  }
  const causes = short.slice(0, 1).map(shortageCause);
  return { kind: 'refused', ...unexpected(found.unmet), cause: causes.join() };
}

/** What no other pod's end could change, and no change of the node's labels. */
function unfit({ metadata, spec }: Pod, { sysctls, strictGroups }: AdmissionNode): Refusal | undefined {
  const forbidden = sysctlRefusal(spec, sysctls);
  if (forbidden) return forbidden;
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

/** Whether the pod or a container sets an option for Windows. A kubelet on Linux ignores such options. */
function hasWindowsOptions(spec: PodSpec): boolean {
  const contexts = [spec.securityContext, ...containersOf(spec).map(({ container }) => container.securityContext)];
  return contexts.some((context) => Object.keys(context?.windowsOptions ?? {}).length > 0);
}

/** Everything but resources that is wrong between pod and node. */
function misfits({ pod, requests, known }: Candidate, node: AdmissionNode, others: readonly PodRequests[]): Refusal[] {
  const { spec } = pod;
  const mismatch = known ? undefined : nodeMismatch(spec, node);
  const features = unsupportedFeatures(spec);
  const port = portConflict(requests, others);
  const taint = known || isStaticPod(pod) ? undefined : untoleratedTaint(spec, node.taints);
  return [
    ...(mismatch === undefined
      ? []
      : [{ ...failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector"), cause: mismatch }]),
    ...(!spec.nodeName || spec.nodeName === node.name
      ? []
      : [
          {
            ...failed('NodeName', "node(s) didn't match the requested node name"),
            cause: `needs node ${spec.nodeName}, but this is node ${node.name}`,
          },
        ]),
    ...(port ? [port] : []),
    ...(taint === undefined
      ? []
      : [
          {
            ...failed('TaintToleration', "node(s) had taints that the pod didn't tolerate"),
            cause: `needs a toleration for taint ${taintText(taint)}`,
          },
        ]),
    ...(node.appArmor || !needsAppArmor(pod)
      ? []
      : [{ reason: 'AppArmor' as const, message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }]),
    ...(features === undefined ? [] : [{ reason: 'PodFeatureUnsupported' as const, message: features }]),
  ];
}

/** `gpu=yes:NoExecute`, as kubectl writes a taint. */
const taintText = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ''}:${effect}`;

const failed = (predicate: RefusalReason, why: string): Refusal => ({
  reason: predicate,
  message: `Predicate ${predicate} failed: ${why}`,
});

/** A critical pod would preempt others; when that gives nothing the reason is not the shortage itself (C24). */
function unexpected(unmet: string): Refusal {
  const cause = `preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: ${unmet}`;
  const message = `Unexpected error while attempting to recover from admission failure: ${cause}`;
  return { reason: 'UnexpectedAdmissionError', message };
}
