/** One pod: owns the order of things. Volumes before the sandbox, the sandbox before containers, and the way back. */
import { not } from 'xstate';
import { failureOf } from '../shared/failure.ts';
import type { Seen } from '../shared/stateMeta.ts';
import { allSandboxes, deadlineOf, initialPodContext, type PodContext } from './context.ts';
import { othersFailure } from './others.ts';
import { asFailed, directoryFailed, recordDeadlineEvent, recordTerminationEvent, refusal } from './recordedEvents.ts';
import { podSetup } from './setup.ts';
import { resetting } from './states/resetting.ts';
import { awaitingPodCgroupRetry, resizingPodCgroup } from './states/resizingPodCgroup.ts';
import { sandboxing } from './states/sandboxing.ts';
import { terminating } from './states/terminating.ts';

/** One container after the other, in rounds (C9). */
const launches = [
  { guard: 'isRoundOver', actions: 'beginRound' },
  { guard: 'isLaunchDue', actions: 'launchNext' },
] as const;

export const podMachine = podSetup.createMachine({
  id: 'pod',
  meta: {
    moments: ({ snapshot: { context } }: Seen<PodContext>) =>
      context.termination ? { deadline: deadlineOf(context.termination) } : {},
    facts: ({ snapshot: { context } }: Seen<PodContext>) => ({ name: context.allocated.metadata.name }),
  },
  context: ({ input }) => initialPodContext(input),
  initial: 'new',
  always: [
    { guard: 'isActualStale', actions: 'tellActual' },
    { guard: 'isDeadlineStale', actions: 'countDeadline' },
  ],
  on: {
    'pod.update': { actions: ['desire', 'recordResizeRefusal', 'askAdmission'] },
    'pod.metadataChanged': { actions: ['showMetadata', 'recordMetadata'] },
    'pod.conditionsChanged': { actions: 'recordConditions' },
    'pod.terminate': { target: '.terminating', actions: ['recordTermination', recordTerminationEvent] },
    'pod.deadlineExceeded': { target: '.terminating', actions: ['exceedDeadline', recordDeadlineEvent] },
    'volume.changed': { actions: ['recordVolume', 'shareVolume'] },
    'container.changed': { actions: 'recordContainer' },
    'container.sized': { actions: 'recordSizing' },
    'runtime.podObserved': { actions: 'observe' },
    'runtime.containerSeen': { actions: 'seeContainer' },
    'runtime.returned': { actions: 'passOnReturn' },
    'runtime.networkChanged': { actions: 'recordNetwork' },
    'admission.admitted': { actions: 'applyUpdate' },
    'admission.refused': { actions: ['recordUnadmitted', 'applyRest'] },
    // A fault of ours in a child: the node rebuilds the whole pod from the facts.
    'xstate.error.actor.*': { target: '.broken', actions: 'recordFault' },
  },
  states: {
    new: {
      tags: ['working', 'settingUp'],
      always: [
        { guard: 'mustEnd', target: 'terminating' },
        { guard: 'isRunByOthers', target: 'awaitingOthers' },
        { target: 'admitting' },
      ],
    },
    /** Another agent has it: until that one has removed its sandbox nothing of the pod is made here. */
    awaitingOthers: {
      tags: ['waiting', 'ofOthers'],
      meta: { waitsFor: 'the agent that created its sandbox to remove it' },
      entry: ['recordOthers', { type: 'recordEvent', params: ({ context }) => asFailed(othersFailure(context)) }],
      always: { guard: not('isRunByOthers'), target: 'admitting', actions: 'forgetFailure' },
      on: { 'pod.update': { actions: 'replaceDesired' }, 'runtime.containerSeen': {} },
    },
    admitting: {
      tags: ['waiting', 'admitting', 'settingUp', 'withoutContainers'],
      meta: { waitsFor: 'the node to admit it' },
      entry: 'askAdmission',
      on: {
        'pod.update': { actions: ['replaceDesired', 'askAdmission'] },
        'admission.admitted': [
          // All has run that ever will, under an earlier agent: it has given back, or does so now, what it had.
          {
            guard: 'needsNoSandbox',
            target: 'terminating',
            actions: ['applyUpdate', 'askForRest', 'initialize', 'complete'],
          },
          { target: 'preparing', actions: ['applyUpdate', 'askForRest'] },
        ],
        'admission.refused': {
          target: 'refused',
          actions: ['recordRefusal', { type: 'recordEvent', params: ({ event }) => refusal(event) }],
        },
      },
    },
    /** The node does not take it: Failed, and so it stays until no source wants it. */
    refused: { tags: ['failed', 'ended'], on: { 'pod.update': { actions: 'desire' }, 'pod.deadlineExceeded': {} } },
    preparing: {
      tags: ['preparing', 'settingUp'],
      initial: 'directory',
      states: {
        directory: {
          tags: ['working', 'withoutContainers'],
          meta: { waitsFor: 'its directory to be created' },
          invoke: {
            src: 'preparePod',
            input: ({ context }) => ({ pod: context.allocated, ran: allSandboxes(context) }),
            onDone: 'cgroup',
            onError: {
              target: 'awaitingRetry',
              actions: [
                'recordFailure',
                { type: 'recordEvent', params: ({ event }) => directoryFailed(failureOf(event)) },
              ],
            },
          },
        },
        cgroup: {
          tags: ['working', 'withoutContainers'],
          meta: { waitsFor: 'its cgroup to be created' },
          invoke: {
            src: 'prepareCgroup',
            input: ({ context }) => ({ pod: context.allocated }),
            onDone: 'volumes',
            onError: {
              target: 'awaitingRetry',
              actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => asFailed(failureOf(event)) }],
            },
          },
        },
        awaitingRetry: {
          tags: 'retrying',
          meta: { waitsFor: 'another attempt to create its directory and cgroup', until: 'retryAt' },
          invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
          on: { 'timer.elapsed': 'directory' },
        },
        volumes: {
          tags: ['working', 'withoutContainers'],
          meta: { waitsFor: 'its volumes to be mounted' },
          entry: 'spawnVolumes',
          always: { guard: 'areVolumesSettled', target: '#pod.sandboxing' },
          on: { 'admission.admitted': { actions: ['applyUpdate', 'updateVolumes', 'spawnVolumes'] } },
        },
      },
    },
    sandboxing,
    active: {
      tags: 'active',
      initial: 'choosing',
      on: {
        'runtime.podObserved': [
          { guard: 'doubtsSandbox', target: 'resetting', actions: 'observe' },
          { actions: 'observe' },
        ],
        'admission.admitted': [
          {
            guard: 'changesNetworkMode',
            target: 'resetting',
            actions: ['applyUpdate', 'updateVolumes', 'spawnVolumes'],
          },
          { actions: ['applyUpdate', 'updateVolumes', 'spawnVolumes'] },
        ],
      },
      always: [
        { guard: 'hasRemoved', actions: 'forgetRemoved' },
        // At any time, also before the init containers are done.
        { guard: 'hasNewEphemeral', actions: 'startEphemeral' },
      ],
      states: {
        choosing: {
          tags: 'working',
          always: [{ guard: 'wasInitialized', target: 'running' }, { target: 'initializing' }],
        },
        /** Init containers and sidecars, each in its turn (C3, C4). */
        initializing: {
          tags: 'working',
          meta: { waitsFor: 'its init containers to complete' },
          always: [
            { guard: 'mustRestartAll', target: 'restartingAll' },
            { guard: 'isComplete', target: '#pod.terminating', actions: 'complete' },
            { guard: 'hasNewContainers', actions: 'spawnContainers' },
            { guard: 'isLastTurnOver', target: 'running' },
            { guard: 'isTurnOver', actions: 'startNext' },
            ...launches,
          ],
        },
        /** A restart rule of one wants all to restart in place (C5): the pod keeps its sandbox, address and volumes. */
        restartingAll: {
          tags: ['working', 'restartingAll'],
          meta: { waitsFor: 'all its containers to stop before they restart' },
          entry: 'resetContainers',
          always: { guard: 'isAllReset', target: 'initializing', actions: 'startOver' },
        },
        running: {
          entry: ['initialize', 'startRegular'],
          initial: 'steady',
          always: [
            { guard: 'mustRestartAll', target: 'restartingAll' },
            { guard: 'isComplete', target: '#pod.terminating', actions: 'complete' },
            { guard: 'hasNewContainers', actions: ['spawnContainers', 'startRegular'] },
            ...launches,
          ],
          states: {
            steady: { tags: 'steady', always: { guard: 'mustFit', target: 'resizingPodCgroup' } },
            resizingPodCgroup,
            awaitingPodCgroupRetry,
          },
        },
      },
    },
    resetting,
    terminating,
    /** It ended by itself and is still wanted: its dead containers stay for their logs and statuses. */
    finished: {
      tags: ['done', 'ended'],
      entry: 'settleAdmission',
      always: { guard: 'hasLateSandbox', target: 'terminating.stopping' },
      on: { 'pod.update': { actions: 'desire' }, 'admission.admitted': {}, 'pod.deadlineExceeded': {} },
    },
    terminated: {
      tags: ['done', 'ended', 'terminated'],
      type: 'final',
      entry: ['releaseAdmission', 'leaveLimiters'],
      output: 'gone',
    },
    broken: { tags: 'broken', type: 'final', entry: 'leaveLimiters', output: 'broken' },
  },
  output: ({ event }) => ({ isGone: event.output === 'gone' }),
});
