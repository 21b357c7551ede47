import { describe, expect, test } from '@jest/globals';
import type { Failure, FailureReason } from '../../base/failure.ts';
import type { LimiterView } from '../../show/actors/actorNode.ts';
import { formatExplanation } from '../../show/explain/formatExplanation.ts';
import { explainPod } from '../../show/explain.ts';
import {
  backOff,
  ending,
  exited,
  NOW,
  podView,
  run,
  running,
  type ShownPod,
  sandbox,
  seenPod,
  volumeView,
  waiting,
} from '../kubernetes/views.ts';

const answer = (view: ShownPod, limiters: readonly LimiterView[] = []) =>
  explainPod(seenPod(view), NOW, { limiters }).answer;
const network = { sandbox: sandbox('10.88.0.5') };
const failure = (reason: FailureReason, message: string): Failure => ({ reason, message, at: NOW - 12_000 });
const until = NOW + 14_000;

const crash = backOff(1, {
  state: 'ended.backingOff',
  since: NOW - 26_000,
  restartCount: 3,
  waitingFor: 'its back-off',
  until,
  lastRun: run(1, { startedAt: NOW - 28_000, finishedAt: NOW - 26_000, message: 'panic: no database' }),
});

const noSuchHost = failure(
  'ErrImagePull',
  'failed to resolve reference "registry.example.com/team/app:1": dial tcp: lookup registry.example.com: no such host',
);

const startLimiter: LimiterView = {
  capacity: 2,
  held: ['u-8/a/start', 'u-9/a/start'],
  queue: ['u-7/a/start', 'u-1/app/start', 'u-3/b/start'],
};

interface Story {
  readonly what: string;
  readonly view: ShownPod;
  readonly limiters?: readonly LimiterView[];
  readonly text: string;
}

const stories: Story[] = [
  {
    what: 'a healthy pod',
    view: podView({
      main: { app: running(), writer: running({ restartCount: 1 }) },
      view: { ...network, volumes: [volumeView('data')] },
    }),
    text: `
default/web  Running  2/2 ready                                     12:02:56 UTC

  pod web is running, with 2 of 2 containers ready

pod web              running  2m10s
│    address 10.88.0.5
├─ volume data       mounted  2m9s
├─ container app     running  60s    ready
└─ container writer  running  60s    ready, 1 restart
`,
  },
  {
    what: 'a crash loop',
    view: podView({ main: { app: running(), crash }, view: { ...network, volumes: [volumeView('data')] } }),
    text: `
default/web  CrashLoopBackOff  1/2 ready                            12:02:56 UTC

  container crash keeps failing: exit code 1 after 2s: panic: no database;
  restarts at 12:03:10 (in 14s)

pod web             running           2m10s
│    address 10.88.0.5
├─ volume data      mounted           2m9s
├─ container app    running           60s    ready
└─ container crash  ended.backingOff  26s    3 restarts
     waiting for its back-off until 12:03:10 (in 14s)
     last run: exit code 1 after 2s: panic: no database, at 12:02:30
`,
  },
  {
    what: 'an image that must not be pulled',
    view: podView({
      main: {
        app: waiting('ErrImageNeverPull', {
          state: 'pending.gettingImage.missing',
          since: NOW - 12_000,
          waitingFor: 'its image to be loaded by hand (pull policy Never)',
        }),
      },
      view: network,
    }),
    text: `
default/web  ErrImageNeverPull  0/1 ready                           12:02:56 UTC

  container app is waiting for its image to be loaded by hand (pull policy
  Never) (for 12s so far); "statelet image import FILE.tar" imports an image
  from a file

pod web           running                       2m10s
│    address 10.88.0.5
└─ container app  pending.gettingImage.missing  12s
     waiting for its image to be loaded by hand (pull policy Never)
`,
  },
  {
    what: 'an image pull back-off',
    view: podView({
      main: {
        app: waiting('ImagePullBackOff', {
          state: 'pending.gettingImage.awaitingRetry',
          since: NOW - 12_000,
          waitingFor: 'the next pull',
          until,
          lastFailure: noSuchHost,
        }),
      },
      view: network,
    }),
    text: `
default/web  ImagePullBackOff  0/1 ready                            12:02:56 UTC

  container app is in image pull back-off: ErrImagePull: failed to resolve
  reference "registry.example.com/team/app:1": dial tcp: lookup
  registry.example.com: no such host; next attempt at 12:03:10 (in 14s);
  "statelet image import FILE.tar" imports an image from a file (for
  imagePullPolicy IfNotPresent or Never)

pod web           running                             2m10s
│    address 10.88.0.5
└─ container app  pending.gettingImage.awaitingRetry  12s
     waiting for the next pull until 12:03:10 (in 14s)
     last failure, 12s ago: ErrImagePull: failed to resolve reference
     "registry.example.com/team/app:1": dial tcp: lookup registry.example.com:
     no such host
`,
  },
  {
    what: 'waiting in the start queue',
    view: podView({
      main: { app: waiting('ContainerCreating', { state: 'launching.creatingContainer.queued', since: NOW - 5_000 }) },
      view: network,
    }),
    limiters: [{ capacity: 1, held: [], queue: [] }, startLimiter],
    text: `
default/web  ContainerCreating  0/1 ready                           12:02:56 UTC

  container app is waiting in the start queue: place 2 of 3, 2 at a time

pod web           running                             2m10s
│    address 10.88.0.5
└─ container app  launching.creatingContainer.queued  5s
     waiting in the start queue: place 2 of 3, 2 at a time
`,
  },
  {
    what: 'a volume that fails to mount',
    view: podView({
      main: { app: waiting('ContainerCreating', { waitingFor: 'its volumes' }) },
      view: {
        state: 'preparing',
        waitingFor: 'volumes',
        volumes: [
          volumeView('data'),
          volumeView('shared', {
            mounted: false,
            state: 'awaitingRetry',
            since: NOW - 2_000,
            waitingFor: 'the next attempt',
            until,
            lastFailure: failure('FailedMount', 'hostPath /srv/shared is not a directory'),
          }),
        ],
      },
    }),
    text: `
default/web  ContainerCreating  0/1 ready                           12:02:56 UTC

  volume shared is not mounted: FailedMount: hostPath /srv/shared is not a
  directory; next attempt at 12:03:10 (in 14s)

pod web           preparing      2m10s
│    waiting for volumes
├─ volume data    mounted        2m9s
├─ volume shared  awaitingRetry  2s
│    waiting for the next attempt until 12:03:10 (in 14s)
│    last failure, 12s ago: FailedMount: hostPath /srv/shared is not a directory
└─ container app  waiting        60s
     waiting for its volumes
`,
  },
  {
    what: 'terminating with grace',
    view: podView({
      main: {
        app: running({
          state: 'stopping.killing',
          tags: ['working', 'stopping', 'killing'],
          since: NOW - 10_000,
          waitingFor: 'its exit',
          until,
        }),
      },
      view: { ...network, ...ending(), state: 'terminating', since: NOW - 10_000, waitingFor: 'containers', until },
    }),
    text: `
default/web  Terminating  1/1 ready                                 12:02:56 UTC

  pod web is terminating (Removed): container app has until 12:03:10 (in 14s) to
  stop

pod web           terminating       10s
│    address 10.88.0.5
│    waiting for containers until 12:03:10 (in 14s)
└─ container app  stopping.killing  10s    ready
     waiting for its exit until 12:03:10 (in 14s)
`,
  },
  {
    what: 'refused by admission',
    view: podView({
      main: { app: null },
      view: {
        state: 'terminated',
        hasEnded: true,
        refusal: {
          reason: 'OutOfcpu',
          message: "Node didn't have enough resource: cpu, requested: 4000, used: 1800, capacity: 2000",
        },
      },
    }),
    text: `
default/web  OutOfcpu  0/1 ready                                    12:02:56 UTC

  pod web was rejected: OutOfcpu: Node didn't have enough resource: cpu,
  requested: 4000, used: 1800, capacity: 2000; this is final until its manifest
  changes or the agent restarts

pod web  terminated  2m10s
`,
  },
];

describe('the explanation of', () => {
  for (const { what, view, limiters, text } of stories) {
    test(what, () =>
      expect(`\n${formatExplanation(explainPod(seenPod(view), NOW, limiters ? { limiters } : {}))}`).toBe(text),
    );
  }
});

describe('while the runtime is not ready', () => {
  const answerOf = (view: ShownPod) =>
    explainPod(seenPod(view), NOW, { runtimeNotReady: 'no answer within 5 s' }).answer;
  const why = '; the container runtime is not ready: no answer within 5 s';

  test('the answer for a waiting pod mentions that the runtime is not ready', () => {
    const waits = podView({ main: { app: waiting('ContainerCreating', { waitingFor: 'a look for the image' }) } });
    expect(answerOf(waits)).toBe(`container app is waiting for a look for the image (for 60s so far)${why}`);
    expect(answerOf(podView({ main: { app: running(), crash }, view: network }))).toMatch(
      /: exit code 1.*; the container/,
    );
  });

  test('the note is omitted for pods that run, have ended or already mention it', () => {
    expect(answerOf(podView({ main: { app: running() }, view: network }))).toBe(
      'pod web is running, with 1 of 1 containers ready',
    );
    const ended = podView({ main: { app: exited(1) }, view: { hasEnded: true } });
    expect(answerOf(ended)).toBe(answer(ended));
    const awaiting = podView({
      view: {
        state: 'awaitingNode',
        tags: ['waiting', 'awaitingNode'],
        since: NOW,
        waitingFor: 'the container runtime, which is not ready: no answer',
      },
    });
    expect(answerOf(awaiting)).toBe('pod web is waiting for the container runtime, which is not ready: no answer');
  });

  test('the note follows a failure unless the failure is about the runtime', () => {
    const waitingFor = 'another attempt to create its sandbox';
    const toldAfter = (reason: FailureReason, message: string) =>
      answerOf(podView({ view: { waitingFor, lastFailure: failure(reason, message) } }));
    expect(toldAfter('RuntimeUnavailable', 'RunPodSandbox: no answer')).toBe(
      'pod web is waiting for another attempt to create its sandbox: RuntimeUnavailable: RunPodSandbox: no answer',
    );
    const words = 'the container runtime has no handler x';
    expect(toldAfter('FailedCreatePodSandBox', words)).toBe(
      `pod web is waiting for another attempt to create its sandbox: FailedCreatePodSandBox: ${words}${why}`,
    );
    const lost = { lastFailure: failure('RuntimeUnavailable', 'gone'), waitingFor };
    expect(answerOf(podView({ main: { app: waiting('ContainerCreating', lost) }, view: network }))).not.toContain(why);
    const unmounted = { mounted: false, lastFailure: failure('RuntimeUnavailable', 'gone') };
    expect(answerOf(podView({ view: { volumes: [volumeView('data', unmounted)] } }))).not.toContain(why);
  });
});

describe('the answer names', () => {
  const initializing = waiting('PodInitializing', { waitingFor: 'the containers before it' });
  const behind = { main: { app: initializing } };
  const creating = podView({ main: { app: waiting() }, view: network });
  const withoutSandbox = podView({ ...behind, view: { waitingFor: 'its sandbox' } });

  test.each<[string, ShownPod]>([
    [
      'init container setup has been running for 60s; the other containers are waiting for it',
      podView({ init: { done: exited(0), setup: running() }, ...behind, view: network }),
    ],
    [
      'init container setup keeps failing: exit code 2 after 30s; restarts at 12:03:10 (in 14s)',
      podView({ init: { setup: backOff(2, { until }) }, ...behind, view: network }),
    ],
    [
      'sidecar proxy is running but not ready: waiting for its startup probe until 12:03:10 (in 14s)',
      podView({
        sidecars: { proxy: running({ ready: false, waitingFor: 'its startup probe', until }) },
        ...behind,
        view: network,
      }),
    ],
    ['container app is running but not ready', podView({ main: { app: running({ ready: false }) }, view: network })],
    ['container app is waiting for the containers before it (for 60s so far)', podView({ ...behind, view: network })],
    ['container app is waiting: ContainerCreating (for 60s so far)', creating],
    [
      'container app has terminated: exit code 1 after 30s; it will not be restarted',
      podView({ main: { done: exited(0), app: exited(1), other: running() } }),
    ],
    [
      'container app has terminated: exit code 1 after 30s; restarting: waiting for its image',
      podView({ main: { app: exited(1, { willRestart: true, waitingFor: 'its image' }) }, view: network }),
    ],
    [
      'container app has terminated: exit code 1 after 30s; restarting',
      podView({ main: { app: exited(1, { willRestart: true }) }, view: network }),
    ],
    [
      'container app is waiting: CreateContainerError: name in use; next attempt at 12:03:10 (in 14s)',
      podView({
        main: {
          app: waiting('CreateContainerError', { lastFailure: failure('CreateContainerError', 'name in use'), until }),
        },
      }),
    ],
    [
      'volume data is not mounted yet: waiting for its mount to complete (for 2m9s so far)',
      podView({
        ...behind,
        view: { volumes: [volumeView('data', { mounted: false, waitingFor: 'its mount to complete' })] },
      }),
    ],
    ['pod web is waiting for its sandbox (for 2m10s so far)', withoutSandbox],
    [
      'pod web is waiting for the next sandbox: FailedCreatePodSandBox: no bridge; next attempt at 12:03:10 (in 14s)',
      podView({
        ...behind,
        view: { waitingFor: 'the next sandbox', until, lastFailure: failure('FailedCreatePodSandBox', 'no bridge') },
      }),
    ],
    [
      'pod web is running but not ready: corresponding condition of pod readiness gate "x/lb" does not exist.',
      podView({ main: { app: running() }, spec: { readinessGates: [{ conditionType: 'x/lb' }] }, view: network }),
    ],
    [
      'pod web has succeeded: every container exited with code 0',
      podView({ main: { app: exited(0) }, view: { hasEnded: true } }),
    ],
    [
      'pod web has failed: container app: exit code 3 after 30s',
      podView({ main: { done: exited(0), app: exited(3) }, view: { hasEnded: true } }),
    ],
    [
      'pod web has ended: Evicted: the node was low on memory',
      podView({
        main: { app: exited(137) },
        view: {
          hasEnded: true,
          ...ending({ reason: 'Evicted', message: 'the node was low on memory', phase: 'Failed' }),
        },
      }),
    ],
    [
      'pod web has failed: OutOfcpu: too few cores',
      podView({
        main: { app: null },
        view: {
          hasEnded: true,
          restoredStatus: { phase: 'Failed', reason: 'OutOfcpu', message: 'too few cores' },
          ...ending({ reason: 'Completed' }),
        },
      }),
    ],
    [
      'pod web is completing: waiting for its sandbox to stop (for 2m10s so far)',
      podView({
        main: { app: exited(0, { willRestart: false }) },
        view: { sandbox: sandbox('10.0.0.7'), waitingFor: 'its sandbox to stop' },
      }),
    ],
    [
      'pod web is terminating (Removed): container app and 1 more have until 12:03:10 (in 14s) to stop',
      podView({ main: { app: running(), other: running() }, view: { ...ending(), until } }),
    ],
    [
      'pod web is terminating (Removed): volume data is waiting for its unmount to complete (for 2m9s so far)',
      podView({
        main: { app: exited(0) },
        view: { ...ending(), volumes: [volumeView('data', { waitingFor: 'its unmount to complete' })] },
      }),
    ],
  ])('%s', (sentence, view) => expect(answer(view)).toBe(sentence));

  test('the position of the pod itself in a queue', () => {
    const queue = ['u-1/sandbox/start'];
    expect(answer(podView(behind), [{ capacity: 3, held: [], queue }])).toBe(
      'pod web is waiting in the start queue: place 1 of 1, 3 at a time',
    );
  });
});
