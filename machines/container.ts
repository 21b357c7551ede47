/** One container of a pod over all its restarts. Its role is input; its pod decides when its turn has come. */
import { and, assign, sendTo, setup } from 'xstate';
import {
  type ContainerContext,
  type ContainerInput,
  callBackoff,
  crashBackoff,
  failedStart,
  identityOf,
  initialContext,
  isOutdated,
  nextAttempt,
  pullBackoff,
  specOf,
  terminatedRun,
  unknownEnd,
  wantsRestart,
} from './containerContext.ts';
import type { ContainerEvent, ContainerStanding } from './events.ts';
import { failureOf, isRuntimeAway } from './failure.ts';
import { port, timerPort } from './ports.ts';

const hasEnded = (state: string): boolean => state === 'exited' || state === 'unknown';
const sooner = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : Math.min(one, other ?? Infinity);
const gateKey = (context: ContainerContext, gate: string): string =>
  `${context.pod.metadata.uid}/${context.name}/${gate}`;

export const containerMachine = setup({
  types: { input: {} as ContainerInput, context: {} as ContainerContext, events: {} as ContainerEvent },
  actors: {
    findImage: port('findImage'),
    pullImage: port('pullImage'),
    createContainer: port('createContainer'),
    startContainer: port('startContainer'),
    stopContainer: port('stopContainer'),
    inspectContainer: port('inspectContainer'),
    removeContainers: port('removeContainers'),
    runHook: port('runHook'),
    timer: timerPort(),
  },
  guards: {
    neverMade: ({ context }) => context.id === undefined,
    hasSandbox: ({ context }) => context.sandbox !== undefined,
    hasNothingToDiscard: ({ context }) => context.discard.length === 0,
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
    showsAbsence: ({ context, event }) =>
      event.type === 'runtime.containerObserved' && event.container === null && event.id === context.id,
    failedForRuntime: ({ context }) => isRuntimeAway(context.failure),
    mustStay: ({ context }) => context.onEnd === 'stay',
    wantsRestart: ({ context }) => wantsRestart(context),
    backsOff: ({ context }) => crashBackoff(context).crashDelayMs > 0,
    hasSucceeded: ({ context }) => context.run?.exitCode === 0,
    isInit: ({ context }) => context.role === 'init',
  },
  actions: {
    report: sendTo(
      ({ context }) => context.parent,
      ({ context }, params: { standing: ContainerStanding }) => ({
        type: 'container.changed' as const,
        name: context.name,
        standing: params.standing,
        ...(context.run?.finishedAt === undefined ? {} : { endedAt: context.run.finishedAt }),
      }),
    ),
    requestSlot: sendTo(
      ({ context }) => context.startGate,
      ({ context, self }) => ({
        type: 'gate.request',
        key: gateKey(context, 'start'),
        ticket: context.ticket,
        holder: self,
      }),
    ),
    releaseSlot: sendTo(
      ({ context }) => context.startGate,
      ({ context }) => ({ type: 'gate.release', key: gateKey(context, 'start') }),
    ),
    requestPull: sendTo(
      ({ context }) => context.pullGate,
      ({ context, self }) => ({
        type: 'gate.request',
        key: gateKey(context, 'pull'),
        ticket: context.ticket,
        holder: self,
      }),
    ),
    releasePull: sendTo(
      ({ context }) => context.pullGate,
      ({ context }) => ({ type: 'gate.release', key: gateKey(context, 'pull') }),
    ),
    takeSandbox: assign(({ event }) => (event.type === 'sandbox.ready' ? { sandbox: event.sandbox } : {})),
    loseSandbox: assign({ sandbox: undefined }),
    update: assign(({ event }) =>
      event.type === 'container.update' ? { pod: event.pod, volumes: event.volumes } : {},
    ),
    askForNewOne: assign({ onEnd: 'recreate' }),
    stopForGood: assign(({ context, event }) =>
      event.type === 'container.stop' ? { onEnd: 'stay' as const, stopBy: sooner(context.stopBy, event.deadline) } : {},
    ),
    recordEnd: assign(({ event }) =>
      event.type === 'runtime.containerObserved' && event.container !== null
        ? { run: terminatedRun(event.container), stopBy: undefined }
        : {},
    ),
    recordUnknownEnd: assign(({ context }) => ({
      run: unknownEnd(context.id ?? '', context.startedAt),
      stopBy: undefined,
    })),
    recordCallFailure: assign(({ event }) => callBackoff(failureOf(event))),
    recordPullFailure: assign(({ context, event }) => pullBackoff(context, failureOf(event))),
    recordFailedStart: assign(({ context, event }) => {
      const failure = failureOf(event);
      return { failure, run: failedStart(context, failure) };
    }),
    backOff: assign(({ context }) => crashBackoff(context)),
    beginAttempt: assign(({ context }) => nextAttempt(context)),
  },
}).createMachine({
  id: 'container',
  context: ({ input }) => initialContext(input),
  initial: 'new',
  on: {
    'container.update': { actions: 'update' },
    'sandbox.ready': { actions: 'takeSandbox' },
    'sandbox.lost': { actions: 'loseSandbox' },
  },
  states: {
    new: { always: [{ guard: 'neverMade', target: 'waiting' }, { target: 'meeting' }] },
    /** What does the runtime have of it already? After a restart of the agent this is where adoption happens. */
    meeting: {
      invoke: {
        src: 'inspectContainer',
        input: ({ context }) => ({ id: context.id ?? '' }),
        onDone: [
          {
            guard: ({ event }) => event.output?.state === 'running',
            target: 'running',
            actions: assign(({ event }) => ({ startedAt: event.output?.startedAt, imageRef: event.output?.imageRef })),
          },
          {
            guard: ({ event }) => event.output?.state === 'exited' || event.output?.state === 'unknown',
            target: 'waiting',
            actions: assign(({ event }) => (event.output ? { run: terminatedRun(event.output) } : {})),
          },
          // Half-made (created, never started) or gone: made anew under the same number.
          { target: 'waiting' },
        ],
        onError: { target: 'awaitingMeeting', actions: 'recordCallFailure' },
      },
      on: { 'container.stop': { target: 'stopping', actions: 'stopForGood' } },
    },
    awaitingMeeting: {
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'meeting',
        'runtime.returned': 'meeting',
        'container.stop': { target: 'stopping', actions: 'stopForGood' },
      },
    },
    waiting: {
      entry: { type: 'report', params: { standing: 'pending' } },
      on: {
        'container.start': [{ guard: 'hasRun', target: 'exited' }, { target: 'pulling' }],
        'container.stop': { target: 'stopped', actions: 'stopForGood' },
      },
    },
    pulling: {
      initial: 'finding',
      on: { 'container.stop': { target: 'stopped', actions: 'stopForGood' } },
      states: {
        finding: {
          invoke: {
            src: 'findImage',
            input: ({ context }) => ({ image: specOf(context).image ?? '' }),
            onDone: [
              {
                guard: ({ context, event }) => event.output !== null && specOf(context).imagePullPolicy !== 'Always',
                target: 'found',
                actions: assign(({ event }) => ({ imageRef: event.output?.imageRef })),
              },
              {
                guard: ({ context }) => specOf(context).imagePullPolicy === 'Never',
                target: 'missing',
              },
              { target: 'queued' },
            ],
            onError: { target: 'awaitingRetry', actions: 'recordPullFailure' },
          },
        },
        queued: {
          entry: 'requestPull',
          on: {
            'gate.granted': 'fetching',
            'container.stop': { target: '#container.stopped', actions: ['stopForGood', 'releasePull'] },
          },
        },
        fetching: {
          exit: 'releasePull',
          invoke: {
            src: 'pullImage',
            input: ({ context }) => ({ pod: context.pod, image: specOf(context).image ?? '' }),
            onDone: {
              target: 'found',
              actions: assign(({ event }) => ({ imageRef: event.output.imageRef, pullDelayMs: 0, failure: undefined })),
            },
            onError: { target: 'awaitingRetry', actions: 'recordPullFailure' },
          },
        },
        /** Absent, and the policy forbids to pull (C17): somebody may load it by hand, so it is looked for again. */
        missing: {
          invoke: { src: 'timer', input: { after: 10_000 } },
          on: { 'timer.elapsed': 'finding' },
        },
        awaitingRetry: {
          invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
          on: {
            'timer.elapsed': 'finding',
            'runtime.returned': { guard: 'failedForRuntime', target: 'finding' },
          },
        },
        found: { type: 'final' },
      },
      onDone: [{ guard: 'hasSandbox', target: 'launching' }, { target: 'awaitingSandbox' }],
    },
    awaitingSandbox: {
      always: { guard: 'mustStay', target: 'stopped' },
      on: {
        'sandbox.ready': { target: 'launching', actions: 'takeSandbox' },
        'container.stop': { target: 'stopped', actions: 'stopForGood' },
      },
    },
    /** Made and started while it holds a slot of the start gate. */
    launching: {
      entry: 'requestSlot',
      exit: 'releaseSlot',
      initial: 'queued',
      on: { 'sandbox.lost': { target: 'awaitingSandbox', actions: 'loseSandbox' } },
      states: {
        queued: {
          on: {
            'gate.granted': 'creating',
            'container.stop': { target: '#container.stopped', actions: 'stopForGood' },
          },
        },
        creating: {
          entry: { type: 'report', params: { standing: 'live' } },
          invoke: {
            src: 'createContainer',
            input: ({ context }) => ({
              pod: context.pod,
              container: context.name,
              // The state is entered with a sandbox only (`hasSandbox`, `sandbox.ready`).
              sandbox: context.sandbox as NonNullable<typeof context.sandbox>,
              attempt: context.attempt,
              imageRef: context.imageRef ?? '',
              volumes: context.volumes,
            }),
            onDone: [
              {
                guard: 'mustStay',
                target: '#container.stopped',
                actions: assign(({ event, context }) => ({ discard: [...context.discard, event.output.id] })),
              },
              {
                target: 'starting',
                actions: assign(({ context, event }) => ({
                  id: event.output.id,
                  madeFrom: identityOf(context),
                })),
              },
            ],
            onError: [
              { guard: 'mustStay', target: '#container.stopped' },
              { target: '#container.awaitingRelaunch', actions: 'recordCallFailure' },
            ],
          },
          // The call is awaited: what it makes must be known to be removed.
          on: { 'container.stop': { actions: 'stopForGood' } },
        },
        starting: {
          invoke: {
            src: 'startContainer',
            input: ({ context }) => ({ pod: context.pod, container: context.name, id: context.id ?? '' }),
            onDone: [
              {
                guard: ({ event }) => hasEnded(event.output.state),
                target: '#container.exited',
                actions: assign(({ event }) => ({ run: terminatedRun(event.output), failure: undefined })),
              },
              {
                guard: 'mustStay',
                target: '#container.stopping',
                actions: assign(({ event }) => ({ startedAt: event.output.startedAt })),
              },
              {
                target: '#container.started',
                actions: assign(({ event }) => ({ startedAt: event.output.startedAt, failure: undefined })),
              },
            ],
            onError: [
              { guard: 'mustStay', target: '#container.stopping' },
              {
                guard: ({ event }) => isRuntimeAway(failureOf(event)),
                target: '#container.awaitingRelaunch',
                actions: 'recordCallFailure',
              },
              { target: '#container.exited', actions: 'recordFailedStart' },
            ],
          },
          on: { 'container.stop': { actions: 'stopForGood' } },
        },
      },
    },
    awaitingRelaunch: {
      entry: { type: 'report', params: { standing: 'live' } },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'launching',
        'runtime.returned': { guard: 'failedForRuntime', target: 'launching' },
        // An earlier call may have made it although its answer was lost.
        'container.stop': { target: 'stopping', actions: 'stopForGood' },
        'sandbox.lost': { target: 'awaitingSandbox', actions: 'loseSandbox' },
      },
    },
    started: {
      always: [{ guard: 'hasPostStart', target: 'hooking' }, { target: 'running' }],
    },
    /** The postStart hook; when it fails the container is killed (C10). */
    hooking: {
      entry: { type: 'report', params: { standing: 'live' } },
      invoke: {
        src: 'runHook',
        input: ({ context }) => ({
          pod: context.pod,
          container: context.name,
          id: context.id ?? '',
          hook: 'postStart' as const,
          podIp: context.sandbox?.ips?.[0],
          deadline: undefined,
        }),
        onDone: 'running',
        onError: {
          target: 'stopping',
          actions: assign(({ event }) => ({ failure: failureOf(event) })),
        },
      },
      on: {
        'container.stop': { target: 'stopping', actions: 'stopForGood' },
        'sandbox.lost': { target: 'stopping', actions: 'loseSandbox' },
        'runtime.containerObserved': { guard: 'showsEnd', target: 'exited', actions: 'recordEnd' },
      },
    },
    running: {
      entry: { type: 'report', params: { standing: 'running' } },
      initial: 'choosing',
      // The spec may have changed since it was made, also while the agent was away.
      always: { guard: 'isOutdated', target: 'stopping', actions: 'askForNewOne' },
      on: {
        'container.stop': { target: 'stopping', actions: 'stopForGood' },
        'sandbox.lost': { target: 'stopping', actions: 'loseSandbox' },
        'runtime.containerObserved': [
          { guard: 'showsEnd', target: 'exited', actions: 'recordEnd' },
          { guard: 'showsAbsence', target: '.verifying' },
        ],
      },
      states: {
        choosing: { always: [{ guard: 'hasNothingToDiscard', target: 'steady' }, { target: 'tidying' }] },
        tidying: {
          invoke: {
            src: 'removeContainers',
            input: ({ context }) => ({ ids: context.discard }),
            onDone: { target: 'steady', actions: assign({ discard: [] }) },
            // The next restart tries again; the pod's end removes whatever is left.
            onError: 'steady',
          },
        },
        steady: {},
        /** A list without it may be older than it: only the runtime's own word about it counts. */
        verifying: {
          invoke: {
            src: 'inspectContainer',
            input: ({ context }) => ({ id: context.id ?? '' }),
            onDone: [
              { guard: ({ event }) => event.output === null, target: '#container.exited', actions: 'recordUnknownEnd' },
              {
                guard: ({ event }) => event.output !== null && hasEnded(event.output.state),
                target: '#container.exited',
                actions: assign(({ event }) => (event.output ? { run: terminatedRun(event.output) } : {})),
              },
              { target: 'steady' },
            ],
            onError: 'steady',
          },
        },
      },
    },
    stopping: {
      entry: { type: 'report', params: { standing: 'live' } },
      initial: 'choosing',
      on: {
        'container.stop': [
          { guard: 'isSooner', target: '.signalling', actions: 'stopForGood' },
          { actions: 'stopForGood' },
        ],
        'runtime.containerObserved': { guard: 'showsEnd', target: 'exited', actions: 'recordEnd' },
      },
      states: {
        choosing: {
          always: [
            { guard: 'neverMade', target: '#container.exited' },
            { guard: 'hasPreStop', target: 'hooking' },
            { target: 'signalling' },
          ],
        },
        hooking: {
          invoke: {
            src: 'runHook',
            input: ({ context }) => ({
              pod: context.pod,
              container: context.name,
              id: context.id ?? '',
              hook: 'preStop' as const,
              podIp: context.sandbox?.ips?.[0],
              deadline: context.stopBy,
            }),
            onDone: 'signalling',
            onError: { target: 'signalling', actions: assign(({ event }) => ({ failure: failureOf(event) })) },
          },
        },
        signalling: {
          invoke: {
            src: 'stopContainer',
            input: ({ context }) => ({
              id: context.id ?? '',
              graceSeconds: context.pod.spec.terminationGracePeriodSeconds ?? 30,
              deadline: context.stopBy,
            }),
            onDone: [
              { guard: ({ event }) => event.output === null, target: '#container.exited', actions: 'recordUnknownEnd' },
              {
                target: '#container.exited',
                actions: assign(({ event }) =>
                  event.output ? { run: terminatedRun(event.output), stopBy: undefined } : {},
                ),
              },
            ],
            onError: { target: 'awaitingRetry', actions: 'recordCallFailure' },
          },
        },
        awaitingRetry: {
          invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
          on: {
            'timer.elapsed': 'signalling',
            'runtime.returned': { guard: 'failedForRuntime', target: 'signalling' },
          },
        },
      },
    },
    exited: {
      always: [
        { guard: 'mustStay', target: 'stopped' },
        { guard: and(['wantsRestart', 'backsOff']), target: 'backingOff' },
        { guard: 'wantsRestart', target: 'restarting', actions: 'backOff' },
        { target: 'finished' },
      ],
    },
    /** CrashLoopBackOff (C7). */
    backingOff: {
      entry: ['backOff', { type: 'report', params: { standing: 'pending' } }],
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'restarting',
        'container.stop': { target: 'stopped', actions: 'stopForGood' },
      },
    },
    restarting: {
      entry: ['beginAttempt', { type: 'report', params: { standing: 'pending' } }],
      always: 'pulling',
    },
    finished: {
      initial: 'choosing',
      on: {
        // Init containers run again in a new sandbox (C3).
        'container.start': { guard: 'isInit', target: 'pulling', actions: 'beginAttempt' },
        'container.stop': { target: 'stopped', actions: 'stopForGood' },
      },
      states: {
        choosing: { always: [{ guard: 'hasSucceeded', target: 'succeeded' }, { target: 'failed' }] },
        succeeded: { entry: { type: 'report', params: { standing: 'succeeded' } } },
        failed: { entry: { type: 'report', params: { standing: 'failed' } } },
      },
    },
    stopped: { entry: { type: 'report', params: { standing: 'stopped' } } },
  },
});
