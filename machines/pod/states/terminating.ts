/** The way back: containers, sandbox, volumes, data, in this order. A part of the chart in chart.ts. */
import { assign } from 'xstate';
import { sourceOf } from '../../../kubernetes/api/staticPod.ts';
import { served } from '../../shared/actorRefs.ts';
import { failureOf, REFUSED_MS } from '../../shared/failure.ts';
import { killFailed } from '../../shared/failureEvents.ts';
import { command, stopActors } from '../commands.ts';
import { areVolumesUnmounted, mayRun, type PodContext } from '../context.ts';
import { recordDeadlineEvent, recordExceededGraceEvent } from '../recordedEvents.ts';
import { allSandboxes, hasLateSandbox } from '../sandbox.ts';
import { type PodArgs, podSetup } from '../setup.ts';
import { hasNoProcess, nextToStop, stopCommand } from '../stopOrder.ts';
import { deadlineOf, staysAfterwards } from '../termination.ts';

/** Once may be a task that is just ending. */
const RESTART_AT = 2;
/** A restart takes a moment, and the removal is tried every ten seconds. */
const RESTART_EVERY = 6;

const isTaskLost = (event: object): boolean =>
  'error' in event && failureOf({ type: '', ...event }).reason === 'TaskLost';

/** The failures for a lost task, with the present one. */
const lostTasks = (context: PodContext): number => (context.lostTasks ?? 0) + 1;

/** Whether the runtime shows one that may run and has no actor yet. */
const hasUntended = ({ containers, observed }: PodContext): boolean =>
  observed.containers.some((each) => mayRun(each) && !Object.hasOwn(containers, each.name));

/** The wait for the moment by which its containers must have ended: no longer than the grace that they have. */
const restOfGrace = ({ termination, endedAt }: PodContext) =>
  termination ? { until: deadlineOf(termination), within: termination.graceSeconds * 1_000 } : { until: endedAt };

const guards = {
  hasLateSandbox: ({ context }: PodArgs) => hasLateSandbox(context),
  hasNoProcess: ({ context }: PodArgs) => hasNoProcess(context),
  needsNoGrace: ({ context }: PodArgs) => hasNoProcess(context) && !hasUntended(context),
  isStopDue: ({ context }: PodArgs) => nextToStop(context) !== undefined,
  areVolumesUnmounted: ({ context }: PodArgs) => areVolumesUnmounted(context),
  hasStoppedActors: ({ context }: PodArgs) => context.queued === undefined,
  needsRuntimeRestart: ({ context, event }: PodArgs) =>
    isTaskLost(event) && lostTasks(context) % RESTART_EVERY === RESTART_AT,
  staysAfterwards: ({ context }: PodArgs) => staysAfterwards(context.termination),
};

const actions = {
  noteStopped: podSetup.assign(({ context }) => ({ stopped: allSandboxes(context) })),
  /** It was stopped, but is kept in mind: its addresses were the pod's, and it has yet to be removed. */
  leaveSandbox: podSetup.assign({
    sandbox: ({ context: { sandbox } }) => sandbox && { ...sandbox, state: 'notReady' as const },
  }),
  stopContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = Object.keys(context.containers);
    const commands = names.map((name) => ({ names: [name], event: stopCommand(context, name) }));
    command(enqueue, context, commands);
  }),
  /** The next sidecar's turn to stop has come (C11). */
  stopNext: podSetup.enqueueActions(({ context, enqueue }) => {
    const name = nextToStop(context);
    if (name === undefined) return;
    const released = [...context.released, name];
    enqueue.assign({ released });
    const event = stopCommand({ ...context, released }, name);
    command(enqueue, context, [{ names: [name], event }]);
  }),
  /**
   * A pod that no source has any more does not count at admission (`GetActivePods` in `pkg/kubelet/kubelet_pods.go`): its
   * API server's scheduler has given its room away. A static pod still runs, so that others wait for what it holds.
   */
  leaveAdmission: podSetup.enqueueActions(({ context: { allocated, termination }, enqueue }) => {
    if (termination === undefined || staysAfterwards(termination) || termination.reason === 'NodeShutdown') return;
    const { uid } = allocated.metadata;
    const type = sourceOf(allocated) === 'api' ? ('admission.settle' as const) : ('admission.leave' as const);
    enqueue.sendTo(served('admission'), { type, uid });
  }),
  /** The containers have stopped and hold nothing of the node but their host ports, which go with the sandbox (C9). */
  releaseResources: podSetup.sendTo(served('admission'), ({ context }) => ({
    type: 'admission.containersStopped' as const,
    uid: context.allocated.metadata.uid,
  })),
  /** The resources are free for others, but the full name is not before nothing of the pod is left (C9). */
  settleAdmission: podSetup.sendTo(served('admission'), ({ context }) => ({
    type: 'admission.settle' as const,
    uid: context.allocated.metadata.uid,
  })),
  countLostTask: podSetup.assign(({ context, event }) => (isTaskLost(event) ? { lostTasks: lostTasks(context) } : {})),
  unmountVolumes: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = Object.keys(context.volumes);
    command(enqueue, context, [{ to: 'volumes', names, event: { type: 'volume.unmount' } }]);
  }),
  stopActors: podSetup.enqueueActions(({ context, enqueue }) => stopActors(enqueue, context)),
};

export const terminatingImplementations = { guards, actions };

const overdue = { guard: 'isKillLimitOver', actions: recordExceededGraceEvent } as const;

export const terminating = podSetup.extend(terminatingImplementations).createStateConfig({
  initial: 'containers',
  entry: 'leaveAdmission',
  // A call that was given up, or a runtime that came back, may bring one late: nothing of the pod may outlive it.
  always: { guard: 'hasLateSandbox', target: '.stopping' },
  on: {
    'pod.update': { actions: 'desire' },
    // Nothing of it runs or is written again.
    'pod.metadataChanged': { actions: 'recordMetadata' },
    'pod.terminate': { actions: ['recordTermination', 'leaveAdmission', 'stopContainers'] },
    'admission.admitted': {},
    'pod.deadlineExceeded': [{ guard: 'isDeadlineOver', actions: ['exceedDeadline', recordDeadlineEvent] }, {}],
  },
  states: {
    /** What goes on in one that has completed has its grace from now, however long ago the others have ended (C10). */
    beginning: {
      tags: 'working',
      meta: { waitsFor: 'its grace to begin' },
      always: { guard: 'needsNoGrace', target: 'containers' },
      invoke: {
        src: 'pickMoment',
        input: { withinMs: 0 },
        onDone: {
          target: 'containers',
          // A command that came meanwhile says itself from when its grace counts.
          actions: assign(({ context: { termination }, event }) =>
            termination?.reason === 'Completed' ? { termination: { ...termination, at: event.output.at } } : {},
          ),
        },
        onError: 'containers',
      },
    },
    containers: {
      tags: 'working',
      initial: 'graceful',
      states: {
        graceful: {
          tags: 'inGrace',
          meta: { waitsFor: 'its containers to end', until: 'deadline' },
          invoke: { src: 'timer', input: ({ context }) => restOfGrace(context) },
          on: {
            'timer.elapsed': 'overdue',
            'pod.terminate': {
              target: 'graceful',
              reenter: true,
              actions: ['recordTermination', 'leaveAdmission', 'stopContainers'],
            },
          },
        },
        /** What is left is killed now, which takes as long as it takes the runtime. */
        overdue: { meta: { waitsFor: 'its containers to end' } },
      },
      entry: ['spawnContainers', 'stopContainers'],
      always: [
        { guard: 'hasNoProcess', target: 'stopping' },
        { guard: 'isStopDue', actions: 'stopNext' },
      ],
      on: { 'pod.killLimitExceeded': overdue },
    },
    stopping: {
      tags: 'working',
      meta: { waitsFor: 'its sandbox to stop' },
      entry: ['noteStopped', 'releaseResources'],
      invoke: {
        src: 'stopSandboxes',
        input: ({ context }) => ({ pod: context.allocated, ids: allSandboxes(context) }),
        onDone: { target: 'volumes', actions: ['leaveSandbox', 'settleAdmission'] },
        onError: {
          target: 'awaitingStopRetry',
          actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => killFailed(failureOf(event)) }],
        },
      },
      on: { 'pod.killLimitExceeded': overdue },
    },
    awaitingStopRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to stop its sandbox', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'stopping',
        'runtime.returned': { guard: 'failedForRuntime', target: 'stopping' },
        'pod.killLimitExceeded': overdue,
      },
    },
    volumes: {
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its volumes to be unmounted' },
      entry: ['unmountVolumes', 'spawnVolumes'],
      always: { guard: 'areVolumesUnmounted', target: 'cgroup' },
    },
    /** Also of one that stays, for it takes nothing of its class any more (C9). */
    cgroup: {
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its cgroup to be removed' },
      invoke: {
        src: 'removeCgroup',
        input: ({ context }) => ({ pod: context.allocated, ran: allSandboxes(context) }),
        onDone: [{ guard: 'staysAfterwards', target: '#pod.finished' }, { target: 'removing' }],
        onError: {
          target: 'awaitingCgroupRetry',
          actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => killFailed(failureOf(event)) }],
        },
      },
    },
    awaitingCgroupRetry: {
      tags: ['retrying', 'ended'],
      meta: { waitsFor: 'another attempt to remove its cgroup', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'cgroup', 'runtime.returned': { guard: 'failedForRuntime', target: 'cgroup' } },
    },
    /** The runtime's objects, then the pod's data: in this order nothing is left that still needs the other. */
    removing: {
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its sandbox to be removed' },
      invoke: {
        src: 'removeSandboxes',
        input: ({ context }) => ({ ids: allSandboxes(context) }),
        onDone: 'erasing',
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
    /** The runtime has lost track of a container and will not remove its sandbox before it has looked again. */
    restartingRuntime: {
      tags: ['working', 'ended'],
      meta: { waitsFor: 'the restart of the container runtime to be requested' },
      invoke: {
        src: 'restartRuntime',
        input: ({ context }) => ({ why: `cannot remove the sandbox ${allSandboxes(context).join(', ')}` }),
        onDone: 'awaitingRemoveRetry',
        onError: 'awaitingRemoveRetry',
      },
    },
    awaitingRemoveRetry: {
      tags: ['retrying', 'ended'],
      meta: { waitsFor: 'another attempt to remove its sandbox', until: 'retryAt' },
      // Meanwhile a restart of the runtime may have been asked for.
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt, within: REFUSED_MS }) },
      on: { 'timer.elapsed': 'removing', 'runtime.returned': { guard: 'failedForRuntime', target: 'removing' } },
    },
    erasing: {
      tags: ['working', 'ended'],
      meta: { waitsFor: 'its directory to be removed' },
      invoke: {
        src: 'removePodData',
        input: ({ context: { allocated: pod, isRewanted } }) => ({ pod, ...(isRewanted ? { keepsLogs: true } : {}) }),
        onDone: 'stoppingActors',
        onError: { target: 'awaitingEraseRetry', actions: 'recordFailure' },
      },
    },
    awaitingEraseRetry: {
      tags: ['retrying', 'ended'],
      meta: { waitsFor: 'another attempt to remove its directory', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'erasing' },
    },
    /** A final state would stop all of them in one step, which takes half a second where there are a thousand. */
    stoppingActors: {
      tags: ['working', 'ended', 'stoppingActors'],
      meta: { waitsFor: 'the actors of its containers and volumes to stop' },
      entry: 'stopActors',
      always: { guard: 'hasStoppedActors', target: '#pod.terminated' },
    },
  },
});
