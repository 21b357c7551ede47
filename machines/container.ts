/** One container of a pod over all its restarts. Its role is input; its pod decides when its turn has come. */
import { and, assign } from 'xstate';
import { identityOf, initialContext, specOf, terminatedRun } from './containerContext.ts';
import { containerSetup } from './containerSetup.ts';
import { failureOf, isRuntimeAway } from './failure.ts';
import { hasEnded } from './stateMeta.ts';

export const containerMachine = containerSetup.createMachine({
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
      meta: { waitsFor: "the runtime's word on what it has of it" },
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
      meta: { waitsFor: 'another try to ask the runtime', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'meeting',
        'runtime.returned': 'meeting',
        'container.stop': { target: 'stopping', actions: 'stopForGood' },
      },
    },
    waiting: {
      meta: { waitsFor: 'its turn' },
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
          meta: { waitsFor: 'a look for the image' },
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
          meta: { waitsFor: 'a slot' },
          entry: 'requestPull',
          on: {
            'gate.granted': 'fetching',
            'container.stop': { target: '#container.stopped', actions: ['stopForGood', 'releasePull'] },
          },
        },
        fetching: {
          meta: { waitsFor: 'the pull of the image' },
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
          meta: { waitsFor: 'the image to be loaded by hand (imagePullPolicy Never)', afterMs: 10_000 },
          invoke: { src: 'timer', input: { after: 10_000 } },
          on: { 'timer.elapsed': 'finding' },
        },
        awaitingRetry: {
          meta: { waitsFor: 'another try', until: 'retryAt' },
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
      meta: { waitsFor: "the pod's sandbox" },
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
          meta: { waitsFor: 'a slot' },
          on: {
            'gate.granted': 'creating',
            'container.stop': { target: '#container.stopped', actions: 'stopForGood' },
          },
        },
        creating: {
          meta: { waitsFor: 'the container to be created' },
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
          meta: { waitsFor: 'the container to be started' },
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
      meta: { waitsFor: 'another try to start', until: 'retryAt' },
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
      meta: { waitsFor: 'the hook', until: 'stopBy' },
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
          meta: { waitsFor: "the runtime's word on whether it still exists" },
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
          meta: { waitsFor: 'the hook', until: 'stopBy' },
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
          meta: { waitsFor: 'the process to end', until: 'stopBy' },
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
          meta: { waitsFor: 'another try', until: 'retryAt' },
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
      meta: { waitsFor: 'the end of the back-off', until: 'retryAt' },
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
