/** What a status takes back of the one before, although an API server would take it. */
import { containersOf } from '../../pod/api/containers.ts';
import type { PodSpec } from '../../pod/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../pod/api/schema/status.ts';
import { isTerminalPhase } from '../../pod/status/phase.ts';
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
    const { name, restartCount, containerID, state } = old;
    const status = next.get(name);
    if (status === undefined) return mayGo(old, now, between) ? [] : [`container ${name} is gone from the status`];
    const known = isOneLife ? restartCount : Math.min(restartCount, knownRestarts(old));
    const [began, begins] = [state?.running?.startedAt, status.state?.running?.startedAt];
    const isSameRun = began && begins && status.containerID === containerID;
    return [
      ...(status.restartCount < known ? [`${name}: restartCount ${restartCount} became ${status.restartCount}`] : []),
      ...(isSameRun && began !== begins ? [`${name}: its start ${began} became ${begins}`] : []),
    ];
  });
}

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
