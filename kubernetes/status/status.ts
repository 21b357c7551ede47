import { orderedPodIps } from '../../base/ipAddress.ts';
import { sameValue } from '../../base/sameValue.ts';
import { rfc3339 } from '../api/rfc3339.ts';
import type { PodPhase, PodStatus } from '../api/schema/status.ts';
import { effectiveResources } from '../resources/effectiveResources.ts';
import { qosClass } from '../resources/qos.ts';
import { isOfOthers, podConditions } from './conditions.ts';
import { containerStatuses } from './containerStatuses.ts';
import { comingPhase, DEADLINE_EXCEEDED, isTerminalPhase, podPhase } from './phase.ts';
import type { PodView } from './view.ts';

interface PodStatusOptions {
  /**
   * The status that was reported last, from which transition times, the start time, addresses, a terminal phase and runs
   * that the runtime has lost carry over. Defaults to the status that the pod has at its source, or to what an earlier
   * agent has persisted of it.
   */
  readonly previous?: PodStatus;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The node's addresses, the primary first. */
  readonly hostIps: readonly string[];
  /** The scheme of container ids: `containerd`. */
  readonly runtimeName: string;
  /** Absent means the pod's own `metadata.generation`. */
  readonly observedGeneration?: number;
}

/** The whole status of a pod, computed from what its actors show and from the status before. */
export function podStatus(view: PodView, options: PodStatusOptions): PodStatus {
  if (view.restored) return view.restored;
  const { now, hostIps } = options;
  const previous: PodStatus | undefined = options.previous ?? view.pod.status ?? view.containerEnds;
  const observedGeneration = options.observedGeneration ?? view.pod.metadata.generation;
  const phase = podPhase(view, previous?.phase);
  const { init, regular, ephemeral } = containerStatuses(view, { previous, runtimeName: options.runtimeName });
  const statuses = [...init, ...regular];
  const startTime = previous?.startTime ?? (view.startedAt === undefined ? undefined : rfc3339(view.startedAt));
  const always = {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    phase,
    ...phaseReason(view, phase, previous),
    // Before the node has begun with it: it may run already, which the runtime has yet to say.
    ...(startTime === undefined ? {} : { startTime }),
    ...ownClass(view, previous),
  };
  if (view.refused && statuses.length === 0) return { ...always, ...conditionsLeft(view) };
  return {
    ...always,
    conditions: podConditions({
      view,
      phase,
      comingPhase: comingPhase(view, phase),
      statuses,
      previous,
      now,
      observedGeneration,
    }),
    ...(hostIps[0] === undefined ? {} : { hostIP: hostIps[0], hostIPs: listed(hostIps.slice(0, 2)) }),
    ...podAddresses(view, hostIps, previous),
    ...(view.refused ? {} : ownResources(view)),
    ...(init.length > 0 ? { initContainerStatuses: init } : {}),
    ...(regular.length > 0 ? { containerStatuses: regular } : {}),
    ...(ephemeral.length > 0 ? { ephemeralContainerStatuses: ephemeral } : {}),
  };
}

/** Decided when the node takes the pod: until then an edit may change it, and an API server would refuse that (C15). */
function ownClass(view: PodView, previous?: PodStatus): Pick<PodStatus, 'qosClass'> {
  const known = previous?.qosClass;
  if (known === undefined && isUndecided(view)) return {};
  return { qosClass: known ?? qosClass(view.pod.spec) };
}

/** Whether the node has yet to take the pod: it is shown as it is wanted, not as it was admitted. */
export const isUndecided = ({ tags }: PodView): boolean => UNDECIDED.some((tag) => tags.includes(tag));

const UNDECIDED = ['awaitingNode', 'ofOthers', 'admitting'];

/** What was admitted for the pod, and what its cgroup has: they differ while a resize is under way (C15). */
function ownResources({ pod, applied, ended }: PodView): Pick<PodStatus, 'allocatedResources' | 'resources'> {
  const admitted = effectiveResources(pod.spec);
  const resources = applied === undefined || ended ? admitted : effectiveResources(applied);
  return { ...(admitted.requests ? { allocatedResources: admitted.requests } : {}), resources };
}

/** Of a pod that was never taken the node has no more to say than why, not even that it was scheduled: what others said stands. */
function conditionsLeft({ conditions = [] }: PodView): Pick<PodStatus, 'conditions'> {
  const others = conditions.filter(isOfOthers);
  return others.length > 0 ? { conditions: others } : {};
}

/** Why the pod has this phase: kept as long as the phase is, else what ended the pod. */
function phaseReason(view: PodView, phase: PodPhase, previous?: PodStatus): Pick<PodStatus, 'reason' | 'message'> {
  if (phase === previous?.phase) return worded(previous.reason, previous.message);
  if (!isTerminalPhase(phase)) return {};
  if (view.refused) return worded(view.refused.reason, `Pod was rejected: ${view.refused.message}`);
  if (view.exceedsDeadline) return worded('DeadlineExceeded', DEADLINE_EXCEEDED);
  const cause = view.termination;
  return cause?.phase === phase ? worded(cause.reason, cause.message) : {};
}

function worded(reason: string | undefined, message: string | undefined): Pick<PodStatus, 'reason' | 'message'> {
  return { ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

/** At most one address of each family (C27). A pod without a live sandbox retains the addresses that it had. */
function podAddresses(view: PodView, hostIps: readonly string[], previous?: PodStatus): Partial<PodStatus> {
  const had = previous?.podIPs?.map(({ ip }) => ip) ?? [];
  const ips = view.pod.spec.hostNetwork ? hostNetworkIps(view, hostIps, had) : sandboxIps(view, hostIps, had);
  return ips[0] === undefined ? {} : { podIP: ips[0], podIPs: listed(ips) };
}

/** A pod's first address never changes. A second address of the node joins it if it is of the other family. */
function hostNetworkIps(view: PodView, hostIps: readonly string[], had: readonly string[]): readonly string[] {
  if (view.refused) return had;
  const [first] = had.length > 0 ? had : hostIps;
  return first === undefined
    ? []
    : orderedPodIps([...(had.length > 0 ? had : [first]), ...hostIps.slice(1, 2)], [first]);
}

function sandboxIps({ sandbox }: PodView, hostIps: readonly string[], had: readonly string[]): readonly string[] {
  const live = sandbox?.state === 'ready' ? orderedPodIps(sandbox.ips ?? [], hostIps) : [];
  return live.length > 0 ? live : had;
}

function listed(ips: readonly string[]): { ip: string }[] {
  return ips.map((ip) => ({ ip }));
}

/** Whether two statuses say the same: what changed is told, what did not is not. The order of keys does not count. */
export function samePodStatus(a: PodStatus | undefined, b: PodStatus | undefined): boolean {
  return sameValue(a, b);
}
