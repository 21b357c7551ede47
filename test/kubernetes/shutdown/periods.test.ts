import { describe, expect, test } from '@jest/globals';
import {
  groupPods,
  type ShutdownPeriod,
  sharedPeriods,
  shutdownGraceSeconds,
  sortPeriods,
  totalPeriodMs,
} from '../../../kubernetes/shutdown/periods.ts';
import { aPod } from '../fixtures.ts';

const SECOND = 1_000;
const CRITICAL = 2_000_000_000;
const HIGHEST_USER_PRIORITY = 1_000_000_000;

const pod = (uid: string, priority?: number) => aPod(priority === undefined ? {} : { priority }, { name: uid, uid });
const period = (priority: number, graceSeconds: number): ShutdownPeriod => ({ priority, graceSeconds });

describe('C49: the time that all pods share', () => {
  // The vectors of `Test_migrateConfig` in pkg/kubelet/nodeshutdown/nodeshutdown_manager_test.go.
  test.each<[string, number, number, readonly ShutdownPeriod[]]>([
    ['is divided among ordinary and critical pods', 300, 120, [period(0, 180), period(CRITICAL, 120)]],
    ['belongs to ordinary pods if critical ones have none', 100, 0, [period(0, 100), period(CRITICAL, 0)]],
    ['is empty by default', 0, 0, []],
    ['is empty if critical pods have more than the total', 1, 100, []],
  ])('%s', (_, total, critical, expected) => {
    expect(sharedPeriods(total * SECOND, critical * SECOND)).toEqual(expected);
  });

  test('is counted in whole seconds', () => {
    expect(sharedPeriods(10_900, 5_500)).toEqual([period(0, 5), period(CRITICAL, 5)]);
  });
});

describe('C49: the groups of pods', () => {
  const uidsByPriority = (periods: readonly ShutdownPeriod[], ...pods: ReturnType<typeof pod>[]) =>
    groupPods(periods, pods).map(({ priority, uids }) => [priority, ...uids]);

  // The vectors of `Test_groupByPriority`.
  test('are those of ordinary and of critical pods', () => {
    const periods = sharedPeriods(300 * SECOND, 120 * SECOND);
    const pods = [pod('normal', 0), pod('highest', HIGHEST_USER_PRIORITY), pod('critical', CRITICAL)];
    expect(groupPods(periods, pods)).toEqual([
      { priority: 0, graceSeconds: 180, uids: ['normal', 'highest'] },
      { priority: CRITICAL, graceSeconds: 120, uids: ['critical'] },
    ]);
  });

  test('begin at their priority, and the first and the last contain all others', () => {
    const periods = [period(1, 10), period(2, 20), period(3, 30), period(4, 40)];
    const pods = [0, 1, 2, 3, 4, 5].map((priority) => pod(`pod-${priority}`, priority));
    expect(uidsByPriority(periods, ...pods)).toEqual([
      [1, 'pod-0', 'pod-1'],
      [2, 'pod-2'],
      [3, 'pod-3'],
      [4, 'pod-4', 'pod-5'],
    ]);
  });

  test('are omitted if they are empty, and a pod between two belongs to the lower one', () => {
    const periods = [period(0, 10), period(100, 20), period(200, 30)];
    expect(uidsByPriority(periods, pod('between', 199), pod('without'))).toEqual([
      [0, 'without'],
      [100, 'between'],
    ]);
    expect(groupPods(periods, [])).toEqual([]);
  });

  test('terminate in ascending order of priority, and the shutdown is delayed by their sum', () => {
    const periods = sortPeriods([period(100, 2), period(-5, 3), period(0, 4)]);
    expect(periods.map(({ priority }) => priority)).toEqual([-5, 0, 100]);
    expect(totalPeriodMs(periods)).toBe(9 * SECOND);
  });
});

// The grace periods in `TestManager` of nodeshutdown_manager_linux_test.go.
test.each<[string, number | undefined, number, number]>([
  ['its group has', undefined, 20, 20],
  ['it has itself, if that is shorter', 2, 20, 2],
  ['its group has, if its own is longer', 1_000, 20, 20],
  ['critical pods do not have', undefined, 0, 0],
])('C49: a pod gets the time that %s', (_, own, ofGroup, expected) => {
  const spec = aPod().spec;
  const { terminationGracePeriodSeconds: _default, ...withoutGrace } = spec;
  const given = { ...aPod(), spec: own === undefined ? withoutGrace : { ...spec, terminationGracePeriodSeconds: own } };
  expect(shutdownGraceSeconds(given, period(0, ofGroup))).toBe(expected);
});
