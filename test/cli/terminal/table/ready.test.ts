import { describe, expect, test } from '@jest/globals';
import { createSettledCheck, nodeReadiness, readinessText } from '../../../../cli/terminal/table/ready.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { podStatus } from '../../../../kubernetes/status/status.ts';
import type { PodView } from '../../../../kubernetes/status/view.ts';
import { backOff, exited, NOW, podView, run, running, sandbox, waiting } from '../../../kubernetes/views.ts';

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
const succeeded = podOf(podView({ main: { job: exited(0) }, spec: never, view: { ...view, hasEnded: true } }));
const failed = podOf(podView({ main: { job: exited(3) }, spec: never, view: { ...view, hasEnded: true } }));
const restarted = (ranFor: number) =>
  podOf(
    podView({ main: { web: running({ lastRun: run(1), now: { kind: 'running', startedAt: NOW - ranFor } }) }, view }),
  );

const deleted = { ...ready, metadata: { ...ready.metadata, deletionTimestamp: new Date(NOW).toISOString() } };
const again = podOf(
  podView({ main: { web: running({ lastRun: run(0), now: { kind: 'running', startedAt: NOW } }) }, view }),
);
const stuck = podOf(podView({ init: { setup: backOff(1) }, main: { web: waiting('PodInitializing') }, view }));
const debugged = podOf(podView({ main: { web: running() }, ephemeral: { debugger: exited(1) }, view }));

describe('the ready line counts', () => {
  test.each([
    ['a ready pod as running', ready, '1/1 pods running'],
    ['a pod that starts as not yet running', starting, '0/1 pods running'],
    ['a pod with only some containers running as not yet running', half, '0/1 pods running'],
    ['a pod that runs and is not ready as not yet running', unready, '0/1 pods running'],
    ['a pod in CrashLoopBackOff as what it is', inBackOff, '0/1 pods running, 1 in CrashLoopBackOff'],
    ['a pod whose init container is in back-off as what it is', stuck, '0/1 pods running, 1 in CrashLoopBackOff'],
    ['a pod that has just restarted after a failure as failing', restarted(2000), '0/1 pods running, 1 failing'],
    ['a pod that has run for as long as the first back-off as running', restarted(10_000), '1/1 pods running'],
    ['a pod that restarted after success as running', again, '1/1 pods running'],
    ['a pod whose debug container has failed as running', debugged, '1/1 pods running'],
    ['a pod that has succeeded as completed', succeeded, '0/1 pods running, 1 completed'],
    ['a pod that has failed as failed', failed, '0/1 pods running, 1 failed'],
    ['a pod that is being deleted as terminating', deleted, '0/1 pods running, 1 terminating'],
  ])('%s', (_, pod, text) => {
    expect(readinessText(nodeReadiness([pod], NOW))).toBe(text);
  });

  test('all pods of the node, and names the few with a problem', () => {
    const named = (name: string, namespace: string) => ({
      ...inBackOff,
      metadata: { ...inBackOff.metadata, name, namespace },
    });
    const few = nodeReadiness([ready, succeeded, named('crash', 'default'), named('crash', 'shop')], NOW);
    expect(readinessText(few, { names: true })).toBe(
      '1/4 pods running, 1 completed, 2 in CrashLoopBackOff (crash, shop/crash)',
    );
    const many = nodeReadiness([ready, ...Array.from({ length: 4 }, () => inBackOff)], NOW);
    expect(readinessText(many, { names: true })).toBe('1/5 pods running, 4 in CrashLoopBackOff');
  });
});

describe('the node', () => {
  /** Returns whether the node is settled, after pods that are each shown for this number of milliseconds. */
  function settledChecks(...shown: (readonly [pods: readonly Pod[], forMs: number])[]): boolean[] {
    const isSettled = createSettledCheck();
    let now = NOW;
    return shown.map(([pods, forMs]) => {
      isSettled(nodeReadiness(pods, now), now);
      now += forMs;
      return isSettled(nodeReadiness(pods, now), now);
    });
  }

  test('is ready when all expected pods have been running for a second', () => {
    expect(settledChecks([[ready, succeeded, inBackOff], 999])).toEqual([false]);
    expect(settledChecks([[ready, succeeded, inBackOff], 1000])).toEqual([true]);
  });

  test('is not ready while a pod is still starting', () => {
    expect(settledChecks([[ready, starting], 5000])).toEqual([false]);
  });

  test('is not ready without a pod that can run', () => {
    expect(settledChecks([[], 5000], [[inBackOff], 5000])).toEqual([false, false]);
  });

  test('is ready a second after the last pod was added or removed', () => {
    const failingAtOnce = restarted(0);
    expect(
      settledChecks([[ready, succeeded], 900], [[succeeded, failingAtOnce], 900], [[succeeded, inBackOff], 100]),
    ).toEqual([false, false, true]);
  });

  test('is ready a second after an interruption', () => {
    expect(settledChecks([[ready], 900], [[unready], 0], [[ready], 900], [[ready], 100])).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});
