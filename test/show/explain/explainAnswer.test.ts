import { describe, expect, test } from '@jest/globals';
import type { TerminatedRun } from '../../../kubernetes/status/view.ts';
import { formatExplanation } from '../../../show/explain/formatExplanation.ts';
import { explainPod } from '../../../show/explain.ts';
import {
  backOff,
  NOW,
  nodeActor,
  podView,
  run,
  running,
  type ShownPod,
  seenPod,
  volumeView,
  waiting,
} from '../../kubernetes/views.ts';

const answer = (view: ShownPod) => explainPod(seenPod(view), NOW).answer;

describe('a headline', () => {
  const failing = (message = '') =>
    podView({
      main: {
        app: backOff(3, {
          lastRun: run(3, { startedAt: NOW - 14_000, finishedAt: NOW - 12_000, message }),
          until: NOW + 9_000,
        }),
      },
    });

  test('has the date of a deadline that is on a different day', () => {
    const at = (deadline: number) => answer(podView({ main: { app: backOff(1, { until: deadline }) } }));
    expect(at(NOW + 43_200_000)).toMatch(/at 2026-05-05 00:02:56 \(in 12h\)/);
  });

  test('does not name a volume that a running pod no longer uses', () => {
    const lastFailure = { reason: 'FailedUnmount', message: 'device busy', at: NOW } as const;
    const leaving = volumeView('old', { tags: ['retrying', 'leaving'], mounted: false, lastFailure });
    expect(answer(podView({ main: { app: running() }, view: { volumes: [leaving] } }))).toBe(
      'pod web is running, with 1 of 1 containers ready',
    );
  });

  test('has the last line of the log, and the file of the log is listed below', () => {
    const lines = ['starting up', 'no database at db.example:5432'];
    const logs = new Map([['app', { file: '/log/pods/default_web_u-1/app/1.log', lines }]]);
    const explanation = explainPod(seenPod(failing()), NOW, { logs });
    expect(explanation.answer).toBe(
      'container app keeps failing: exit code 3 after 2s: no database at db.example:5432; restarts at 12:03:05 (in 9s)',
    );
    const text = formatExplanation(explanation);
    expect(text).toContain('last lines of /log/pods/default_web_u-1/app/1.log\n');
    expect(text).toContain('| starting up\n');
    expect(explainPod(seenPod(failing('its own word')), NOW, { logs }).answer).toContain('2s: its own word;');
  });

  test('has no duration if the runtime does not know when the container started', () => {
    const lastRun = run(3, { startedAt: 0 });
    expect(answer(podView({ main: { app: backOff(3, { lastRun, until: NOW + 9_000 }) } }))).toBe(
      'container app keeps failing: exit code 3; restarts at 12:03:05 (in 9s)',
    );
  });

  test.each([
    ['runc 1.1', ''],
    ['runc 1.3', 'error during container init: '],
  ])("omits the prefixes of the runtime's layers if a container cannot be started (%s)", (_, prefix) => {
    const message = `failed to create task: runc create failed: unable to start container process: ${prefix}exec: "/no": no such file: unknown`;
    const lastRun = run(128, { reason: 'StartError', message });
    expect(answer(podView({ main: { app: backOff(128, { lastRun, until: NOW + 9_000 }) } }))).toBe(
      'container app keeps failing: could not be started: exec: "/no": no such file; restarts at 12:03:05 (in 9s)',
    );
  });

  test.each<[string, number, Partial<TerminatedRun>, string]>([
    ['that exits with 0 keeps exiting', 0, {}, 'keeps exiting: exit code 0 after 2s: bye'],
    ['that was killed has no cause in its log', 137, {}, 'keeps failing: killed (SIGKILL) after 2s'],
    [
      'that the node killed has the reason',
      137,
      { stopCause: 'Liveness probe failed: no' },
      'keeps failing: killed (SIGKILL) after 2s: Liveness probe failed: no',
    ],
    [
      'that exceeded its memory has no cause in its log',
      137,
      { reason: 'OOMKilled' },
      'keeps failing: OOMKilled, exit code 137 after 2s',
    ],
    ['that crashed names the signal', 139, {}, 'keeps failing: exit code 139 (SIGSEGV) after 2s: bye'],
    ['that handled SIGTERM names no other', 15, { signal: 15 }, 'keeps failing: signal 15 (SIGTERM) after 2s: bye'],
  ])('of a container %s', (_, exitCode, more, expected) => {
    const times = { startedAt: NOW - 14_000, finishedAt: NOW - 12_000 };
    const lastRun = run(exitCode, { ...times, message: 'working\nbye', ...more });
    expect(answer(podView({ main: { app: backOff(exitCode, { lastRun, until: NOW + 9_000 }) } }))).toBe(
      `container app ${expected}; restarts at 12:03:05 (in 9s)`,
    );
  });

  test('counts the failures of a startup probe', () => {
    const lastFailure = { reason: 'Unhealthy', message: 'Startup probe failed: not yet', at: NOW } as const;
    const probe = { kind: 'probe', machine: 'probe', state: 'unknown.waiting', tags: ['waiting'], since: NOW };
    const tries = { lastFailure, until: NOW + 2_000, facts: ['3 of 30 failures'] };
    const children = [nodeActor('startup', { ...probe, ...tries })];
    expect(answer(podView({ main: { app: running({ ready: false, started: false, children }) } }))).toBe(
      'container app is running but has not started yet: Startup probe failed: not yet, 3 of 30 failures; next attempt at 12:02:58 (in 2s)',
    );
  });

  test('names the resource that a rejected pod requests, or the pod that occupies it', () => {
    const refused = (cause: string) =>
      answer(podView({ main: {}, view: { hasEnded: true, refusal: { reason: 'OutOfcpu', message: 'no', cause } } }));
    expect(refused('requests 100 CPUs, but the node has 2 CPUs')).toBe(
      'pod web was rejected: it requests 100 CPUs, but the node has 2 CPUs (OutOfcpu); this is final until its manifest changes or the agent restarts',
    );
  });

  test.each([
    [1_000, '(in 1s)'],
    [0, '(now)'],
    [-4_999, '(now)'],
    [-5_000, '(stuck since then)'],
  ])('describes a deadline %i ms away as %s, and never how long ago it was due', (left, words) => {
    const waits = { waitingFor: 'its image', until: NOW + left };
    expect(answer(podView({ main: { app: waiting('ContainerCreating', waits) } }))).toContain(words);
  });
});

test('an explanation reads a queue once, regardless of the number of queued containers', () => {
  const names = Array.from({ length: 100 }, (_, index) => `c${index}`);
  const keys = names.map((name) => `u-1/${name}/pull`);
  let reads = 0;
  const queue = new Proxy(keys, {
    get: (target, key) => {
      reads += typeof key === 'string' && /^\d+$/.test(key) ? 1 : 0;
      return Reflect.get(target, key);
    },
  });
  const main = Object.fromEntries(names.map((name) => [name, waiting('ContainerCreating')]));
  const { pod } = explainPod(seenPod(podView({ main })), NOW, { limiters: [{ capacity: 1, held: [], queue }] });
  expect(pod.children.map((child) => child.queue?.place)).toEqual(names.map((_, index) => index + 1));
  expect(reads).toBe(names.length);
});
