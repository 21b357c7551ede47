/** What a container's actor shows: its state in the words of a ContainerStatus (C16). */
import type { SnapshotFrom } from 'xstate';
import type { Failure } from '../pod/failure.ts';
import type { ActorView, ContainerView } from '../pod/view.ts';
import type { containerMachine } from './container.ts';
import { type ContainerContext, specOf } from './containerContext.ts';
import { isRuntimeAway } from './failure.ts';

type ContainerSnapshot = SnapshotFrom<typeof containerMachine>;

/** Reasons that a user is shown when a container cannot be created or started; others are the node's own business. */
const LAUNCH_REASONS = ['CreateContainerConfigError', 'CreateContainerError'];

export function containerView(actor: ActorView, snapshot: ContainerSnapshot, podEnds: boolean): ContainerView {
  const { context } = snapshot;
  const now = stateNow(snapshot);
  const shown = now.kind === 'terminated' ? now.run : undefined;
  const last = [context.run, context.earlierRun].find((run) => run !== undefined && run !== shown);
  const rests = snapshot.matches('finished') || snapshot.matches('stopped');
  const isRunning = snapshot.matches('running');
  return {
    ...actor,
    name: context.name,
    role: context.role,
    // A number is counted when its container is there, as the runtime would tell it.
    restartCount: context.id === undefined && context.attempt > 0 ? context.attempt - 1 : context.attempt,
    now,
    ...(last ? { last } : {}),
    willRestart: !rests && !podEnds,
    ready: isRunning,
    started: isRunning,
    ...(context.id ? { containerId: context.id } : {}),
    ...(context.imageRef ? { imageRef: context.imageRef } : {}),
  };
}

function stateNow(snapshot: ContainerSnapshot): ContainerView['now'] {
  const { context } = snapshot;
  const { run, earlierRun, failure, startedAt } = context;
  if (snapshot.matches('running') || snapshot.matches('hooking') || snapshot.matches('stopping')) {
    return { kind: 'running', startedAt: startedAt ?? 0 };
  }
  if (snapshot.matches('backingOff')) return { kind: 'waiting', ...crashLoop(context) };
  if (run !== undefined) return { kind: 'terminated', run };
  const image = specOf(context).image ?? '';
  if (snapshot.matches({ pulling: 'missing' })) {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    return { kind: 'waiting', reason: 'ErrImageNeverPull', message };
  }
  if (snapshot.matches({ pulling: 'awaitingRetry' }) && failure !== undefined && !isRuntimeAway(failure)) {
    return { kind: 'waiting', ...imageTrouble(image, failure) };
  }
  if (snapshot.matches('awaitingRelaunch') && failure !== undefined && LAUNCH_REASONS.includes(failure.reason)) {
    return { kind: 'waiting', reason: failure.reason, message: failure.message };
  }
  return earlierRun ? { kind: 'terminated', run: earlierRun } : creating(context);
}

function imageTrouble(image: string, { reason, message }: Failure): { reason: string; message: string } {
  if (reason === 'InvalidImageName') return { reason, message };
  if (reason !== 'ErrImagePull') {
    return { reason: 'ImageInspectError', message: `Failed to inspect image "${image}": ${message}` };
  }
  return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}": ${reason}: ${message}` };
}

function creating({ pod }: ContainerContext): ContainerView['now'] {
  const initializing = (pod.spec.initContainers ?? []).length > 0;
  return { kind: 'waiting', reason: initializing ? 'PodInitializing' : 'ContainerCreating' };
}

function crashLoop({ pod, name, crashDelayMs = 0 }: ContainerContext): { reason: string; message: string } {
  const { name: podName, namespace, uid } = pod.metadata;
  const delay = duration(crashDelayMs / 1_000);
  return {
    reason: 'CrashLoopBackOff',
    message: `back-off ${delay} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`,
  };
}

/** As Go writes a duration: `10s`, `1m20s`, `5m0s`. */
function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
