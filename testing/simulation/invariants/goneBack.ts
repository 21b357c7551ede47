/** What a status takes back of the one before, although an API server would take it. */
import { containersOf } from '../../../kubernetes/api/containers.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import { statusesOf } from './apiRules.ts';

/** In which way two statuses of a pod belong together. */
export interface Between {
  /** One agent has told both. */
  readonly isOneLife: boolean;
  /** Whether one moment may have come before another, or when it did, by a wall clock that may have been set. */
  readonly mayComeInTurn: (first: number, then: number) => boolean;
  /** How often a container was restarted as far as anybody can still know: what nobody knows cannot be told. */
  readonly knownRestarts: (status: ContainerStatus) => number;
  /** Of the pod as it is wanted now, if anybody knows. */
  readonly spec?: PodSpec | undefined;
}

export function goneBack(before: PodStatus, now: PodStatus, between: Between): string[] {
  const { isOneLife, mayComeInTurn } = between;
  const isSameStart = before.startTime === undefined || before.startTime === now.startTime;
  const [generation = 0, next = 0] = [before.observedGeneration, now.observedGeneration];
  return [
    ...(isTerminalPhase(before.phase) && now.phase !== before.phase
      ? [`phase ${before.phase} became ${now.phase}`]
      : []),
    // A new agent has the start of a pod from its oldest sandbox.
    ...(isOneLife && !isSameStart ? [`startTime ${before.startTime} became ${now.startTime}`] : []),
    ...(next < generation ? [`observedGeneration ${generation} became ${next}`] : []),
    ...(isOneLife ? conditionsBack(before, now, mayComeInTurn) : []),
    ...containersBack(before, now, between),
  ];
}

/** The time of the last transition is never an earlier one; not each transition is reported. */
function conditionsBack(
  { conditions = [] }: PodStatus,
  now: PodStatus,
  mayComeInTurn: Between['mayComeInTurn'],
): string[] {
  return conditions.flatMap(({ type, status, lastTransitionTime }) => {
    const next = now.conditions?.find((each) => each.type === type);
    if (next === undefined || !lastTransitionTime || !next.lastTransitionTime) return [];
    return mayComeInTurn(Date.parse(lastTransitionTime), Date.parse(next.lastTransitionTime))
      ? []
      : [`condition ${type}: ${status} of ${lastTransitionTime} became ${next.status} of ${next.lastTransitionTime}`];
  });
}

function containersBack(before: PodStatus, now: PodStatus, between: Between): string[] {
  const { isOneLife, knownRestarts } = between;
  const next = new Map(statusesOf(now).map((each) => [each.name, each]));
  return statusesOf(before).flatMap((old) => {
    const { name, restartCount } = old;
    const status = next.get(name);
    if (status === undefined) return mayGo(old, now, between) ? [] : [`container ${name} is gone from the status`];
    const known = isOneLife ? restartCount : Math.min(restartCount, knownRestarts(old));
    return [
      ...(status.restartCount < known ? [`${name}: restartCount ${restartCount} became ${status.restartCount}`] : []),
      ...runBack(old, status),
      ...endsBack(old, status, isOneLife),
      ...(isOneLife ? endsForgotten(old, status, between) : []),
    ];
  });
}

type End = NonNullable<ContainerState['terminated']>;

/** How runs of a container have ended, as its status tells: the last one first. */
const endsOf = ({ state, lastState }: ContainerStatus): End[] =>
  [state?.terminated, lastState?.terminated].filter((end) => end !== undefined);

const endOf = (status: ContainerStatus, id: string): End | undefined =>
  endsOf(status).find(({ containerID }) => containerID === id);

/** A run that goes on, or has ended since, began when it did. */
function runBack({ name, state, containerID = '' }: ContainerStatus, now: ContainerStatus): string[] {
  const began = state?.running?.startedAt;
  const running = now.containerID === containerID ? now.state?.running : undefined;
  const begins = running?.startedAt ?? endOf(now, containerID)?.startedAt;
  return began && begins && began !== begins ? [`${name}: its start ${began} became ${begins}`] : [];
}

/** What a run has come to does not change: what a kubelet tells of it is what the runtime does (`toKubeContainerStatus`). */
const resultOf = ({ exitCode, signal, reason, startedAt, finishedAt }: End): string =>
  JSON.stringify({ exitCode, signal, reason, startedAt, finishedAt });

/** An end that nobody has seen is a guess: a later list may show that the container runs, or how it has ended (C13, C23). */
const NOT_SEEN = 'ContainerStatusUnknown';
/** Ends that no runtime tells: what a later agent finds is another. */
const OF_THE_AGENT: readonly (string | undefined)[] = [NOT_SEEN, 'StartError'];

function endsBack(before: ContainerStatus, now: ContainerStatus, isOneLife: boolean): string[] {
  const { name } = before;
  return endsOf(before).flatMap((end) => {
    const { containerID: id, reason } = end;
    if (!id || reason === NOT_SEEN || (!isOneLife && OF_THE_AGENT.includes(reason))) return [];
    const next = endOf(now, id);
    return [
      ...(now.containerID === id && now.state?.running ? [`${name}: ${id} had ended and runs`] : []),
      ...(next && resultOf(next) !== resultOf(end)
        ? [`${name}: the end of ${id}, ${resultOf(end)}, became ${resultOf(next)}`]
        : []),
    ];
  });
}

/**
 * An agent goes on telling how the last run ended, until the next has: a kubelet takes that from its own last status,
 * whatever the runtime has left of it (`convertToAPIContainerStatuses` in pkg/kubelet/kubelet_pods.go).
 */
function endsForgotten(before: ContainerStatus, now: ContainerStatus, { mayComeInTurn }: Between): string[] {
  const { name } = now;
  const [last, earlier] = endsOf(before);
  const [next, further] = endsOf(now);
  if (last === undefined || last.reason === NOT_SEEN || (next && isSameEnd(last, next))) return [];
  // A container that is removed for a restart of all has ended in these words alone (C5).
  if (next?.reason === 'RestartingAllContainers') return [];
  if (next === undefined) return [`${name}: it is not told any more how it ended`];
  if (now.state?.terminated && further === undefined) return [`${name}: its lastState is gone`];
  // A run after the last one may have ended in the same second, and in the same way, as the one before that.
  const isFurther = now.restartCount > before.restartCount && earlier?.containerID !== next.containerID;
  const isEarlier = earlier !== undefined && isSameEnd(earlier, next) && !isFurther;
  const [ended, ends] = [last, next].map(({ finishedAt }) => Date.parse(finishedAt ?? ''));
  const isTurned = Boolean(ended && ends && !mayComeInTurn(ended, ends));
  return isEarlier || isTurned ? [`${name}: its last end, ${resultOf(last)}, became ${resultOf(next)}`] : [];
}

/** A runtime may come back with another id for what has ended. */
const isSameEnd = (one: End, other: End): boolean =>
  (one.containerID !== undefined && one.containerID === other.containerID) || resultOf(one) === resultOf(other);

/**
 * A manifest may be edited so that its pod goes on without a container: a kubelet takes that (`checkAndUpdatePod` in
 * pkg/kubelet/config/config.go), tells of the containers of the new spec, and an API server does not mind. And of the
 * containers of a pod that it rejects it tells nothing (`rejectPod`).
 */
function mayGo({ name, containerID }: ContainerStatus, { message = '' }: PodStatus, between: Between): boolean {
  const { spec, isOneLife } = between;
  // A pod that has run is rejected only when an agent starts.
  if (message.startsWith('Pod was rejected: ') && !(isOneLife && containerID)) return true;
  return spec !== undefined && [...containersOf(spec)].every(({ container }) => container.name !== name);
}
