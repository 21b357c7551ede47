/** The words of a pod's chart: its ports, guards, and what it keeps and asks of the node. What it tells its children is in podSetup.ts, the chart in chart.ts. */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { fullName } from '../../pod/api/staticPod.ts';
import {
  type EventMessages,
  eventMessagesOf,
  involvedPod,
  type RecordedEvent,
  recordedEvent,
} from '../../pod/events/recordedEvent.ts';
import type { ObservedSandbox } from '../../pod/lifecycle/observed.ts';
import { requestsOf } from '../../pod/resources/requests.ts';
import { sameValue } from '../../pod/sameValue.ts';
import { namespacedName } from '../../pod/show/shownName.ts';
import { containerMachine } from '../container/chart.ts';
import { pathOf, served } from '../shared/actorRefs.ts';
import type { ActorPath, AdmissionEvent, PodEvent } from '../shared/events.ts';
import { failureOf, isRuntimeAway, retryAfter } from '../shared/failure.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { volumeMachine } from '../volume/chart.ts';
import { activeDeadlineMachine } from './activeDeadline.ts';
import { actualRequests, isActualStale, presentNames } from './actual.ts';
import {
  activeUntil,
  allSandboxes,
  areVolumesSettled,
  areVolumesUnmounted,
  deadlineExceeded,
  decideSandbox,
  departed,
  doubtsSandbox,
  fits,
  hasLateSandbox,
  hasNewContainers,
  isQuiet,
  isStillSound,
  lacksNetwork,
  mayRun,
  mergeTermination,
  nextSandbox,
  type PodContext,
  type PodInput,
  staysAfterwards,
} from './context.ts';
import { isRoundOver, newRound, nextLaunch } from './launchOrder.ts';
import { isRunByOthers, othersFailure } from './others.ts';
import { mustFit, wish } from './resizing.ts';
import {
  ephemeralTurnsGiven,
  hasTurnPassed,
  isAllReset,
  isComplete,
  isLastTurn,
  newEphemeral,
  nextInit,
  resetInits,
  wasInitialized,
} from './startOrder.ts';
import { hasNoProcess, nextToStop } from './stopOrder.ts';

const slotKey = (context: PodContext): string => `${context.allocated.metadata.uid}/:sandbox/start`;

/** Asks for the admission of the pod as it is to be now. */
export const admissionRequest = (context: PodContext, holder: ActorPath): AdmissionEvent => ({
  type: 'admission.request',
  uid: context.asked.metadata.uid,
  fullName: fullName(context.asked),
  pod: context.asked,
  requests: requestsOf(context.asked),
  ...(context.allocation ? { allocated: context.allocation } : {}),
  adopted: context.observed.sandboxes.length > 0 && sameValue(context.asked.spec, context.allocated.spec),
  holder,
});

/** What else others ask of its state. */
type PodTag =
  | StateTag
  /** Another agent has it. */
  | 'ofOthers'
  /** What it needs before its containers is still to be made, or found. */
  | 'settingUp'
  | 'admitting'
  | 'preparing'
  /** Its containers have no actors yet, although nothing failed. */
  | 'withoutContainers'
  | 'active'
  | 'restartingAll'
  | 'stoppingContainers'
  /** It does not run any more, and will not. */
  | 'ended'
  | 'terminated';

export const podBaseSetup = setup({
  types: {
    input: {} as PodInput,
    context: {} as PodContext,
    events: {} as PodEvent,
    emitted: {} as RecordedEvent,
    output: {} as { isGone: boolean },
    meta: {} as StateMeta,
    tags: {} as PodTag,
    children: {} as { [id: `container/${string}`]: 'container' } & { [id: `volume/${string}`]: 'volume' } & {
      activeDeadline: 'activeDeadline';
    },
  },
  actors: {
    activeDeadline: activeDeadlineMachine,
    container: containerMachine,
    volume: volumeMachine,
    preparePod: port('preparePod'),
    prepareCgroup: port('prepareCgroup'),
    fitPod: port('fitPod'),
    removeCgroup: port('removeCgroup'),
    removePodData: port('removePodData'),
    runSandbox: port('runSandbox'),
    inspectSandbox: port('inspectSandbox'),
    stopSandboxes: port('stopSandboxes'),
    removeSandboxes: port('removeSandboxes'),
    timer: timerPort(),
  },
  guards: {
    mustEnd: ({ context }) => context.termination !== undefined,
    isRunByOthers: ({ context }) => isRunByOthers(context),
    isActualStale: ({ context }) => isActualStale(context),
    staysAfterwards: ({ context }) => staysAfterwards(context.termination),
    isDeadlineStale: ({ context }) => activeUntil(context) !== context.activeUntil,
    isDeadlineOver: ({ context, event }) => event.type === 'pod.deadlineExceeded' && event.at === context.activeUntil,
    areVolumesSettled: ({ context }) => areVolumesSettled(context),
    areVolumesUnmounted: ({ context }) => areVolumesUnmounted(context),
    keepsSandbox: ({ context }) => decideSandbox(context) === 'keep',
    needsNoSandbox: ({ context }) => decideSandbox(context) === 'none',
    hasRunning: ({ context: { observed } }) => observed.containers.some(mayRun),
    hasSandboxes: ({ context }) => allSandboxes(context).length > 0,
    hasLateSandbox: ({ context }) => hasLateSandbox(context),
    isComplete: ({ context }) => isComplete(context),
    hasNoProcess: ({ context }) => hasNoProcess(context),
    isStopDue: ({ context }) => nextToStop(context) !== undefined,
    isQuiet: ({ context }) => isQuiet(context),
    wasInitialized: ({ context }) => wasInitialized(context),
    isTurnOver: ({ context }) => hasTurnPassed(context) && nextInit(context) !== undefined,
    isLastTurnOver: ({ context }) => hasTurnPassed(context) && isLastTurn(context),
    hasNewContainers: ({ context }) => hasNewContainers(context),
    isRoundOver: ({ context }) => isRoundOver(context),
    isLaunchDue: ({ context }) => nextLaunch(context) !== undefined,
    mustRestartAll: ({ context }) => Object.values(context.containers).includes('restartsAll'),
    isAllReset: ({ context }) => isAllReset(context),
    hasNewEphemeral: ({ context }) => newEphemeral(context).length > 0,
    hasRemoved: ({ context }) => departed(context).length > 0,
    doubtsSandbox: ({ context, event }) => event.type === 'runtime.podObserved' && doubtsSandbox(context, event.pod),
    changesNetworkMode: ({ context: { asked, allocated } }) =>
      (asked.spec.hostNetwork === true) !== (allocated.spec.hostNetwork === true),
    lacksNetwork: ({ context }) => lacksNetwork(context),
    isUnfit: ({ context }, sandbox: ObservedSandbox) => !fits(context, sandbox),
    isStillSound: ({ context }, sandbox: ObservedSandbox | null) => sandbox !== null && isStillSound(context, sandbox),
    mustFit: ({ context }) => mustFit(context),
    failedForRuntime: ({ context }) => isRuntimeAway(context.failure),
  },
  actions: {
    recordEvent: enqueueActions(({ context, enqueue }, notes: EventMessages) => {
      for (const message of eventMessagesOf(notes))
        enqueue.emit(recordedEvent(involvedPod(context.allocated), message));
    }),
    askAdmission: sendTo(served('admission'), ({ context, self }) => admissionRequest(context, pathOf(self))),
    settleAdmission: sendTo(served('admission'), ({ context }) => ({
      type: 'admission.settle',
      uid: context.allocated.metadata.uid,
    })),
    releaseAdmission: sendTo(served('admission'), ({ context }) => ({
      type: 'admission.release',
      uid: context.allocated.metadata.uid,
    })),
    tellActual: enqueueActions(({ context, enqueue }) => {
      const { allocated: pod } = context;
      enqueue.sendTo(served('admission'), {
        type: 'admission.actual',
        uid: pod.metadata.uid,
        requests: actualRequests(context),
      });
      enqueue.assign({ actual: { pod, names: presentNames(context) } });
    }),
    requestSlot: sendTo(served('startLimiter'), ({ context, self }) => ({
      type: 'slot.request',
      key: slotKey(context),
      ticket: context.ticket,
      holder: pathOf(self),
      purpose: `the sandbox of ${namespacedName(context.allocated)}`,
      origin: context.allocated.metadata.uid,
    })),
    releaseSlot: sendTo(served('startLimiter'), ({ context }) => ({ type: 'slot.release', key: slotKey(context) })),
    desire: assign(({ context, event }) => (event.type === 'pod.update' ? wish(context, event.pod) : {})),
    /** Before it is admitted there is nothing to be resized. */
    replaceDesired: assign(({ event }) =>
      event.type === 'pod.update' ? { desired: event.pod, asked: event.pod } : {},
    ),
    /** What others read of it is another: nothing is decided again. */
    recordMetadata: assign(({ context, event }) => {
      if (event.type !== 'pod.metadataChanged') return {};
      const { metadata } = event;
      const { desired, asked, allocated } = context;
      return {
        desired: { ...desired, metadata },
        asked: { ...asked, metadata },
        allocated: { ...allocated, metadata },
      };
    }),
    recordConditions: assign(({ event }) =>
      event.type === 'pod.conditionsChanged' ? { conditions: event.conditions } : {},
    ),
    recordRefusal: assign(({ event }) => {
      if (event.type !== 'admission.refused') return {};
      const { type: _, ...refused } = event;
      return { refused };
    }),
    recordTermination: assign(({ context, event }) =>
      event.type === 'pod.terminate' ? { termination: mergeTermination(context.termination, event.termination) } : {},
    ),
    countDeadline: enqueueActions(({ context, enqueue }) => {
      const deadline = activeUntil(context);
      enqueue.stopChild('activeDeadline');
      enqueue.assign({ activeUntil: deadline });
      if (deadline === undefined) return;
      enqueue.spawnChild('activeDeadline', { id: 'activeDeadline', input: { deadline } });
    }),
    exceedDeadline: assign(({ context, event }) =>
      event.type === 'pod.deadlineExceeded'
        ? { termination: mergeTermination(context.termination, deadlineExceeded(context, event.at)) }
        : {},
    ),
    recordVolume: assign(({ context, event }) => {
      if (event.type !== 'volume.changed') return {};
      const { name, lifecycle, mounted } = event;
      return { volumes: { ...context.volumes, [name]: { lifecycle, ...(mounted ? { mounted } : {}) } } };
    }),
    recordContainer: assign(({ context, event }) => {
      if (event.type !== 'container.changed' || !Object.hasOwn(context.containers, event.name)) return {};
      return {
        containers: { ...context.containers, [event.name]: event.lifecycle },
        ...(event.id === undefined ? {} : { containerIds: { ...context.containerIds, [event.name]: event.id } }),
        endedAt: Math.max(context.endedAt, event.endedAt ?? 0),
      };
    }),
    recordNetwork: assign(({ event }) =>
      event.type === 'runtime.networkChanged' ? { networkNotReady: event.networkNotReady } : {},
    ),
    recordFailure: assign(({ event }) => retryAfter(failureOf(event))),
    recordOthers: assign(({ context }) => ({ failure: othersFailure(context) })),
    forgetFailure: assign({ failure: undefined }),
    recordFault: assign(({ event }) => ({ failure: failureOf(event) })),
    leaveLimiters: enqueueActions(({ context, enqueue }) => {
      const event = { type: 'slot.forget' as const, uid: context.allocated.metadata.uid };
      enqueue.sendTo(served('startLimiter'), event);
      enqueue.sendTo(served('pullLimiter'), event);
    }),
    complete: assign(({ context }) => ({
      termination: {
        reason: 'Completed' as const,
        graceSeconds: context.allocated.spec.terminationGracePeriodSeconds ?? 30,
        // What had ended before the agent came is ended from now on.
        at: Math.max(context.endedAt, context.bornAt),
      },
    })),
    loseSandbox: assign(({ context }) => ({
      sandbox: undefined,
      attempt: nextSandbox(context),
      stale: allSandboxes(context),
      turnsGiven: [],
      round: [],
      initialized: false,
      containers: resetInits(context),
    })),
    noteStopped: assign(({ context }) => ({ stopped: allSandboxes(context) })),
    /** It was stopped, but is kept in mind: its addresses were the pod's, and it has yet to be removed. */
    leaveSandbox: assign({
      sandbox: ({ context: { sandbox } }) => sandbox && { ...sandbox, state: 'notReady' as const },
    }),
    startOver: assign(({ context }) => ({ initialized: false, round: [], turnsGiven: ephemeralTurnsGiven(context) })),
    beginRound: assign(({ context }) => ({ round: newRound(context) })),
    initialize: assign({ initialized: true }),
  },
});
