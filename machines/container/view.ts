/**
 * Builds the view of a container, which consists of its state in terms of ContainerStatus (C16) and its details in the
 * actor tree.
 */
import { mayLeaveTerminated, shouldRestart } from '../../kubernetes/lifecycle/restart.ts';
import type { ContainerView, TerminatedRun, WaitReason } from '../../kubernetes/status/view.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { handlerText } from '../../show/handlerText.ts';
import { probeOf } from '../probe/context.ts';
import { probeRefs, probeState } from '../probe/view.ts';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { type ContainerContext, specOf } from './context.ts';
import { restartRemovalStatus } from './restartAll.ts';
import type { ContainerTag } from './setup.ts';

type ContainerInfo = ActorInfo<ContainerContext, ContainerTag>;
type ContainerSnapshot = ContainerInfo['snapshot'];

/** Parts of a container's view that the pod determines. */
interface PodViewInput {
  readonly isPodTerminating: boolean;
  /** Whether the pod is terminating without having been deleted. */
  readonly endsUndeleted?: boolean;
  readonly restartsAll?: boolean;
  /** Reason why a volume that the container mounts is missing. */
  readonly volumeReason?: { readonly reason: WaitReason; readonly message: string } | undefined;
}

export function containerView(
  snapshot: ContainerSnapshot,
  { isPodTerminating, endsUndeleted = false, restartsAll = false, volumeReason }: PodViewInput,
): ContainerView {
  const { context } = snapshot;
  const volumeWait = snapshot.hasTag('awaitingVolumes') ? volumeReason : undefined;
  const reportedState = volumeWait
    ? { kind: 'waiting' as const, ...volumeWait }
    : currentState(snapshot, { restartsAll, endsUndeleted });
  const reportedExit = reportedState.kind === 'terminated' ? reportedState.run : undefined;
  const runs = [reportedRun(snapshot), context.earlierRun, context.oldestRun];
  const lastRun = runs.find((run) => run !== undefined && run !== reportedExit);
  const containerId = context.id ?? context.unstartedId;
  const isAwaitingRun = reportedState.kind === 'waiting' && isAwaitingNextRun(snapshot);
  return {
    name: context.name,
    role: context.role,
    restartCount: reportedRestartCount(snapshot),
    now: reportedState,
    ...(lastRun ? { lastRun } : {}),
    willRestart: !snapshot.hasTag('rests') && !isPodTerminating,
    ready: isReady(snapshot),
    started: isStarted(snapshot),
    ...(containerId ? { containerId } : {}),
    ...(isAwaitingRun ? { isAwaitingRun } : {}),
    ...(isAwaitingRun && context.wasStateUnknown ? { isStateUnknown: true } : {}),
    ...(context.createdContainer ? { createdContainer: context.createdContainer } : {}),
    ...(context.size ? { size: context.size } : {}),
  };
}

export function facts({ snapshot }: ContainerInfo): ReportedDetails {
  const { role, earlierRun } = snapshot.context;
  const lastRun = reportedRun(snapshot) ?? earlierRun;
  const isLongRunning = role === 'sidecar' || role === 'regular';
  const restarts = Math.max(reportedRestartCount(snapshot), snapshot.context.publishedRestarts ?? 0);
  return {
    kind: role,
    facts: [
      ...(isLongRunning && isReportedRunning(snapshot) ? [isReady(snapshot) ? 'ready' : 'not ready'] : []),
      ...(restarts > 0 ? [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`] : []),
    ],
    ...(lastRun ? { lastRun } : {}),
  };
}

const HOOK_TAGS = { postStart: 'runningPostStart', preStop: 'runningPreStop' } as const;

interface HookWaitInput {
  readonly snapshot: Pick<ContainerSnapshot, 'hasTag'> & { readonly context: Pick<ContainerContext, 'pod' | 'name'> };
}

/** Appends the hook's handler to the description of a wait for the hook. */
export function waitWithHook(waitsFor: string, { snapshot }: HookWaitInput): string {
  const { lifecycle = {} } = specOf(snapshot.context);
  const hook = (['postStart', 'preStop'] as const).find((each) => snapshot.hasTag(HOOK_TAGS[each]));
  const handler = hook && lifecycle[hook];
  return handler ? `${waitsFor} (${handlerText(handler)})` : waitsFor;
}

/**
 * Returns the run whose exit may be reported. The exit of a short-lived container can be observed before its start call
 * returns. It is not reported until that call has returned the container's details.
 */
const reportedRun = (snapshot: ContainerSnapshot): TerminatedRun | undefined =>
  snapshot.hasTag('creatingContainer') ? undefined : snapshot.context.run;

/**
 * Returns the status of a container that was removed for a restart of the whole pod. Undefined once a later exit is
 * reported.
 */
const removalStatus = (snapshot: ContainerSnapshot) =>
  restartRemovalStatus({ run: reportedRun(snapshot), earlierRun: snapshot.context.earlierRun });

/** Returns the restart count to report. A restart of all containers may have been reported by an earlier agent (C5). */
const reportedRestartCount = (snapshot: ContainerSnapshot): number =>
  Math.max(observedRestartCount(snapshot), snapshot.context.reportedRestarts ?? 0);

/**
 * Returns the restart count that follows from the runtime's containers. The count increases once the new container is
 * reported. Until then, the status describes the previous container.
 */
function observedRestartCount(snapshot: ContainerSnapshot): number {
  const { id, attempt, isAttemptReported, wasStateUnknown } = snapshot.context;
  if (removalStatus(snapshot) || isAttemptReported || wasStateUnknown) return attempt;
  const isNextRunPending = id === undefined || (!isReportedRunning(snapshot) && reportedRun(snapshot) === undefined);
  return isNextRunPending && attempt > 0 ? attempt - 1 : attempt;
}

const isStarted = (snapshot: ContainerSnapshot): boolean => {
  const { id, startupPassedId } = snapshot.context;
  return isReportedRunning(snapshot) && id !== undefined && startupPassedId === id;
};

/** Whether the container is ready. A started container without a readiness probe is ready. */
function isReady(snapshot: ContainerSnapshot): boolean {
  if (!isStarted(snapshot)) return false;
  const { pod, name } = snapshot.context;
  const probe = probeRefs(snapshot).find((ref) => ref.getSnapshot().context.kind === 'readiness');
  return probe ? probeState(probe) === 'passing' : probeOf(pod, name, 'readiness') === undefined;
}

function currentState(
  snapshot: ContainerSnapshot,
  { restartsAll, endsUndeleted }: Required<Pick<PodViewInput, 'endsUndeleted' | 'restartsAll'>>,
): ContainerView['now'] {
  const { earlierRun, waitingReason, startedAt } = snapshot.context;
  const run = reportedRun(snapshot);
  if (isReportedRunning(snapshot)) return { kind: 'running', startedAt };
  const hasFinished = snapshot.hasTag('rests');
  const lastRun = run ?? earlierRun;
  const isWaiting = !hasFinished || lastRun === undefined || (endsUndeleted && wouldRestart(snapshot.context, lastRun));
  if (waitingReason !== undefined && isWaiting) {
    return { kind: 'waiting', reason: waitingReason.reason, message: waitingReason.message };
  }
  const removalReason = removalStatus(snapshot);
  if (removalReason) return restartsAll ? { kind: 'waiting', ...removalReason } : creatingState(snapshot.context);
  // A container known only from log files is waiting to be created, as in the kubelet.
  if (!lastRun?.containerId || (!run && !hasFinished && isExitHidden(snapshot, lastRun)))
    return creatingState(snapshot.context);
  return { kind: 'terminated', run: lastRun };
}

/**
 * Whether the container would run again if its pod were not terminating. Unless the pod has been deleted, such a
 * container is reported as waiting (`ShouldContainerBeRestarted` in `pkg/kubelet/container/helpers.go`).
 */
const wouldRestart = (context: ContainerContext, run: TerminatedRun): boolean =>
  shouldRestart({ pod: context.pod, container: specOf(context), role: context.role, run, isPodTerminating: false });

/**
 * Whether an earlier agent created the container without starting it, or the runtime does not know its state. As in a
 * kubelet, such a container is reported as waiting, regardless of earlier runs (C23).
 */
function isAwaitingNextRun(snapshot: ContainerSnapshot): boolean {
  const { unstartedId, wasStateUnknown } = snapshot.context;
  const hasUnstartedContainer = unstartedId !== undefined || wasStateUnknown === true;
  return hasUnstartedContainer && reportedRun(snapshot) === undefined && !snapshot.hasTag('rests');
}

/**
 * Whether the previous exit is hidden while the container waits for its next run. An API server would reject a change
 * from a reported terminated state if the restart policy rules out another run. The exit is therefore hidden in that
 * case, e.g. after a probe or an update has stopped the container, except for an init container (C3). If the policy
 * allows another run, the exit is hidden only once the next container exists.
 */
function isExitHidden(snapshot: ContainerSnapshot, { exitCode }: TerminatedRun): boolean {
  const { context } = snapshot;
  const mayLeaveTerminatedState = mayLeaveTerminated({ ...context, container: specOf(context) }, exitCode);
  return mayLeaveTerminatedState ? isAwaitingNextRun(snapshot) : context.role !== 'init';
}

/**
 * Whether the container is reported as running, which is the case once its postStart hook has completed. A container is
 * not reported as running while it is being killed after a failed hook, or if it was stopped before the runtime
 * reported it as running.
 */
function isReportedRunning(snapshot: ContainerSnapshot): boolean {
  if (snapshot.hasTag('running')) return true;
  const { waitingReason, exitReaction, startedAt, wasStateUnknown = false } = snapshot.context;
  if (!snapshot.hasTag('stopping') || startedAt === undefined || wasStateUnknown) return false;
  return waitingReason === undefined || exitReaction === 'stop';
}

function creatingState({ pod }: ContainerContext): ContainerView['now'] {
  const isInitializing = (pod.spec.initContainers ?? []).length > 0;
  return { kind: 'waiting', reason: isInitializing ? 'PodInitializing' : 'ContainerCreating' };
}
