/** The words of a container's chart: its ports, guards and actions. The chart itself is in chart.ts. */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { lacksVolume } from '../../pod/api/containers.ts';
import {
  type EventMessages,
  eventMessagesOf,
  involvedPod,
  type RecordedEvent,
  recordedEvent,
} from '../../pod/events/recordedEvent.ts';
import type { Failure } from '../../pod/failure.ts';
import type { ObservedContainer } from '../../pod/lifecycle/observed.ts';
import { hasFailed, isEndedFor } from '../../pod/lifecycle/restart.ts';
import type { ContainerSize } from '../../pod/resources/containerSize.ts';
import { needsRestart, sameSize } from '../../pod/resources/resize.ts';
import { namespacedName } from '../../pod/show/shownName.ts';
import { imageMachine } from '../image/chart.ts';
import { probeMachine } from '../probe/chart.ts';
import { parent, pathOf, served } from '../shared/actorRefs.ts';
import type { ContainerEvent, ContainerLifecycle, PodEvent } from '../shared/events.ts';
import { failureOf, isRuntimeAway, retryAfter } from '../shared/failure.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import { hasEnded, type StateMeta, type StateTag } from '../shared/stateMeta.ts';
import {
  backOffKey,
  type ContainerContext,
  type ContainerInput,
  condemned,
  crashBackoff,
  identityOf,
  isMissized,
  isOutdated,
  mustStartUp,
  nextAttempt,
  probeInput,
  sizeOf,
  slotKey,
  sooner,
  specOf,
  stopRequest,
  wantsRestart,
} from './context.ts';
import { afterReset, isRestartOfAll } from './restartAll.ts';
import { failedStart, terminatedRun, unknownEnd } from './terminatedRun.ts';
import { crashLoopBackOff, createFailed, failedPostStart, hasFailedToStart, refusedStart } from './waitingReason.ts';

type HookEnd = PortTypes['runHook']['output'];

/** What else others ask of its state. */
type ContainerTag =
  | StateTag
  /** The runtime is being asked what it has of it. */
  | 'unknown'
  /** What it has is not known yet, be it that it could not be asked. */
  | 'unadopted'
  | 'awaitingVolumes'
  | 'gettingImage'
  | 'readyToCreate'
  /** It is being created and started. */
  | 'making'
  | 'runningPostStart'
  | 'running'
  | 'stopping'
  | 'runningPreStop'
  | 'killing'
  /** It has ended, and does not go on by itself. */
  | 'rests';

export const containerSetup = setup({
  types: {
    input: {} as ContainerInput,
    context: {} as ContainerContext,
    events: {} as ContainerEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as ContainerTag,
    children: {} as { image: 'image'; [id: `probe/${string}`]: 'probe' },
  },
  actors: {
    probe: probeMachine,
    image: imageMachine,
    countRestarts: port('countRestarts'),
    createContainer: port('createContainer'),
    startContainer: port('startContainer'),
    stopContainer: port('stopContainer'),
    inspectContainer: port('inspectContainer'),
    resizeContainer: port('resizeContainer'),
    removeContainers: port('removeContainers'),
    runHook: port('runHook'),
    timer: timerPort(),
  },
  guards: {
    neverMade: ({ context }) => context.id === undefined,
    /** The runtime has nothing of it: what it was before only its logs may tell. */
    hasNoPast: ({ context: { id, run, earlierRun } }) => (id ?? run ?? earlierRun) === undefined,
    hasTurn: ({ context }) => context.hasTurn,
    lacksVolume: ({ context }) => lacksVolume(context.pod.spec, specOf(context), context.volumes),
    hasLostSandbox: ({ context }) => context.former !== undefined,
    /** Nothing lives in it any more: no hook can run there. */
    isSandboxGone: ({ context }) => context.former === null,
    mayLaunch: ({ context }) => context.hasTurn && context.sandbox !== undefined,
    changesIdentity: ({ context, event }) =>
      event.type === 'container.update' && identityOf({ ...context, pod: event.pod }) !== identityOf(context),
    changesBackOffKey: ({ context, event }) =>
      event.type === 'container.update' && backOffKey({ ...context, pod: event.pod }) !== backOffKey(context),
    changesSize: ({ context, event }) =>
      event.type === 'container.update' && !sameSize(sizeOf({ ...context, pod: event.pod }), sizeOf(context)),
    isMissized: ({ context }) => isMissized(context),
    resizesByRestart: ({ context }) =>
      isMissized(context) &&
      context.size !== undefined &&
      needsRestart(context.pod.spec, specOf(context), context.size),
    hasPostStart: ({ context }) => specOf(context).lifecycle?.postStart !== undefined,
    hasPreStop: ({ context }) => specOf(context).lifecycle?.preStop !== undefined,
    isOutdated: ({ context }) => isOutdated(context),
    hasRun: ({ context }) => context.run !== undefined,
    /** A stop may shorten the grace, never lengthen it (C10). */
    isSooner: ({ context, event }) =>
      event.type === 'container.stop' && (event.deadline ?? Infinity) < (context.stopBy ?? Infinity),
    showsEnd: ({ context, event }) =>
      event.type === 'runtime.containerObserved' &&
      event.container !== null &&
      event.id === context.id &&
      hasEnded(event.container.state),
    /** It was seen to have ended while a call about it was still on its way, whatever that call then says. */
    hasSeenEnd: ({ context }) => context.id !== undefined && context.run?.containerId === context.id,
    showsUnknown: ({ context, event }) =>
      event.type === 'runtime.containerObserved' && event.id === context.id && event.container?.state === 'unknown',
    showsAbsence: ({ context, event }) =>
      event.type === 'runtime.containerObserved' && event.container === null && event.id === context.id,
    isAlive: (_, container: ObservedContainer | null) => container?.state === 'running',
    isOver: (_, container: ObservedContainer | null) => container !== null && hasEnded(container.state),
    isUnknown: (_, container: ObservedContainer | null) => container?.state === 'unknown',
    isAbsent: (_, container: ObservedContainer | null) => container === null,
    /** The runtime has said that it does not run, and why. */
    hasHookFailed: (_, hook: HookEnd) => hook.failure !== null,
    hasFailedToStart: ({ context }) => hasFailedToStart(context),
    wasStartRefused: ({ context: { id, run } }) => isEndedFor(run?.reason, 'StartError') && run?.containerId === id,
    isStartRefused: ({ event }) => failureOf(event).reason === 'RunContainerError',
    failedForRuntime: ({ context }) => isRuntimeAway(context.failure),
    mustStartUp: ({ context }) => mustStartUp(context),
    /** A fact about a run before is none about this one. */
    isStartup: ({ context, event }) =>
      event.type === 'probe.succeeded' && event.kind === 'startup' && event.id === context.id,
    isFatal: ({ context, event }) =>
      event.type === 'probe.failed' && event.kind !== 'readiness' && event.id === context.id,
    mustReset: ({ context }) => context.onEnd === 'reset',
    restartsAll: ({ context }) => isRestartOfAll(context),
    mustStay: ({ context }) => context.onEnd === 'stay',
    wantsRestart: ({ context }) => wantsRestart(context),
    backsOff: ({ context }) => (crashBackoff(context).crashDelayMs ?? 0) > 0,
    hasSucceeded: ({ context: { role, run } }) => run !== undefined && !hasFailed(role, run),
    isInit: ({ context }) => context.role === 'init',
    hasDeadline: ({ context }) => context.stopBy !== undefined,
    awaitsOthers: ({ context }) => context.awaitsOthers,
    leavesNothing: ({ context }) => context.leavesNothing,
  },
  actions: {
    /** Of what is no fault of one container the kubelet tells as of the pod. */
    recordPodEvent: enqueueActions(({ context: { pod }, enqueue }, messages: EventMessages) => {
      for (const message of eventMessagesOf(messages)) enqueue.emit(recordedEvent(involvedPod(pod), message));
    }),
    /** Tells the pod's author. A container's id would make each message a new one: its name stands for it. */
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      const { pod, id, name } = context;
      for (const each of eventMessagesOf(messages)) {
        const message = id ? each.message.replaceAll(id, name) : each.message;
        enqueue.emit(recordedEvent(involvedPod(pod, context), { ...each, message }));
      }
    }),
    report: sendTo(parent<PodEvent>(), ({ context }, params: { lifecycle: ContainerLifecycle }) => ({
      type: 'container.changed' as const,
      name: context.name,
      lifecycle: params.lifecycle,
      ...(context.id === undefined ? {} : { id: context.id }),
      ...(context.run?.finishedAt === undefined ? {} : { endedAt: context.run.finishedAt }),
    })),
    beginStartup: enqueueActions(({ context, enqueue }) => {
      const input = probeInput(context, 'startup');
      if (input) enqueue.spawnChild('probe', { id: 'probe/startup', input });
    }),
    /** It counts as started: liveness and readiness are looked at from now on. */
    endStartup: enqueueActions(({ context, enqueue }) => {
      enqueue.stopChild('probe/startup');
      enqueue.assign({ startedUp: context.id });
    }),
    beginProbes: enqueueActions(({ context, enqueue }) => {
      for (const kind of ['liveness', 'readiness'] as const) {
        const input = probeInput(context, kind);
        if (input) enqueue.spawnChild('probe', { id: `probe/${kind}` as const, input });
      }
    }),
    /** While it stops, its readiness still tells whether it does its work. */
    endStartupAndLiveness: enqueueActions(({ enqueue }) => {
      enqueue.stopChild('probe/startup');
      enqueue.stopChild('probe/liveness');
    }),
    endProbes: enqueueActions(({ enqueue }) => {
      for (const kind of ['startup', 'liveness', 'readiness'] as const) enqueue.stopChild(`probe/${kind}`);
    }),
    condemn: assign(({ context, event }) => (event.type === 'probe.failed' ? condemned(context, event) : {})),
    requestSlot: sendTo(served('startLimiter'), ({ context, self }) => ({
      type: 'slot.request',
      key: slotKey(context, 'start'),
      ...{ ticket: context.ticket, holder: pathOf(self), origin: context.pod.metadata.uid },
      purpose: `the start of container ${context.name} of ${namespacedName(context.pod)}`,
    })),
    releaseSlot: sendTo(served('startLimiter'), ({ context }) => ({
      type: 'slot.release',
      key: slotKey(context, 'start'),
    })),
    /** What is updated in place is no other image. */
    updateImage: sendTo('image', ({ context }) => ({ type: 'image.update' as const, pod: context.pod })),
    recordImage: assign(({ event }) =>
      event.type === 'image.changed'
        ? { imageDelayMs: event.delayMs, failure: event.failure, waitingReason: event.waitingReason }
        : {},
    ),
    forgetImage: assign(({ context }) => ({
      imageDelayMs: 0,
      failure: undefined,
      ...(context.waitingReason?.with === 'image' ? { waitingReason: undefined } : {}),
    })),
    /** An actor that is stopped gives nothing back by itself. */
    releasePull: sendTo(served('pullLimiter'), ({ context }) => ({
      type: 'slot.release',
      key: slotKey(context, 'pull'),
    })),
    takeSandbox: assign(({ event }) =>
      event.type === 'sandbox.ready' ? { sandbox: event.sandbox, former: undefined } : {},
    ),
    loseSandbox: assign(({ event }) =>
      event.type === 'sandbox.lost' ? { sandbox: undefined, former: event.still ?? null, hasTurn: false } : {},
    ),
    takeTurn: assign({ hasTurn: true }),
    /** What was made under the present number, if anything, is not the one that is to run: it is recreated. */
    forgetIt: assign({ id: undefined, madeFrom: undefined }),
    recordIdentity: assign(({ context }) => ({ madeFrom: identityOf(context), size: sizeOf(context) })),
    recordSize: assign((_, size: ContainerSize) => ({ size, failure: undefined })),
    reportSize: enqueueActions(({ context: { name, size }, enqueue }) => {
      if (size !== undefined) enqueue.sendTo(parent<PodEvent>(), { type: 'container.sized', name, size });
    }),
    update: assign(({ context, event }) => {
      if (event.type !== 'container.update') return {};
      const isAnother = backOffKey({ ...context, pod: event.pod }) !== backOffKey(context);
      // Other resources may be what it needed: its back-off starts over (C7).
      return { pod: event.pod, volumes: event.volumes, ...(isAnother ? { crashDelayMs: undefined } : {}) };
    }),
    forgetCrashes: assign({ crashDelayMs: undefined }),
    forgetFailedStart: assign({
      run: undefined,
      waitingReason: undefined,
      failure: undefined,
      crashDelayMs: undefined,
    }),
    askForReset: assign(({ context }) => (context.onEnd === 'stay' ? {} : { onEnd: 'reset' as const })),
    resetAttempt: assign(({ context }) => afterReset(context)),
    askForNewOne: assign({ onEnd: 'recreate' }),
    stopForGood: assign(({ context, event }) => (event.type === 'container.stop' ? stopRequest(context, event) : {})),
    recordEnd: assign(({ event }) =>
      event.type === 'runtime.containerObserved' && event.container !== null
        ? { run: terminatedRun(event.container), stopBy: undefined }
        : {},
    ),
    /** The runtime knows only how it ended, not who wanted it to. */
    recordCause: assign(({ context: { run, condemnedFor: because } }) =>
      run && because ? { run: { ...run, because } } : {},
    ),
    recordUnknownEnd: assign(({ context }) => ({
      run: unknownEnd(context.id ?? '', context.startedAt),
      stopBy: undefined,
    })),
    recordMade: assign((_, shown: ObservedContainer | null) => (shown?.made ? { made: shown.made } : {})),
    recordHook: assign(({ context }, hook: HookEnd) => ({
      stopBy: sooner(context.stopBy, hook.deadline),
      ...(hook.failure ? { failure: hook.failure } : {}),
    })),
    recordCallFailure: assign(({ event }) => retryAfter(failureOf(event))),
    recordFailedCreate: assign(({ context, event }) => {
      const failure = failureOf(event);
      return { ...retryAfter(failure), waitingReason: createFailed(context, failure) };
    }),
    recordFailedStart: assign(({ context, event }) => {
      const failure = failureOf(event);
      return { failure, run: failedStart(context.id, failure), waitingReason: refusedStart(failure) };
    }),
    recordFailedPostStart: assign((_, failure: Failure) => ({ failure, waitingReason: failedPostStart(failure) })),
    showCrashLoop: assign(({ context }) => ({ waitingReason: crashLoopBackOff(context) })),
    forgetWaitingReason: assign({ waitingReason: undefined }),
    backOff: assign(({ context }) => crashBackoff(context)),
    beginAttempt: assign(({ context }) => nextAttempt(context)),
  },
});
