/** What a container's actor shows: its state in the words of a ContainerStatus (C16). */
import type { SnapshotFrom } from 'xstate';
import type { ActorView, ContainerView, ProbeView, TerminatedRun, WaitReason } from '../../pod/show/view.ts';
import { probeOf } from '../probe/context.ts';
import type { containerMachine } from './chart.ts';
import type { ContainerContext } from './context.ts';
import { removedForRestart } from './restartAll.ts';

type ContainerSnapshot = SnapshotFrom<typeof containerMachine>;

/** What its pod and its probes add to what a container knows of itself. */
interface PodSide {
  readonly ends: boolean;
  readonly restartsAll?: boolean;
  /** Why a volume that it mounts is not there. */
  readonly volumeReason?: { readonly reason: WaitReason; readonly message: string } | undefined;
  readonly probes: readonly ProbeView[];
}

/** The view of a container, of which its pod may be ending, with its probes. */
export function containerView(
  actor: ActorView,
  snapshot: ContainerSnapshot,
  { ends, restartsAll = false, volumeReason, probes }: PodSide,
): ContainerView {
  const { context } = snapshot;
  const held = snapshot.hasTag('awaitingVolumes') ? volumeReason : undefined;
  const now = held ? { kind: 'waiting' as const, ...held } : stateNow(snapshot, restartsAll);
  const shown = now.kind === 'terminated' ? now.run : undefined;
  const last = [reportedEnd(snapshot), context.earlierRun].find((run) => run !== undefined && run !== shown);
  const rests = snapshot.hasTag('rests');
  const started = now.kind === 'running' && context.id !== undefined && context.startedUp === context.id;
  return {
    ...actor,
    name: context.name,
    role: context.role,
    restartCount: restartsOf(snapshot, now),
    now,
    ...(last ? { last } : {}),
    willRestart: !rests && !ends,
    ready: started && isReady(context, probes),
    started,
    ...(probes.length > 0 ? { probes } : {}),
    ...(context.id ? { containerId: context.id } : {}),
    ...(context.made ? { made: context.made } : {}),
    ...(context.size ? { size: context.size } : {}),
  };
}

/** One that ends at once may be seen to before its start has answered, which tells what was made of it. */
const reportedEnd = (snapshot: ContainerSnapshot): TerminatedRun | undefined =>
  snapshot.hasTag('making') ? undefined : snapshot.context.run;

/** A number is counted once its container is shown: until then all that is told is of the one before. */
function restartsOf(snapshot: ContainerSnapshot, { kind }: ContainerView['now']): number {
  const { id, attempt } = snapshot.context;
  if (removedForRestart(snapshot.context)) return attempt;
  const isNext = id === undefined || (kind !== 'running' && reportedEnd(snapshot) === undefined);
  return isNext && attempt > 0 ? attempt - 1 : attempt;
}

/** Without a readiness probe, what has started is ready. */
function isReady({ pod, name }: ContainerContext, probes: readonly ProbeView[]): boolean {
  const probe = probes.find(({ kind }) => kind === 'readiness');
  return probe ? probe.result === 'passing' : probeOf(pod, name, 'readiness') === undefined;
}

function stateNow(snapshot: ContainerSnapshot, restartsAll: boolean): ContainerView['now'] {
  const { earlierRun, waitingReason, startedAt } = snapshot.context;
  const run = reportedEnd(snapshot);
  if (isShownRunning(snapshot)) return { kind: 'running', startedAt: startedAt ?? 0 };
  const rests = snapshot.hasTag('rests');
  if (waitingReason !== undefined && !(rests && (run ?? earlierRun))) {
    return { kind: 'waiting', reason: waitingReason.reason, message: waitingReason.message };
  }
  const removed = removedForRestart(snapshot.context);
  if (removed) return restartsAll ? { kind: 'waiting', ...removed } : creating(snapshot.context);
  const end = run ?? earlierRun;
  return end ? { kind: 'terminated', run: end } : creating(snapshot.context);
}

/** A container counts as running once its postStart hook is done; one whose hook failed does not while it is killed. */
function isShownRunning(snapshot: ContainerSnapshot): boolean {
  if (snapshot.hasTag('running')) return true;
  const { waitingReason, onEnd } = snapshot.context;
  return snapshot.hasTag('stopping') && (waitingReason === undefined || onEnd === 'stay');
}

function creating({ pod }: ContainerContext): ContainerView['now'] {
  const initializing = (pod.spec.initContainers ?? []).length > 0;
  return { kind: 'waiting', reason: initializing ? 'PodInitializing' : 'ContainerCreating' };
}
