/**
 * Creates the pod's sandbox once the runtime has a network and a start slot is free. Part of the chart in chart.ts.
 */
import { and, assign, not } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import type { ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';
import { namespacedName } from '../../../kubernetes/shownName.ts';
import { NO_STALE_DEADLINE, RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import { actorPath, sharedActor } from '../../shared/views/actorRefs.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { after } from '../../shared/waiting/waits.ts';
import { sendCommands } from '../containers/commands.ts';
import { firstContainers, initNames, withStartingContainers } from '../containers/startOrder.ts';
import type { PodContext } from '../context.ts';
import {
  podFailureEvents,
  recordDeadlineEvent,
  recordExceededGraceEvent,
  recordTerminationEvent,
} from '../recordedEvents.ts';
import { isSandboxUsable, unusableSandboxFailure } from '../sandbox.ts';
import { type PodArgs, podSetup } from '../setup.ts';

/**
 * Minimum interval in milliseconds between two events that report the missing network. The kubelet repeats this event
 * every second, which soon exhausts the kubelet's rate limit for events of a pod.
 */
const EVENT_INTERVAL_MS = 10_000;

/**
 * Interval in milliseconds between two attempts to prepare claims. If an attempt fails, the kubelet nevertheless
 * considers the pod's sync successful and syncs the pod again after this time (`SyncPod` in `kuberuntime_manager.go`,
 * `--sync-frequency`).
 */
const CLAIMS_RETRY_MS = 60_000;

const slotKey = (context: PodContext): string => `${context.allocated.metadata.uid}/:sandbox/start`;

/** Returns the failure of a pod that waits for the runtime's network, in the kubelet's wording. */
const networkFailure = ({ networkNotReady }: PodContext): Failure => ({
  reason: 'NetworkNotReady',
  message: `network is not ready: ${networkNotReady?.message}`,
  at: networkNotReady?.since ?? 0,
});

const guards = {
  /** Whether the pod needs a network of its own while the runtime has none. */
  isNetworkMissing: ({ context: { networkNotReady, allocated } }: PodArgs) =>
    networkNotReady !== undefined && allocated.spec.hostNetwork !== true,
  isSandboxUnusable: ({ context }: PodArgs, sandbox: ObservedSandbox) => !isSandboxUsable(context, sandbox),
};

const actions = {
  requestSlot: podSetup.sendTo(sharedActor('startLimiter'), ({ context, self }) => ({
    type: 'slot.request',
    key: slotKey(context),
    arrivalOrder: context.arrivalOrder,
    holder: actorPath(self),
    purpose: `the sandbox of ${namespacedName(context.allocated)}`,
    origin: context.allocated.metadata.uid,
  })),
  releaseSlot: podSetup.sendTo(sharedActor('startLimiter'), ({ context }) => ({
    type: 'slot.release',
    key: slotKey(context),
  })),
  /** Starts the first containers, which can check their images while the sandbox is being created. */
  startFirstContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    if (context.turnsTaken.length > 0) return;
    const names = firstContainers(context);
    sendCommands(enqueue, context, [{ names, event: { type: 'container.start' } }]);
    enqueue.assign({ turnsTaken: initNames(context).slice(0, 1), containers: withStartingContainers(context, names) });
  }),
};

export const creatingSandboxImplementations = { guards, actions };

export const creatingSandbox = podSetup.extend(creatingSandboxImplementations).createStateConfig({
  description: 'A new sandbox is created once the runtime has a network and a start slot is free.',
  entry: ['spawnContainers', 'startFirstContainers'],
  exit: 'releaseSlot',
  initial: 'choosing',
  states: {
    choosing: {
      description: 'It is decided whether the network of the runtime has to be awaited.',
      tags: 'working',
      always: [
        { guard: 'isNetworkMissing', target: 'awaitingNetwork' },
        { guard: 'mayHaveClaims', target: 'preparingClaims' },
        { target: 'queued' },
      ],
    },
    awaitingNetwork: {
      description:
        'The network plugin is not ready. The pod waits until the runtime reports it as ready, and repeats the event about it meanwhile.',
      tags: 'waiting',
      meta: { waitsFor: 'the network of the container runtime' },
      entry: [
        assign(({ context }) => ({ failure: networkFailure(context) })),
        { type: 'recordEvent', params: ({ context }) => podFailureEvents(networkFailure(context)) },
      ],
      invoke: after(EVENT_INTERVAL_MS),
      always: [
        {
          guard: and([not('isNetworkMissing'), 'mayHaveClaims']),
          target: 'preparingClaims',
          meta: { coverageGap: RARELY_TAKEN },
        },
        { guard: not('isNetworkMissing'), target: 'queued' },
      ],
      on: { 'timer.elapsed': { target: 'awaitingNetwork', reenter: true } },
    },
    preparingClaims: {
      description: 'The drivers prepare the devices of the ResourceClaims that the pod uses.',
      tags: 'working',
      meta: { waitsFor: 'its resource claims to be prepared', rules: ['C50'] },
      invoke: {
        src: 'prepareClaims',
        input: ({ context }) => ({ pod: context.allocated }),
        onDone: { target: 'queued', actions: assign({ failure: undefined }) },
        onError: {
          target: 'awaitingClaims',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => podFailureEvents(failureOf(event)) },
          ],
        },
      },
    },
    awaitingClaims: {
      description:
        'The resource claims could not be prepared. Another attempt follows after the interval of a kubelet, or when a driver has registered.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to prepare its resource claims', afterMs: CLAIMS_RETRY_MS, rules: ['C50'] },
      invoke: after(CLAIMS_RETRY_MS),
      on: { 'timer.elapsed': 'preparingClaims', 'pod.driversChanged': 'preparingClaims' },
    },
    queued: {
      description: 'All start slots of the node are taken. The pod waits for one of them.',
      tags: 'waiting',
      meta: { waitsFor: 'a start slot' },
      entry: 'requestSlot',
      on: { 'slot.granted': 'creating' },
    },
    creating: {
      description: 'The runtime creates the sandbox, and the network plugin assigns an address to it.',
      tags: 'working',
      meta: { waitsFor: 'its sandbox to be created' },
      invoke: {
        src: 'runSandbox',
        input: ({ context }) => ({ pod: context.allocated, attempt: context.attempt }),
        onDone: [
          {
            guard: 'mustTerminate',
            target: '#pod.terminating',
            actions: assign(({ event }) => ({ sandbox: event.output })),
          },
          {
            guard: { type: 'isSandboxUnusable', params: ({ event }) => event.output },
            target: '#pod.sandboxing.awaitingReplacement',
            actions: [
              assign(({ context, event }) => ({
                sandbox: event.output,
                ...unusableSandboxFailure(context, event.output),
              })),
              'discardSandbox',
            ],
          },
          {
            target: '#pod.active',
            actions: [
              assign(({ event }) => ({ sandbox: event.output, failure: undefined })),
              { type: 'recordEvent', params: ({ event }) => event.output.warnings ?? [] },
              'announceSandbox',
            ],
          },
        ],
        onError: [
          { guard: 'mustTerminate', target: '#pod.terminating' },
          {
            target: '#pod.sandboxing.awaitingCreateRetry',
            actions: [
              'recordFailure',
              { type: 'recordEvent', params: ({ event }) => podFailureEvents(failureOf(event)) },
            ],
          },
        ],
      },
      // Do not abort the call in flight, because the ID of the created sandbox is needed in order to remove it.
      on: {
        'pod.terminate': { actions: ['recordTermination', recordTerminationEvent] },
        'pod.deadlineExceeded': [
          { guard: 'isCurrentDeadline', actions: ['recordExceededDeadline', recordDeadlineEvent] },
          { meta: { coverageGap: NO_STALE_DEADLINE } },
        ],
        'pod.killLimitExceeded': { guard: 'isCurrentKillLimit', actions: recordExceededGraceEvent },
      },
    },
  },
});
