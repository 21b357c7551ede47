import { orderedPodIps } from '../../base/ipAddress.ts';
import { isJsonEqual } from '../../base/values/isJsonEqual.ts';
import type { PodPhase, PodStatus } from '../api/schema/status.ts';
import { rfc3339 } from '../api/values/rfc3339.ts';
import { withDeviceStatuses } from '../devices/deviceStatus.ts';
import { effectiveResources } from '../resources/effectiveResources.ts';
import { qosClass } from '../resources/qos.ts';
import { isForeignCondition, podConditions } from './conditions.ts';
import { containerStatuses } from './containerStatuses.ts';
import { conditionPhase, DEADLINE_EXCEEDED, isTerminalPhase, podPhase } from './phase.ts';
import { withUnknownRuns } from './unknownRuns.ts';
import type { PodView } from './view.ts';

interface PodStatusOptions {
  /**
   * The last reported status. It supplies transition times, the start time, addresses, a terminal phase and runs that
   * the runtime has lost. Defaults to the pod's status at its source, or else to the container states that an earlier
   * agent persisted.
   */
  readonly previous?: PodStatus;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** Addresses of the node, starting with the primary one. */
  readonly hostIps: readonly string[];
  /** Scheme of container IDs, e.g. `containerd`. */
  readonly runtimeName: string;
  /** Whether to report the health of devices. Defaults to true. */
  readonly reportsDeviceHealth?: boolean;
  /** Generation to report. Defaults to the pod's own `metadata.generation`. */
  readonly observedGeneration?: number;
}

/** Computes the complete status of a pod from the views of its actors and the previous status. */
export function podStatus(observedView: PodView, options: PodStatusOptions): PodStatus {
  if (observedView.restoredStatus) return observedView.restoredStatus;
  const { now, hostIps, reportsDeviceHealth = true } = options;
  const previous: PodStatus | undefined = options.previous ?? observedView.pod.status ?? observedView.containerEnds;
  const completeView = withUnknownRuns(observedView, previous);
  const view = reportsDeviceHealth ? completeView : withoutDevices(completeView);
  const observedGeneration = options.observedGeneration ?? view.pod.metadata.generation;
  const phase = podPhase(view, previous?.phase);
  const {
    init,
    regular: regularWithoutDevices,
    ephemeral,
  } = containerStatuses(view, { previous, runtimeName: options.runtimeName });
  const regular = withDeviceStatuses(regularWithoutDevices, view.devices);
  const statuses = [...init, ...regular];
  const startTime = previous?.startTime ?? (view.startedAt === undefined ? undefined : rfc3339(view.startedAt));
  const commonFields = {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    phase,
    ...phaseReason(view, phase, previous),
    // The start time is unknown until the node has started the pod or the runtime has reported that the pod is already
    // running.
    ...(startTime === undefined ? {} : { startTime }),
    ...qosClassField(view, previous),
  };
  if (view.refusal && statuses.length === 0) return { ...commonFields, ...refusedConditions(view) };
  return {
    ...commonFields,
    conditions: podConditions({
      view,
      phase,
      conditionPhase: conditionPhase(view, phase),
      statuses,
      previous,
      now,
      observedGeneration,
    }),
    ...(hostIps[0] === undefined ? {} : { hostIP: hostIps[0], hostIPs: toIpObjects(hostIps.slice(0, 2)) }),
    ...podAddresses(view, hostIps, previous),
    ...(view.refusal ? {} : podResources(view)),
    ...(init.length > 0 ? { initContainerStatuses: init } : {}),
    ...(regular.length > 0 ? { containerStatuses: regular } : {}),
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: ephemeral } : {}),
  };
}

/** Returns a view without the pod's claims and devices, whose health would otherwise be reported. */
const withoutDevices = ({ claims: _claims, devices: _devices, ...view }: PodView): PodView => view;

/**
 * Returns the QoS class. It is not reported until the node admits the pod, because an edit of the pod can change it
 * until then. After admission, it remains the same, because an API server would reject a different class (C15).
 */
function qosClassField(view: PodView, previous?: PodStatus): Pick<PodStatus, 'qosClass'> {
  const previousClass = previous?.qosClass;
  if (previousClass === undefined && isUndecided(view)) return {};
  return { qosClass: previousClass ?? qosClass(view.pod.spec) };
}

/**
 * Whether the node has not decided yet whether to admit the pod. Until then, the spec in the view is the requested one
 * instead of the admitted one.
 */
export const isUndecided = ({ tags }: PodView): boolean => UNDECIDED_TAGS.some((tag) => tags.includes(tag));

const UNDECIDED_TAGS = ['awaitingNode', 'ofOthers', 'admitting'];

/**
 * Returns the resources that were admitted for the pod and those of its cgroup. They differ while a resize is in
 * progress (C15).
 */
function podResources({ pod, appliedSpec, hasEnded }: PodView): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const admittedResources = effectiveResources(pod.spec);
  const resources = appliedSpec === undefined || hasEnded ? admittedResources : effectiveResources(appliedSpec);
  return { ...(admittedResources.requests ? { allocatedResources: admittedResources.requests } : {}), resources };
}

/**
 * Returns the conditions of a refused pod. These are only the conditions of other components, because the node does not
 * report the pod as scheduled.
 */
function refusedConditions({ conditions = [] }: PodView): Pick<PodStatus, 'conditions'> {
  const externalConditions = conditions.filter(isForeignCondition);
  return externalConditions.length > 0 ? { conditions: externalConditions } : {};
}

/**
 * Returns the reason and message of the phase. They change only together with the phase. For a new phase, they explain
 * why the pod was terminated.
 */
function phaseReason(view: PodView, phase: PodPhase, previous?: PodStatus): Pick<PodStatus, 'reason' | 'message'> {
  if (phase === previous?.phase) return reasonAndMessage(previous.reason, previous.message);
  if (!isTerminalPhase(phase)) return {};
  if (view.refusal) return reasonAndMessage(view.refusal.reason, `Pod was rejected: ${view.refusal.message}`);
  if (view.exceedsDeadline) return reasonAndMessage('DeadlineExceeded', DEADLINE_EXCEEDED);
  const termination = view.termination;
  return termination?.phase === phase ? reasonAndMessage(termination.reason, termination.message) : {};
}

function reasonAndMessage(
  reason: string | undefined,
  message: string | undefined,
): Pick<PodStatus, 'reason' | 'message'> {
  return { ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

/**
 * Returns the addresses of the pod, at most one per family (C27). A pod without a ready sandbox retains its previous
 * addresses.
 */
function podAddresses(view: PodView, hostIps: readonly string[], previous?: PodStatus): Partial<PodStatus> {
  const previousIps = previous?.podIPs?.map(({ ip }) => ip) ?? [];
  const ips = view.pod.spec.hostNetwork
    ? hostNetworkIps(view, hostIps, previousIps)
    : sandboxIps(view, hostIps, previousIps);
  return ips[0] === undefined ? {} : { podIP: ips[0], podIPs: toIpObjects(ips) };
}

/**
 * Returns the addresses of a pod with hostNetwork. The first address never changes. The node's second address is added
 * if it belongs to the other address family.
 */
function hostNetworkIps(view: PodView, hostIps: readonly string[], previousIps: readonly string[]): readonly string[] {
  if (view.refusal) return previousIps;
  const [first] = previousIps.length > 0 ? previousIps : hostIps;
  return first === undefined
    ? []
    : orderedPodIps([...(previousIps.length > 0 ? previousIps : [first]), ...hostIps.slice(1, 2)], [first]);
}

function sandboxIps(
  { sandbox }: PodView,
  hostIps: readonly string[],
  previousIps: readonly string[],
): readonly string[] {
  const currentIps = sandbox?.state === 'ready' ? orderedPodIps(sandbox.ips ?? [], hostIps) : [];
  return currentIps.length > 0 ? currentIps : previousIps;
}

function toIpObjects(ips: readonly string[]): { ip: string }[] {
  return ips.map((ip) => ({ ip }));
}

/** Whether two statuses are equal, in which case there is nothing to report. Ignores the order of keys. */
export function isSamePodStatus(a: PodStatus | undefined, b: PodStatus | undefined): boolean {
  return isJsonEqual(a, b);
}
