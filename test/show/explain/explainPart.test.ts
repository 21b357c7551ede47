import { describe, expect, test } from '@jest/globals';
import type { LimiterView } from '../../../show/actors/actorNode.ts';
import { explainPart, type PodPart, partNames } from '../../../show/explain/explainPart.ts';
import { formatPartExplanation } from '../../../show/explain/formatExplanation.ts';
import {
  backOff,
  ending,
  exited,
  NOW,
  nodeActor,
  podView,
  run,
  running,
  type ShownPod,
  sandbox,
  seenPod,
  volumeView,
  waiting,
} from '../../kubernetes/views.ts';

const network = { sandbox: sandbox('10.88.0.5') };
const until = NOW + 14_000;
const crash = backOff(1, {
  state: 'ended.backingOff',
  tags: ['retrying'],
  since: NOW - 26_000,
  waitingFor: 'its back-off',
  until,
  lastRun: run(1, { startedAt: NOW - 28_000, finishedAt: NOW - 26_000, message: 'panic: no database' }),
});
const failed = { reason: 'FailedMount', message: 'no such disk', at: NOW - 3_000 } as const;
const mount = (more: object) =>
  volumeView('data', { mounted: false, tags: ['retrying'], waitingFor: 'a retry', ...more });

const container = (name: string): PodPart => ({ kind: 'container', name });
const data: PodPart = { kind: 'volume', name: 'data' };
const pull: LimiterView = { capacity: 1, held: ['x/y/pull'], queue: ['u-1/pulls/pull', 'z/y/pull'] };

describe('the answer is about this part, even if another one has a worse problem', () => {
  const both = podView({ main: { app: running(), crash }, view: network });
  const gone = podView({ main: { app: exited(0) }, view: { ...network, hasEnded: true } });
  const ends = podView({ main: { app: running({ until }), crash }, view: { ...network, ...ending() } });
  const queued = podView({
    main: { pulls: waiting('ContainerCreating', { waitingFor: 'a pull slot' }) },
    view: network,
  });
  const unmounted = podView({ main: { app: waiting() }, view: { volumes: [mount({ lastFailure: failed, until })] } });
  const unready = podView({
    main: {
      app: running({
        ready: false,
        children: [
          nodeActor('readiness', { machine: 'probe', lastFailure: { ...failed, message: 'no answer' }, until }),
        ],
      }),
    },
    view: network,
  });
  const later = podView({ main: { app: waiting('ContainerCreating', { waitingFor: 'its turn' }) }, view: network });
  test.each<[string, ShownPod, PodPart]>([
    ['container app is running and ready, for 60s', both, container('app')],
    [
      'container crash keeps failing: exit code 1 after 2s: panic: no database; restarts at 12:03:10 (in 14s)',
      both,
      container('crash'),
    ],
    ['container app has succeeded: exit code 0 after 30s', gone, container('app')],
    ['pod web is terminating (Removed): container app has until 12:03:10 (in 14s) to stop', ends, container('app')],
    ['container pulls is waiting in the pull queue: place 1 of 2, 1 at a time', queued, container('pulls')],
    [
      'volume data is not mounted: FailedMount: no such disk; next attempt at 12:03:10 (in 14s)',
      unmounted,
      container('app'),
    ],
    ['container app is running but not ready: no answer; next attempt at 12:03:10 (in 14s)', unready, container('app')],
    ['container app is waiting for its turn (for 60s so far)', later, container('app')],
    ['volume data is not mounted: FailedMount: no such disk; next attempt at 12:03:10 (in 14s)', unmounted, data],
    ['volume data is mounted', podView({ main: { crash }, view: { volumes: [volumeView('data')] } }), data],
    [
      'volume data is mounted, and waiting for another attempt to update it: FailedMount: no such disk; next attempt at 12:03:10 (in 14s)',
      podView({
        view: {
          volumes: [
            mount({
              mounted: true,
              tags: ['retrying', 'mounted'],
              waitingFor: 'another attempt to update it',
              lastFailure: failed,
              until,
            }),
          ],
        },
      }),
      data,
    ],
    [
      'volume data is waiting for its unmount to complete until 12:03:10 (in 14s)',
      podView({
        view: {
          volumes: [
            mount({
              tags: ['working', 'leaving'],
              state: 'unmounting',
              waitingFor: 'its unmount to complete',
              until,
            }),
          ],
          ...ending(),
        },
      }),
      data,
    ],
    [
      'volume data is unmounted',
      podView({ view: { volumes: [mount({ tags: ['done', 'leaving'], state: 'unmounted' })], hasEnded: true } }),
      data,
    ],
  ])('%s', (answer, view, part) => {
    expect(explainPart(seenPod(view), part, NOW, { limiters: view === queued ? [pull] : [] })?.answer).toBe(answer);
  });
});

test('the text has the state, the probes, the last run and the last log lines', () => {
  const readiness = nodeActor('readiness', {
    machine: 'probe',
    kind: 'probe',
    state: 'failing.waiting',
    tags: ['retrying', 'failing'],
    waitingFor: 'its next attempt',
    until,
    lastFailure: { reason: 'Unhealthy', message: 'no answer', at: NOW },
  });
  const app = running({ restartCount: 3, ready: false, lastRun: run(2), children: [readiness] });
  const seen = seenPod(podView({ main: { app, crash }, view: network }));
  const latestLog = { file: '/var/log/pods/x/app/3.log', lines: ['listening', 'one\x1b[2J'] };
  const found = explainPart(seen, container('app'), NOW, { latestLog });
  expect(found && `\n${formatPartExplanation(found)}`).toBe(`
default/web container app  NotReady  3 restarts                     12:02:56 UTC

  container app is running but not ready: no answer; next attempt at 12:03:10
  (in 14s)

container app       running          60s    not ready, 3 restarts
│    last run: exit code 2 after 30s, at 12:02:26
│    last lines of /var/log/pods/x/app/3.log
│      | listening
│      | one\x1b[2J
└─ probe readiness  failing.waiting  60s
     waiting for its next attempt until 12:03:10 (in 14s)
     last failure, 0s ago: Unhealthy: no answer
`);
});

test('an unknown part has no explanation, and the names of the existing parts are listed', () => {
  const seen = seenPod(podView({ main: { app: running() }, view: { volumes: [volumeView('data')] } }));
  expect(explainPart(seen, container('data'), NOW)).toBeUndefined();
  expect(explainPart(seen, { kind: 'volume', name: 'constructor' }, NOW)).toBeUndefined();
  expect([partNames(seen, 'container'), partNames(seen, 'volume')]).toEqual([['app'], ['data']]);
});
