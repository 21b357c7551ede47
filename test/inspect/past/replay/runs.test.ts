import { describe, expect, test } from '@jest/globals';
import { Runs } from '../../../../inspect/past/replay/runs.ts';
import type { ContainerStatus, PodStatus } from '../../../../kubernetes/api/schema/status.ts';

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();

const ended = (from: number, to: number, exitCode = 1) => ({
  exitCode,
  reason: 'Error',
  startedAt: at(from),
  finishedAt: at(to),
  containerID: `c${from}`,
});

function statusOf(
  restartCount: number,
  state: NonNullable<ContainerStatus['state']>,
  lastState: NonNullable<ContainerStatus['lastState']> = {},
): PodStatus {
  const own = { name: 'api', restartCount, state, lastState, ready: false, image: '', imageID: '' };
  return { phase: 'Running', containerStatuses: [{ ...own, name: 'other' }, own] };
}

const waiting = { waiting: { reason: 'CrashLoopBackOff' } };

describe('the runs of a container', () => {
  test('are numbered by its restart count, the latest first, each with its delay', () => {
    const runs = new Runs('api');
    runs.addStatus(statusOf(0, { running: { startedAt: at(1) } }));
    expect(runs.completedRuns()).toEqual([]);
    runs.addStatus(statusOf(0, { terminated: ended(1, 3) }));
    expect(runs.completedRuns()).toEqual([{ run: 1, startedAt: 1_000, ranMs: 2_000, exitCode: 1, reason: 'Error' }]);
    // A waiting container has not restarted yet.
    runs.addStatus(statusOf(0, waiting, { terminated: ended(1, 3) }));
    runs.addStatus(statusOf(1, { running: { startedAt: at(13) } }, { terminated: ended(1, 3) }));
    runs.addStatus(statusOf(1, waiting, { terminated: ended(13, 14, 2) }));
    expect(runs.completedRuns().map(({ run, exitCode, waitedMs }) => [run, exitCode, waitedMs])).toEqual([
      [2, 2, undefined],
      [1, 1, 10_000],
    ]);
    runs.addStatus(statusOf(2, { running: { startedAt: at(34) } }, { terminated: ended(13, 14, 2) }));
    expect(runs.completedRuns()[0]).toMatchObject({ run: 2, waitedMs: 20_000 });
  });

  test('from an earlier recording are merged without duplicates', () => {
    const [earlier, runs] = [new Runs('api'), new Runs('api')];
    earlier.addStatus(statusOf(0, { terminated: ended(1, 3) }));
    earlier.addStatus(statusOf(1, { terminated: ended(13, 14) }, { terminated: ended(1, 3) }));
    runs.addStatus(statusOf(2, { terminated: ended(34, 35) }, { terminated: ended(13, 14) }));
    runs.addEarlier(earlier.completedRuns());
    expect(runs.completedRuns().map(({ run, waitedMs }) => [run, waitedMs])).toEqual([
      [3, undefined],
      [2, 20_000],
      [1, 10_000],
    ]);
  });

  test('are distinguished even if they started in the same second, like the first restart', () => {
    const [earlier, runs] = [new Runs('api'), new Runs('api')];
    earlier.addStatus(statusOf(0, { terminated: ended(1, 1) }));
    earlier.addStatus(statusOf(1, { terminated: { ...ended(1, 1), containerID: 'another' } }));
    runs.addStatus(statusOf(1, waiting, { terminated: { ...ended(1, 1), containerID: 'another' } }));
    runs.addEarlier(earlier.completedRuns());
    expect(runs.completedRuns().map(({ run, waitedMs }) => [run, waitedMs])).toEqual([
      [2, undefined],
      [1, 0],
    ]);
  });

  test('are at most ten, and none without a container or times', () => {
    const runs = new Runs('api');
    for (let run = 0; run < 30; run += 1)
      runs.addStatus(statusOf(run, { terminated: ended(run * 10 + 1, run * 10 + 2) }));
    expect(runs.completedRuns().map(({ run }) => run)).toEqual([30, 29, 28, 27, 26, 25, 24, 23, 22, 21]);
    const none = new Runs(undefined);
    none.addStatus(statusOf(0, { terminated: ended(1, 2) }));
    expect(none.completedRuns()).toEqual([]);
    const timeless = new Runs('api');
    timeless.addStatus(statusOf(0, { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } }));
    timeless.addStatus(undefined);
    expect(timeless.completedRuns()).toEqual([]);
  });
});
