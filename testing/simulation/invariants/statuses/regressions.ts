/** Detects regressions between two statuses of a pod that the API server would accept. */
import { containersOf } from '../../../../kubernetes/api/pods/containers.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import { statusesOf } from './apiRules.ts';

/** Relation between two statuses of a pod. */
export interface StatusRelation {
  /** Whether the same agent has sent both statuses. */
  readonly isSameAgent: boolean;
  /** Whether the timestamp `first` may precede `then` on a wall clock that may have been set. */
  readonly mayPrecede: (first: number, then: number) => boolean;
  /** Returns the restart count of a container that the agent can still know. */
  readonly knownRestarts: (status: ContainerStatus) => number;
  /** Whether the runtime has lost the start time of the container with this ID. */
  readonly hasLostStart?: (id: string) => boolean;
  /** Spec of the pod as it is wanted now. Undefined if unknown. */
  readonly spec?: PodSpec | undefined;
}

export function regressions(before: PodStatus, now: PodStatus, between: StatusRelation): string[] {
  const { isSameAgent, mayPrecede } = between;
  const isSameStart = before.startTime === undefined || before.startTime === now.startTime;
  const [generation = 0, next = 0] = [before.observedGeneration, now.observedGeneration];
  return [
    ...(isTerminalPhase(before.phase) && now.phase !== before.phase
      ? [`phase ${before.phase} became ${now.phase}`]
      : []),
    // A new agent takes the start time of a pod from its oldest sandbox.
    ...(isSameAgent && !isSameStart ? [`startTime ${before.startTime} became ${now.startTime}`] : []),
    ...(next < generation ? [`observedGeneration ${generation} became ${next}`] : []),
    ...(isSameAgent ? conditionRegressions(before, now, mayPrecede) : []),
    ...containerRegressions(before, now, between),
  ];
}

/** Checks that the last transition time never decreases. Not every transition is reported. */
function conditionRegressions(
  { conditions = [] }: PodStatus,
  now: PodStatus,
  mayPrecede: StatusRelation['mayPrecede'],
): string[] {
  return conditions.flatMap(({ type, status, lastTransitionTime }) => {
    const next = now.conditions?.find((each) => each.type === type);
    if (next === undefined || !lastTransitionTime || !next.lastTransitionTime) return [];
    return mayPrecede(Date.parse(lastTransitionTime), Date.parse(next.lastTransitionTime))
      ? []
      : [`condition ${type}: ${status} of ${lastTransitionTime} became ${next.status} of ${next.lastTransitionTime}`];
  });
}

function containerRegressions(before: PodStatus, now: PodStatus, between: StatusRelation): string[] {
  const { isSameAgent, knownRestarts, hasLostStart = () => false } = between;
  const next = new Map(statusesOf(now).map((each) => [each.name, each]));
  return statusesOf(before).flatMap((old) => {
    const { name, restartCount } = old;
    const status = next.get(name);
    if (status === undefined)
      return mayDisappear(old, now, between) ? [] : [`container ${name} is gone from the status`];
    const known = isSameAgent ? restartCount : Math.min(restartCount, knownRestarts(old));
    return [
      ...(status.restartCount < known ? [`${name}: restartCount ${restartCount} became ${status.restartCount}`] : []),
      ...(hasLostStart(old.containerID?.split('//')[1] ?? '') ? [] : startRegressions(old, status)),
      ...endRegressions(old, status, isSameAgent),
      ...(isSameAgent ? lostRuns(old, status) : []),
      ...(isSameAgent ? lostEnds(old, status, between) : []),
    ];
  });
}

type End = NonNullable<ContainerState['terminated']>;

/** Returns the ends of runs in the status of a container, the most recent first. */
const endsOf = ({ state, lastState }: ContainerStatus): End[] =>
  [state?.terminated, lastState?.terminated].filter((end) => end !== undefined);

const endOf = (status: ContainerStatus, id: string): End | undefined =>
  endsOf(status).find(({ containerID }) => containerID === id);

/** Checks that the start time of a run never changes, unless the runtime has lost it. */
function startRegressions({ name, state, containerID = '' }: ContainerStatus, now: ContainerStatus): string[] {
  const began = state?.running?.startedAt;
  const running = now.containerID === containerID ? now.state?.running : undefined;
  const begins = running?.startedAt ?? endOf(now, containerID)?.startedAt;
  return began && begins && began !== begins ? [`${name}: its start time ${began} became ${begins}`] : [];
}

/**
 * Returns the result of a run, which never changes. The kubelet reports the runtime's values (`toKubeContainerStatus`).
 */
const resultOf = ({ exitCode, signal, reason, startedAt, finishedAt }: End): string =>
  JSON.stringify({ exitCode, signal, reason, startedAt, finishedAt });

/**
 * Reason of an end that was not observed but inferred. A later list may show that the container runs, or how it has
 * ended (C13, C23).
 */
const UNOBSERVED = 'ContainerStatusUnknown';
/** Reasons that only an agent sets. A later agent may determine a different one. */
const AGENT_REASONS: readonly (string | undefined)[] = [UNOBSERVED, 'StartError'];

function endRegressions(before: ContainerStatus, now: ContainerStatus, isSameAgent: boolean): string[] {
  const { name } = before;
  return endsOf(before).flatMap((end) => {
    const { containerID: id, reason } = end;
    if (!id || reason === UNOBSERVED || (!isSameAgent && AGENT_REASONS.includes(reason))) return [];
    const next = endOf(now, id);
    return [
      ...(now.containerID === id && now.state?.running ? [`${name}: ${id} had terminated, but is running`] : []),
      ...(next && resultOf(next) !== resultOf(end)
        ? [`${name}: the termination of ${id}, ${resultOf(end)}, became ${resultOf(next)}`]
        : []),
    ];
  });
}

/**
 * Checks that a container that was reported as running waits again only with the end of that run, which may be an
 * inferred one.
 */
function lostRuns({ name, state }: ContainerStatus, now: ContainerStatus): string[] {
  const isLost = state?.running !== undefined && now.state?.waiting !== undefined && !now.lastState?.terminated;
  return isLost ? [`${name}: it was running and is waiting, without a termination of its run`] : [];
}

/**
 * Checks that an agent reports how the last run ended until the next run has ended. The kubelet takes this from its own
 * last status, regardless of which containers the runtime still has (`convertToAPIContainerStatuses` in
 * pkg/kubelet/kubelet_pods.go).
 */
function lostEnds(before: ContainerStatus, now: ContainerStatus, { mayPrecede }: StatusRelation): string[] {
  const { name } = now;
  const [last, earlier] = endsOf(before);
  const [next, further] = endsOf(now);
  if (last === undefined || last.reason === UNOBSERVED || (next && isSameEnd(last, next))) return [];
  // If a container is removed for a restart of all containers, only this reason is reported (C5).
  if (next?.reason === 'RestartingAllContainers') return [];
  if (next === undefined) return [`${name}: its last termination is no longer reported`];
  if (now.state?.terminated && further === undefined) return [`${name}: its lastState is gone`];
  // The run after the last one may have ended in the same second and in the same way as the run before it.
  const isFurther = now.restartCount > before.restartCount && earlier?.containerID !== next.containerID;
  const isEarlier = earlier !== undefined && isSameEnd(earlier, next) && !isFurther;
  const [ended, ends] = [last, next].map(({ finishedAt }) => Date.parse(finishedAt ?? ''));
  const isTurned = Boolean(ended && ends && !mayPrecede(ended, ends));
  // A run that was missed in between would have increased the restart count.
  const isSameRun = before.state?.running && now.state?.running && now.restartCount === before.restartCount;
  const isForgotten = isSameRun && next.reason === UNOBSERVED;
  return isEarlier || isTurned || isForgotten
    ? [`${name}: its last termination, ${resultOf(last)}, became ${resultOf(next)}`]
    : [];
}

/** Compares the results as well, because the runtime may change the IDs when it restarts. */
const isSameEnd = (one: End, other: End): boolean =>
  (one.containerID !== undefined && one.containerID === other.containerID) || resultOf(one) === resultOf(other);

/**
 * Whether a container may disappear from the status. An edited manifest may remove a container from a running pod. The
 * kubelet accepts that (`checkAndUpdatePod` in pkg/kubelet/config/config.go) and reports the containers of the new
 * spec, and the API server allows it. The kubelet reports no containers of a rejected pod (`rejectPod`).
 */
function mayDisappear(
  { name, containerID }: ContainerStatus,
  { message = '' }: PodStatus,
  between: StatusRelation,
): boolean {
  const { spec, isSameAgent } = between;
  // A pod that has run can be rejected only when an agent starts.
  if (message.startsWith('Pod was rejected: ') && !(isSameAgent && containerID)) return true;
  return spec !== undefined && [...containersOf(spec)].every(({ container }) => container.name !== name);
}
