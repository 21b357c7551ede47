/** Builds the view of a container: its state in terms of ContainerStatus (C16), and its details in the actor tree. */
import { mayLeaveTerminated, shouldRestart } from '../../kubernetes/lifecycle/restart.ts';
import type { ContainerView, TerminatedRun, WaitReason } from '../../kubernetes/status/view.ts';
import type { ReportedDetails } from '../../show/actors/actorNode.ts';
import { handlerText } from '../../show/handlerText.ts';
import { probeOf } from '../probe/context.ts';
import { probeRefs, resultOf } from '../probe/view.ts';
import type { Seen } from '../shared/stateMeta.ts';
import { type ContainerContext, resizeErrorOf, specOf } from './context.ts';
import { removedForRestart } from './restartAll.ts';
import type { ContainerTag } from './setup.ts';

type SeenContainer = Seen<ContainerContext, ContainerTag>;
type ContainerSnapshot = SeenContainer['snapshot'];

/** Parts of the view that the pod determines. */
interface PodSide {
  readonly ends: boolean;
  /** Whether the pod is terminating without having been deleted. */
  readonly endsUndeleted?: boolean;
  readonly restartsAll?: boolean;
  /** Why a volume that the container mounts is missing. */
  readonly volumeReason?: { readonly reason: WaitReason; readonly message: string } | undefined;
}

export function containerView(
  snapshot: ContainerSnapshot,
  { ends, endsUndeleted = false, restartsAll = false, volumeReason }: PodSide,
): ContainerView {
  const { context } = snapshot;
  const held = snapshot.hasTag('awaitingVolumes') ? volumeReason : undefined;
  const now = held ? { kind: 'waiting' as const, ...held } : stateNow(snapshot, { restartsAll, endsUndeleted });
  const shown = now.kind === 'terminated' ? now.run : undefined;
  const runs = [reportedEnd(snapshot), context.earlierRun, context.runBefore];
  const last = runs.find((run) => run !== undefined && run !== shown);
  const containerId = context.id ?? context.unstarted;
  const atHand = now.kind === 'waiting' && isAtHand(snapshot);
  const resizeFailure = resizeErrorOf(context);
  return {
    name: context.name,
    role: context.role,
    restartCount: restartsOf(snapshot),
    now,
    ...(last ? { last } : {}),
    willRestart: !snapshot.hasTag('rests') && !ends,
    ready: isReady(snapshot),
    started: isStarted(snapshot),
    ...(containerId ? { containerId } : {}),
    ...(atHand ? { atHand } : {}),
    ...(atHand && context.wasUnknown ? { stateUnknown: true } : {}),
    ...(context.made ? { made: context.made } : {}),
    ...(context.size ? { size: context.size } : {}),
    ...(resizeFailure === undefined ? {} : { resizeFailure }),
  };
}

export function facts({ snapshot }: SeenContainer): ReportedDetails {
  const { role, earlierRun } = snapshot.context;
  const lastRun = reportedEnd(snapshot) ?? earlierRun;
  const lasts = role === 'sidecar' || role === 'regular';
  const restarts = restartsOf(snapshot);
  return {
    kind: role,
    facts: [
      ...(lasts && isShownRunning(snapshot) ? [isReady(snapshot) ? 'ready' : 'not ready'] : []),
      ...(restarts > 0 ? [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`] : []),
    ],
    ...(lastRun ? { lastRun } : {}),
  };
}

const HOOKS = { postStart: 'runningPostStart', preStop: 'runningPreStop' } as const;

interface Hooked {
  readonly snapshot: Pick<ContainerSnapshot, 'hasTag'> & { readonly context: Pick<ContainerContext, 'pod' | 'name'> };
}

/** Appends the hook's handler to the description of a wait for the hook. */
export function waitWithHook(waitsFor: string, { snapshot }: Hooked): string {
  const { lifecycle = {} } = specOf(snapshot.context);
  const hook = (['postStart', 'preStop'] as const).find((each) => snapshot.hasTag(HOOKS[each]));
  const handler = hook && lifecycle[hook];
  return handler ? `${waitsFor} (${handlerText(handler)})` : waitsFor;
}

/**
 * Returns the reported exit. The exit of a short-lived container can be observed before its start call returns. It is
 * not reported until the call has returned the container's details.
 */
const reportedEnd = (snapshot: ContainerSnapshot): TerminatedRun | undefined =>
  snapshot.hasTag('creatingContainer') ? undefined : snapshot.context.run;

/**
 * Returns the status of a container that was removed for a restart of the whole pod, until a later exit is reported.
 */
const removalOf = (snapshot: ContainerSnapshot) =>
  removedForRestart({ run: reportedEnd(snapshot), earlierRun: snapshot.context.earlierRun });

/** Returns the reported restart count, which is never lower than what an earlier agent reported. */
const restartsOf = (snapshot: ContainerSnapshot): number =>
  Math.max(observedRestarts(snapshot), snapshot.context.reportedRestarts ?? 0);

/**
 * Returns the restart count that follows from the runtime's containers. It increases once the new container is
 * reported. Until then the status is that of the previous container.
 */
function observedRestarts(snapshot: ContainerSnapshot): number {
  const { id, attempt, isCounted, wasUnknown } = snapshot.context;
  if (removalOf(snapshot) || isCounted || wasUnknown) return attempt;
  const isNext = id === undefined || (!isShownRunning(snapshot) && reportedEnd(snapshot) === undefined);
  return isNext && attempt > 0 ? attempt - 1 : attempt;
}

const isStarted = (snapshot: ContainerSnapshot): boolean => {
  const { id, startupPassedId } = snapshot.context;
  return isShownRunning(snapshot) && id !== undefined && startupPassedId === id;
};

/** Whether the container is ready. A started container without a readiness probe is ready. */
function isReady(snapshot: ContainerSnapshot): boolean {
  if (!isStarted(snapshot)) return false;
  const { pod, name } = snapshot.context;
  const probe = probeRefs(snapshot).find((ref) => ref.getSnapshot().context.kind === 'readiness');
  return probe ? resultOf(probe) === 'passing' : probeOf(pod, name, 'readiness') === undefined;
}

function stateNow(
  snapshot: ContainerSnapshot,
  { restartsAll, endsUndeleted }: Required<Pick<PodSide, 'endsUndeleted' | 'restartsAll'>>,
): ContainerView['now'] {
  const { earlierRun, waitingReason, startedAt } = snapshot.context;
  const run = reportedEnd(snapshot);
  if (isShownRunning(snapshot)) return { kind: 'running', startedAt };
  const rests = snapshot.hasTag('rests');
  const last = run ?? earlierRun;
  const waits = !rests || last === undefined || (endsUndeleted && wouldRestart(snapshot.context, last));
  if (waitingReason !== undefined && waits) {
    return { kind: 'waiting', reason: waitingReason.reason, message: waitingReason.message };
  }
  const removed = removalOf(snapshot);
  if (removed) return restartsAll ? { kind: 'waiting', ...removed } : creating(snapshot.context);
  // As in a kubelet, a container known only from log files is waiting to be created.
  if (!last?.containerId || (!run && !rests && isHidden(snapshot, last))) return creating(snapshot.context);
  return { kind: 'terminated', run: last };
}

/**
 * Whether the container would run again if its pod were not terminating. As long as the pod is not deleted, such a
 * container is reported as waiting (`ShouldContainerBeRestarted` in `pkg/kubelet/container/helpers.go`).
 */
const wouldRestart = (context: ContainerContext, run: TerminatedRun): boolean =>
  shouldRestart({ pod: context.pod, container: specOf(context), role: context.role, run, podEnding: false });

/**
 * Whether an earlier agent created the container without starting it, or the runtime does not know its state. As in a
 * kubelet, it is then reported as waiting, regardless of earlier runs (C23).
 */
function isAtHand(snapshot: ContainerSnapshot): boolean {
  const { unstarted, wasUnknown } = snapshot.context;
  const isThere = unstarted !== undefined || wasUnknown === true;
  return isThere && reportedEnd(snapshot) === undefined && !snapshot.hasTag('rests');
}

/**
 * Whether the previous exit is hidden, either because the next run contradicts the restart policy (after a probe or an
 * update stopped the container) or because the next container already exists. A terminated state that was reported
 * cannot be changed, because an API server would reject that. Init containers are always reported as terminated (C3).
 */
function isHidden(snapshot: ContainerSnapshot, { exitCode }: TerminatedRun): boolean {
  const { context } = snapshot;
  const mayLeave = mayLeaveTerminated({ ...context, container: specOf(context) }, exitCode);
  return mayLeave ? isAtHand(snapshot) : context.role !== 'init';
}

/**
 * Whether the container is reported as running, which is the case once its postStart hook has completed. It is not
 * while it is being killed after a failed hook, or if it was stopped before the runtime reported it as running.
 */
function isShownRunning(snapshot: ContainerSnapshot): boolean {
  if (snapshot.hasTag('running')) return true;
  const { waitingReason, afterExit, startedAt, wasUnknown = false } = snapshot.context;
  if (!snapshot.hasTag('stopping') || startedAt === undefined || wasUnknown) return false;
  return waitingReason === undefined || afterExit === 'stop';
}

function creating({ pod }: ContainerContext): ContainerView['now'] {
  const initializing = (pod.spec.initContainers ?? []).length > 0;
  return { kind: 'waiting', reason: initializing ? 'PodInitializing' : 'ContainerCreating' };
}
