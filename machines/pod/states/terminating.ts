/** Terminates a pod by removing containers, sandbox, volumes and data, in this order. Part of the chart in chart.ts. */
import { assertEvent, assign } from 'xstate';
import { sourceOf } from '../../../kubernetes/api/pods/staticPod.ts';
import { NO_STALE_DEADLINE, RARELY_TAKEN, SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import { killFailedEvents } from '../../shared/events/failureEvents.ts';
import { sharedActor } from '../../shared/views/actorRefs.ts';
import { failureOf, REFUSAL_RETRY_MS } from '../../shared/waiting/failure.ts';
import { after, retryWaitState } from '../../shared/waiting/waits.ts';
import { sendCommands, stopActors } from '../containers/commands.ts';
import { hasNoProcess, nextSidecarToStop, stopCommand } from '../containers/stopOrder.ts';
import { areVolumesUnmounted, mayRun, type PodContext } from '../context.ts';
import { recordDeadlineEvent, recordExceededGraceEvent } from '../recordedEvents.ts';
import { allSandboxIds, hasLateSandbox } from '../sandbox.ts';
import { type PodArgs, podSetup } from '../setup.ts';
import { deadlineOf, remainsAfterTermination } from '../termination.ts';

/**
 * Number of failed removals after which the runtime is restarted. A single failure may be caused by a task that is just
 * exiting.
 */
const FAILURES_BEFORE_RESTART = 2;
/**
 * Number of failed removals between two restarts of the runtime. A restart takes some time, and the removal is retried
 * every ten seconds.
 */
const FAILURES_BETWEEN_RESTARTS = 6;

const isTaskLost = (event: object): boolean =>
  'error' in event && failureOf({ type: '', ...event }).reason === 'TaskLost';

/** Returns the number of failures caused by lost tasks, including the current failure. */
const nextLostTaskCount = (context: PodContext): number => (context.lostTaskCount ?? 0) + 1;

/** Whether the runtime has a container that may be running and has no actor yet. */
const hasUnadoptedContainer = ({ containers, observed }: PodContext): boolean =>
  observed.containers.some((each) => mayRun(each) && !Object.hasOwn(containers, each.name));

/** Returns the input of a timer that runs until the deadline of the containers, but at most for their grace period. */
const graceTimerInput = ({ termination, endedAt }: PodContext) =>
  termination ? { until: deadlineOf(termination), within: termination.graceSeconds * 1_000 } : { until: endedAt };

const guards = {
  hasLateSandbox: ({ context }: PodArgs) => hasLateSandbox(context),
  hasNoProcess: ({ context }: PodArgs) => hasNoProcess(context),
  needsNoGrace: ({ context }: PodArgs) => hasNoProcess(context) && !hasUnadoptedContainer(context),
  isSidecarStopDue: ({ context }: PodArgs) => nextSidecarToStop(context) !== undefined,
  areVolumesUnmounted: ({ context }: PodArgs) => areVolumesUnmounted(context),
  haveActorsStopped: ({ context }: PodArgs) => context.queued === undefined,
  needsRuntimeRestart: ({ context, event }: PodArgs) =>
    isTaskLost(event) && nextLostTaskCount(context) % FAILURES_BETWEEN_RESTARTS === FAILURES_BEFORE_RESTART,
  remainsAfterTermination: ({ context }: PodArgs) => remainsAfterTermination(context.termination),
};

const actions = {
  recordStoppedSandboxes: podSetup.assign(({ context }) => ({ stopped: allSandboxIds(context) })),
  /**
   * Marks the sandbox as stopped. It stays in the context, because the pod's addresses are read from it and because it
   * has yet to be removed.
   */
  markSandboxStopped: podSetup.assign({
    sandbox: ({ context: { sandbox } }) => sandbox && { ...sandbox, state: 'notReady' as const },
  }),
  stopContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = Object.keys(context.containers);
    const commands = names.map((name) => ({ names: [name], event: stopCommand(context, name) }));
    sendCommands(enqueue, context, commands);
  }),
  /** Stops the next sidecar, whose turn to stop has come (C11). */
  stopNextSidecar: podSetup.enqueueActions(({ context, enqueue }) => {
    const name = nextSidecarToStop(context);
    if (name === undefined) return;
    const releasedSidecars = [...context.releasedSidecars, name];
    enqueue.assign({ releasedSidecars });
    const event = stopCommand({ ...context, releasedSidecars }, name);
    sendCommands(enqueue, context, [{ names: [name], event }]);
  }),
  /**
   * Removes the pod from admission. A pod that was deleted from its API server no longer counts (`GetActivePods` in
   * `pkg/kubelet/kubelet_pods.go`), because the scheduler has already reassigned its resources. A static pod counts
   * until it has stopped, so other pods wait for its resources.
   */
  leaveAdmission: podSetup.enqueueActions(({ context: { allocated, termination }, enqueue }) => {
    if (termination === undefined || remainsAfterTermination(termination) || termination.reason === 'NodeShutdown')
      return;
    const { uid } = allocated.metadata;
    const type = sourceOf(allocated) === 'api' ? ('admission.releaseResources' as const) : ('admission.leave' as const);
    enqueue.sendTo(sharedActor('admission'), { type, uid });
  }),
  /** Releases the resources of the stopped containers. The host ports are released with the sandbox (C9). */
  releaseContainerResources: podSetup.sendTo(sharedActor('admission'), ({ context }) => ({
    type: 'admission.containersStopped' as const,
    uid: context.allocated.metadata.uid,
  })),
  /**
   * Allows other pods to use the pod's resources. The full name remains reserved until the pod has been removed
   * completely (C9).
   */
  releaseAllResources: podSetup.sendTo(sharedActor('admission'), ({ context }) => ({
    type: 'admission.releaseResources' as const,
    uid: context.allocated.metadata.uid,
  })),
  // Applies a changed activeDeadlineSeconds. A kubelet also applies the change, because its next sync of a terminating
  // pod uses the latest spec (`SyncTerminatingPod` and `SyncTerminatedPod` in `pkg/kubelet/kubelet.go`).
  replaceDeadline: podSetup.assign(({ context: { allocated }, event }) => {
    assertEvent(event, 'pod.update');
    const { activeDeadlineSeconds: _, ...spec } = allocated.spec;
    const { activeDeadlineSeconds } = event.pod.spec;
    const deadline = activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds };
    return { allocated: { ...allocated, spec: { ...spec, ...deadline } } };
  }),
  countLostTask: podSetup.assign(({ context, event }) =>
    isTaskLost(event) ? { lostTaskCount: nextLostTaskCount(context) } : {},
  ),
  unmountVolumes: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = Object.keys(context.volumes);
    sendCommands(enqueue, context, [{ to: 'volumes', names, event: { type: 'volume.unmount' } }]);
  }),
  stopActors: podSetup.enqueueActions(({ context, enqueue }) => stopActors(enqueue, context)),
};

export const terminatingImplementations = { guards, actions };

/** Actions after the sandbox and everything in it has stopped. */
const stoppedActions = ['markSandboxStopped', 'releaseAllResources'] as const;

const overdueTransition = { guard: 'isCurrentKillLimit', actions: recordExceededGraceEvent } as const;
const rareOverdueTransition = { ...overdueTransition, meta: { coverageGap: RARELY_TAKEN } } as const;

export const terminating = podSetup.extend(terminatingImplementations).createStateConfig({
  description: 'The pod terminates: containers, sandbox, volumes, cgroup and directory are removed in this order.',
  meta: { region: 'end' },
  initial: 'stoppingContainers',
  entry: 'leaveAdmission',
  // An abandoned call, or a runtime that has become available again, may create a sandbox late. That sandbox must not
  // outlive the pod.
  always: { guard: 'hasLateSandbox', target: '.stoppingSandbox' },
  on: {
    'pod.update': { actions: ['recordDesiredPod', 'replaceDeadline'] },
    // No container runs or starts again, so the metadata need not be distributed.
    'pod.metadataChanged': { actions: 'recordMetadata' },
    'pod.terminate': { actions: ['recordTermination', 'leaveAdmission', 'stopContainers'] },
    'admission.admitted': { meta: { coverageGap: RARELY_TAKEN } },
    'pod.deadlineExceeded': [
      { guard: 'isCurrentDeadline', actions: ['recordExceededDeadline', recordDeadlineEvent] },
      { meta: { coverageGap: NO_STALE_DEADLINE } },
    ],
  },
  states: {
    startingGracePeriod: {
      description:
        'The grace period of the remaining containers of a completed pod starts now, however long ago the others have terminated.',
      tags: 'working',
      meta: { waitsFor: 'its grace period to start', rules: ['C10'] },
      always: { guard: 'needsNoGrace', target: 'stoppingContainers' },
      invoke: {
        src: 'pickTime',
        input: { withinMs: 0 },
        onDone: {
          target: 'stoppingContainers',
          // Set the start time only of the completion. A termination that has arrived in the meantime retains its own
          // start time.
          actions: assign(({ context: { termination }, event }) =>
            termination?.reason === 'Completed' ? { termination: { ...termination, at: event.output.at } } : {},
          ),
        },
        onError: { target: 'stoppingContainers', meta: { coverageGap: SERVICE_NEVER_FAILS } },
      },
    },
    stoppingContainers: {
      description: 'The containers stop, sidecars after the containers that may need them.',
      tags: 'working',
      meta: { rules: ['C10', 'C11'] },
      initial: 'graceful',
      states: {
        graceful: {
          description: 'Hooks and processes may run until the end of the grace period.',
          tags: 'inGrace',
          meta: { waitsFor: 'its containers to stop', until: 'deadline' },
          invoke: after(graceTimerInput),
          on: {
            'timer.elapsed': 'overdue',
            'pod.terminate': {
              target: 'graceful',
              reenter: true,
              actions: ['recordTermination', 'leaveAdmission', 'stopContainers'],
            },
          },
        },
        overdue: {
          description:
            'The grace period is over. The remaining processes are being killed, which takes as long as the runtime needs.',
          meta: { waitsFor: 'its containers to stop' },
        },
      },
      entry: ['spawnContainers', 'stopContainers'],
      always: [
        { guard: 'hasNoProcess', target: 'stoppingSandbox' },
        { guard: 'isSidecarStopDue', actions: 'stopNextSidecar' },
      ],
      on: { 'pod.killLimitExceeded': overdueTransition },
    },
    stoppingSandbox: {
      description: 'The runtime stops the sandbox, and the network plugin releases its address.',
      tags: 'working',
      meta: { waitsFor: 'its sandbox to stop', rules: ['C9'] },
      entry: ['recordStoppedSandboxes', 'releaseContainerResources'],
      invoke: {
        src: 'stopSandboxes',
        input: ({ context }) => ({ pod: context.allocated, ids: allSandboxIds(context) }),
        onDone: [
          { guard: 'mayHaveClaims', target: 'unpreparingClaims', actions: stoppedActions },
          { target: 'unmountingVolumes', actions: stoppedActions },
        ],
        onError: {
          target: 'awaitingStopRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => killFailedEvents(failureOf(event)) },
          ],
        },
      },
      on: { 'pod.killLimitExceeded': overdueTransition },
    },
    awaitingStopRetry: {
      ...retryWaitState({
        description: 'The sandbox could not be stopped. Another attempt follows after a delay.',
        waitsFor: 'another attempt to stop its sandbox',
      }),
      on: {
        'timer.elapsed': 'stoppingSandbox',
        'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'stoppingSandbox' },
        'pod.killLimitExceeded': overdueTransition,
      },
    },
    unpreparingClaims: {
      description:
        'The drivers revert the preparation of claims that no other pod uses, before the terminal status releases the claims for other pods.',
      tags: 'working',
      meta: { waitsFor: 'its resource claims to be unprepared', rules: ['C50'] },
      invoke: {
        src: 'unprepareClaims',
        input: ({ context }) => ({ pod: context.allocated }),
        onDone: { target: 'unmountingVolumes', actions: assign({ failure: undefined }) },
        onError: { target: 'awaitingUnprepareRetry', actions: 'recordFailure' },
      },
      on: { 'pod.killLimitExceeded': rareOverdueTransition },
    },
    awaitingUnprepareRetry: {
      ...retryWaitState({
        description: 'The resource claims could not be unprepared. Another attempt follows after a delay.',
        waitsFor: 'another attempt to unprepare its resource claims',
      }),
      on: {
        'timer.elapsed': 'unpreparingClaims',
        'pod.driversChanged': 'unpreparingClaims',
        'pod.killLimitExceeded': rareOverdueTransition,
      },
    },
    unmountingVolumes: {
      description: 'The volumes are unmounted, because nothing uses them any longer.',
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its volumes to be unmounted' },
      entry: [{ type: 'reportProgress', params: 'pod.stopped' }, 'unmountVolumes', 'spawnVolumes'],
      always: { guard: 'areVolumesUnmounted', target: 'removingCgroup' },
    },
    removingCgroup: {
      description:
        'The cgroup is removed with any process left in it, even if the terminated pod remains, because it no longer uses resources of its QoS class.',
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its cgroup to be removed', rules: ['C9'] },
      invoke: {
        src: 'removeCgroup',
        input: ({ context }) => ({ pod: context.allocated, ran: allSandboxIds(context) }),
        onDone: [{ guard: 'remainsAfterTermination', target: '#pod.finished' }, { target: 'removingSandbox' }],
        onError: {
          target: 'awaitingCgroupRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => killFailedEvents(failureOf(event)) },
          ],
        },
      },
    },
    awaitingCgroupRetry: {
      ...retryWaitState({
        description: 'The cgroup could not be removed. Another attempt follows after a delay.',
        waitsFor: 'another attempt to remove its cgroup',
      }),
      tags: ['retrying', 'ended'],
      on: {
        'timer.elapsed': 'removingCgroup',
        'runtime.returned': {
          guard: 'wasRuntimeUnavailable',
          target: 'removingCgroup',
          meta: { coverageGap: RARELY_TAKEN },
        },
      },
    },
    removingSandbox: {
      description:
        'The runtime removes the sandbox and its dead containers, before the data of the pod to which they refer.',
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its sandbox to be removed' },
      invoke: {
        src: 'removeSandboxes',
        input: ({ context }) => ({ ids: allSandboxIds(context) }),
        onDone: 'removingData',
        onError: [
          {
            guard: 'needsRuntimeRestart',
            target: 'restartingRuntime',
            actions: ['recordFailure', 'countLostTask'],
          },
          { target: 'awaitingRemoveRetry', actions: ['recordFailure', 'countLostTask'] },
        ],
      },
    },
    restartingRuntime: {
      description:
        'The runtime has lost track of a container and cannot remove its sandbox before it is restarted. A restart is requested.',
      tags: ['working', 'ended'],
      meta: { waitsFor: 'the restart of the container runtime to be requested' },
      invoke: {
        src: 'restartRuntime',
        input: ({ context }) => ({ why: `cannot remove the sandbox ${allSandboxIds(context).join(', ')}` }),
        onDone: 'awaitingRemoveRetry',
        onError: 'awaitingRemoveRetry',
      },
    },
    awaitingRemoveRetry: {
      ...retryWaitState({
        description: 'The sandbox could not be removed. Another attempt follows after a delay.',
        waitsFor: 'another attempt to remove its sandbox',
        withinMs: REFUSAL_RETRY_MS,
      }),
      tags: ['retrying', 'ended'],
      // Retry early if the runtime becomes available again, e.g. after the restart that was requested.
      on: {
        'timer.elapsed': 'removingSandbox',
        'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'removingSandbox' },
      },
    },
    removingData: {
      description: 'The directory of the pod is removed. Only what this agent created there is deleted.',
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its directory to be removed' },
      invoke: {
        src: 'removePodData',
        input: ({ context: { allocated: pod, isRewanted } }) => ({ pod, ...(isRewanted ? { keepsLogs: true } : {}) }),
        onDone: 'stoppingActors',
        onError: { target: 'awaitingDataRetry', actions: 'recordFailure' },
      },
    },
    awaitingDataRetry: {
      ...retryWaitState({
        description: 'The directory could not be removed. Another attempt follows after a delay.',
        waitsFor: 'another attempt to remove its directory',
      }),
      tags: ['retrying', 'ended'],
      on: { 'timer.elapsed': 'removingData' },
    },
    stoppingActors: {
      description:
        'Only the actors of the pod are left. They stop in batches, because stopping a thousand of them in one step takes half a second.',
      tags: ['working', 'ended', 'stoppingActors'],
      meta: { waitsFor: 'the actors of its containers and volumes to stop' },
      entry: 'stopActors',
      always: { guard: 'haveActorsStopped', target: '#pod.terminated' },
    },
  },
});
