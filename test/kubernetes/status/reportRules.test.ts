import { describe, expect, test } from '@jest/globals';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isDeferrableFirstStatus, isUrgentReport, mustNotReport } from '../../../kubernetes/status/reportRules.ts';
import type { PodView } from '../../../kubernetes/status/view.ts';
import { exited, podView, running } from '../views.ts';

const RUNNING: PodStatus = { phase: 'Running' };
const READY: PodStatus = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const PENDING: PodStatus = { phase: 'Pending' };

/** A pod with one running container and this new status. */
function newStatus(status: PodStatus, over: Partial<PodView> = {}) {
  const view = { ...podView({ main: { a: running() } }), ...over };
  return { pod: { ...view.pod, status }, view };
}

describe('a status is not reported', () => {
  const reported = { status: READY, isGone: false };

  test('while the containers of its pod are not known', () => {
    expect(mustNotReport(reported, newStatus(RUNNING, { isUnsettled: true }))).toBe(true);
    expect(mustNotReport(reported, newStatus(RUNNING))).toBe(false);
  });

  test('if its pod terminates and no source has reported it', () => {
    const termination = { reason: 'Deleted', at: 0, graceSeconds: 30, isUnreported: true } as NonNullable<
      PodView['termination']
    >;
    expect(mustNotReport(undefined, newStatus(RUNNING, { termination }))).toBe(true);
  });

  test('C5: if a container leaves the terminated state although it may not restart', () => {
    const stateOf = (state: object): PodStatus => ({
      phase: 'Running',
      containerStatuses: [{ name: 'a', state, ready: false, restartCount: 0, image: '', imageID: '' }],
    });
    const terminated = { status: stateOf({ terminated: { exitCode: 0 } }), isGone: false };
    const { pod, view } = newStatus(stateOf({ running: {} }));
    const never = { ...pod, spec: { ...pod.spec, restartPolicy: 'Never' as const } };
    expect(mustNotReport(terminated, { pod: never, view })).toBe(true);
    expect(mustNotReport({ ...terminated, isGone: true }, { pod: never, view })).toBe(false);
    expect(mustNotReport(terminated, { pod, view })).toBe(false);
  });

  test('C2: if its pod is about to reach a terminal phase, and this agent has not reported the pod', () => {
    const view = podView({ main: { a: exited(0) }, spec: { restartPolicy: 'Never' } });
    const completing = {
      pod: { ...view.pod, status: RUNNING },
      view: { ...view, hasEnded: false, isCompleting: true },
    };
    expect(mustNotReport(undefined, completing)).toBe(true);
    expect(mustNotReport(reported, completing)).toBe(false);
    expect(mustNotReport(undefined, { ...completing, view: { ...completing.view, hasEnded: true } })).toBe(false);
  });
});

describe('a report is urgent', () => {
  const last = { status: RUNNING, ended: false };

  test('if the phase or the readiness has changed, and otherwise it may wait', () => {
    expect(isUrgentReport(last, newStatus(READY))).toBe(true);
    expect(isUrgentReport(last, newStatus(PENDING))).toBe(true);
    expect(isUrgentReport(last, newStatus({ ...RUNNING, podIP: '10.0.0.1' }))).toBe(false);
  });

  test('if the resources of the pod have been released', () => {
    expect(isUrgentReport(last, newStatus(RUNNING, { isReclaimed: true }))).toBe(true);
    expect(isUrgentReport({ ...last, ended: true }, newStatus(RUNNING, { isReclaimed: true }))).toBe(false);
  });

  test('but not before the pod is admitted', () => {
    expect(isUrgentReport(undefined, newStatus(RUNNING))).toBe(true);
    expect(isUrgentReport(undefined, newStatus(RUNNING, { tags: ['admitting'] }))).toBe(false);
  });
});

describe('the first status of a pod may wait for those of other pods', () => {
  test('if the source has an equal phase and readiness', () => {
    expect(isDeferrableFirstStatus(newStatus(PENDING))).toBe(true);
    expect(isDeferrableFirstStatus(newStatus(RUNNING))).toBe(false);
  });

  test('unless the pod is static', () => {
    const { pod, view } = newStatus(PENDING);
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const staticPod = { ...pod, metadata: { ...pod.metadata, annotations } };
    expect(isDeferrableFirstStatus({ pod: staticPod, view })).toBe(false);
  });
});
