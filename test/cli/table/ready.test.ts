import { describe, expect, test } from '@jest/globals';
import { nodeReadiness, settledReadiness } from '../../../cli/table/ready.ts';
import type { Pod } from '../../../pod/api/schema/pod.ts';
import { podStatus } from '../../../pod/status/status.ts';
import type { PodView } from '../../../pod/status/view.ts';
import { backOff, exited, NOW, podView, run, running, sandbox, waiting } from '../../pod/views.ts';

const podOf = (view: PodView): Pod => ({
  ...view.pod,
  status: podStatus(view, { now: NOW, hostIps: [], runtimeName: 'containerd' }),
});

const view = { sandbox: sandbox('10.1.0.2') };
const ready = podOf(podView({ main: { web: running() }, view }));
const starting = podOf(podView({ main: { web: waiting() }, view }));
const half = podOf(podView({ main: { web: running(), helper: waiting() }, view }));
const unready = podOf(podView({ main: { web: running({ ready: false }) }, view }));
const inBackOff = podOf(podView({ main: { web: backOff(1) }, view }));
const never = { restartPolicy: 'Never' as const };
const succeeded = podOf(podView({ main: { job: exited(0) }, spec: never, view: { ...view, ended: true } }));
const failed = podOf(podView({ main: { job: exited(3) }, spec: never, view: { ...view, ended: true } }));
const restarted = (ranFor: number) =>
  podOf(podView({ main: { web: running({ last: run(1), now: { kind: 'running', startedAt: NOW - ranFor } }) }, view }));

describe('the pods that the ready line counts', () => {
  test.each([
    ['a ready pod runs', ready, 1, 1],
    ['a pod that starts is waited for', starting, 0, 1],
    ['so is one with only some containers running', half, 0, 1],
    ['so is one that runs and is not ready', unready, 0, 1],
    ['a pod in CrashLoopBackOff is not expected', inBackOff, 0, 0],
    ['nor is one that has just restarted after a failure', restarted(2000), 0, 0],
    ['but it is after it ran for as long as the first back-off', restarted(10_000), 1, 1],
    ['a pod that has succeeded is done', succeeded, 1, 1],
    ['a pod that has failed is not expected', failed, 0, 0],
  ])('%s', (_, pod, runs, expected) => {
    expect(nodeReadiness([pod], NOW)).toEqual({ running: runs, expected });
  });

  test('a pod that is being deleted is not expected', () => {
    const deleted = { ...ready, metadata: { ...ready.metadata, deletionTimestamp: new Date(NOW).toISOString() } };
    expect(nodeReadiness([deleted], NOW)).toEqual({ running: 0, expected: 0 });
  });

  test('a restart after success is no failure', () => {
    const again = podOf(
      podView({ main: { web: running({ last: run(0), now: { kind: 'running', startedAt: NOW } }) }, view }),
    );
    expect(nodeReadiness([again], NOW)).toEqual({ running: 1, expected: 1 });
  });

  test('an init container that keeps failing takes its pod out', () => {
    const stuck = podOf(podView({ init: { setup: backOff(1) }, main: { web: waiting('PodInitializing') }, view }));
    expect(nodeReadiness([stuck, ready], NOW)).toEqual({ running: 1, expected: 1 });
  });
});

describe('the node is ready', () => {
  /** What is said of pods that are shown for so many milliseconds each. */
  function said(...shown: (readonly [pods: readonly Pod[], forMs: number])[]): boolean[] {
    const isSettled = settledReadiness();
    let now = NOW;
    return shown.map(([pods, forMs]) => {
      isSettled(nodeReadiness(pods, now), now);
      now += forMs;
      return isSettled(nodeReadiness(pods, now), now);
    });
  }

  test('when all that are expected have run for a second', () => {
    expect(said([[ready, succeeded, inBackOff], 999])).toEqual([false]);
    expect(said([[ready, succeeded, inBackOff], 1000])).toEqual([true]);
  });

  test('not before', () => {
    expect(said([[ready, starting], 5000])).toEqual([false]);
  });

  test('not without a pod that could run', () => {
    expect(said([[], 5000], [[inBackOff], 5000])).toEqual([false, false]);
  });

  test('a second after the last of them has come or gone', () => {
    const failingAtOnce = restarted(0);
    expect(said([[ready, succeeded], 900], [[succeeded, failingAtOnce], 900], [[succeeded, inBackOff], 100])).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('a second after it was interrupted', () => {
    expect(said([[ready], 900], [[unready], 0], [[ready], 900], [[ready], 100])).toEqual([false, false, false, true]);
  });
});
