import { expect, test } from '@jest/globals';
import { createRail } from '../../../inspect/past/rail.ts';
import type { Member } from '../../../recording/recordingFile.ts';
import type { Stretch } from '../../../recording/stretches.ts';

const member = (at: number, entries: number, failures = 0): Member => ({
  at,
  entries,
  failures,
  size: 1,
  startKind: 'no',
  file: 'f',
  offset: 0,
});

const stretch = (life: string, ...moments: readonly number[]): Stretch => ({
  life,
  machines: 'm',
  versions: { statelet: '1', node: '1' },
  end: 0,
  replayStarts: moments.map((at, index) => ({ at, member: index })),
});

const sum = (counts: readonly number[]) => counts.reduce((one, other) => one + other, 0);

test('every entry is in a bucket, whatever the length of the recording', () => {
  for (const seconds of [0, 1, 2, 239, 240, 241, 480, 481, 100_000]) {
    const members = [0, 0.4, 0.5, 1].map((part) => member(seconds * 1_000 * part, 7));
    const rail = createRail(members, [stretch('a', 0)]);
    expect([seconds, sum(rail?.counts ?? [])]).toEqual([seconds, 28]);
    expect(rail?.counts.length).toBeLessThanOrEqual(240);
    expect((rail?.bucketMs ?? 0) % 1_000).toBe(0);
    expect(rail?.from).toBe(0);
    expect((rail?.counts.length ?? 0) * (rail?.bucketMs ?? 0)).toBeGreaterThanOrEqual(seconds * 1_000);
  }
});

test('the timeline of a running node ends now, and has the failures and the start of each agent', () => {
  const members = [member(10_000, 1), member(12_000, 2, 3), member(30_000, 4, 1)];
  const lives = [stretch('a', 10_000, 12_000), stretch('b', 20_000), stretch('b', 30_000)];
  expect(createRail(members, lives, 70_000)).toEqual({
    from: 10_000,
    to: 70_000,
    bucketMs: 1_000,
    counts: [1, 0, 2, ...new Array(17).fill(0), 4, ...new Array(39).fill(0)],
    failures: [12_000, 30_000],
    restarts: [10_000, 20_000],
  });
});

test('the timeline has at most one failure mark per bucket', () => {
  const members = Array.from({ length: 300_000 }, (_, index) => member(index * 100, 1, 1));
  const { failures, counts, bucketMs } = createRail(members, [stretch('a', 0)]) ?? {};
  expect(counts?.length).toBe(240);
  expect(failures).toEqual(counts?.map((_, index) => index * (bucketMs ?? 0)));
});

test('the timeline contains all entries even if the clock was set back', () => {
  const members = [member(50_000, 1), member(51_000, 2, 1), member(10_000, 4, 1), member(11_000, 8)];
  const rail = createRail(members, [stretch('a', 50_000), stretch('b', 10_000)]);
  expect([rail?.from, rail?.to, sum(rail?.counts ?? [])]).toEqual([10_000, 51_000, 15]);
  expect(rail?.failures).toEqual([10_000, 51_000]);
});

test('a recording without a replayable part has no timeline', () => {
  expect(createRail([member(1, 1)], [])).toBeUndefined();
});
