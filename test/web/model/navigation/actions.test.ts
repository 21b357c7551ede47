import { describe, expect, test } from '@jest/globals';
import type { Snapshot } from '../../../../inspect/protocol.ts';
import { applyLocation, filterBy, goLive, goToTime, toggleFreeze } from '../../../../web/model/navigation/actions.ts';
import { parseLocation } from '../../../../web/model/navigation/pageLocation.ts';
import { worldOf } from '../../../../web/model/server/world.ts';
import { designSnapshot, NOW, snapshotWith } from '../../support/nodeOnPage.ts';
import { pageModel, until } from '../../support/pageModel.ts';

const later = snapshotWith([], NOW + 10_000);

describe('a time in the past', () => {
  test('is shown when the response arrives, and the previous view stays until then', async () => {
    const { page, written } = pageModel();
    goToTime(page, NOW - 60_000);
    expect(page.world.value.at).toBe(NOW);
    expect(page.pendingSnapshot.value).toMatchObject({ kind: 'asked', at: NOW - 60_000 });
    await until(() => page.past.value !== undefined);
    expect(page.world.value.at).toBe(NOW - 60_000);
    expect(page.now.value).toBe(NOW - 60_000);
    expect(page.pendingSnapshot.value).toBeUndefined();
    expect(written).toEqual(['replace /?at=2026-05-04T07%3A42%3A52.000Z']);
  });

  test('is requested one at a time, and only the last of several is shown', async () => {
    const requests: number[] = [];
    const answers: (() => void)[] = [];
    const snapshot = (at: number) => {
      requests.push(NOW - at);
      return new Promise<Snapshot>((resolve) => answers.push(() => resolve({ ...designSnapshot, at, mode: 'past' })));
    };
    const { page } = pageModel({ snapshot });
    for (const ago of [1_000, 2_000, 3_000]) goToTime(page, NOW - ago, { isMoving: true });
    expect(requests).toEqual([1_000]);
    answers[0]?.();
    await until(() => requests.length === 2);
    answers[1]?.();
    await until(() => page.pendingSnapshot.value === undefined);
    expect(requests).toEqual([1_000, 3_000]);
    expect(page.world.value.at).toBe(NOW - 3_000);
    expect(page.isDragging.value).toBe(true);
  });

  test('is added to the history once, when the drag on the rail ends', () => {
    const { page, written } = pageModel();
    for (const ago of [1_000, 2_000, 3_000]) goToTime(page, NOW - ago, { isMoving: true });
    expect(written).toEqual([]);
    expect(page.location.value.at).toBe(NOW - 3_000);
    goToTime(page, NOW - 4_000);
    expect(written).toEqual(['replace /?at=2026-05-04T07%3A43%3A48.000Z']);
  });

  test('reports no failure if the user has moved on', async () => {
    const fails: (() => void)[] = [];
    const { page } = pageModel({
      snapshot: () => new Promise((_, reject) => fails.push(() => reject(new Error('nothing is recorded of it')))),
    });
    goToTime(page, NOW - 1_000);
    goLive(page);
    fails[0]?.();
    await until(() => page.pendingSnapshot.value?.kind !== 'asked');
    expect(page.pendingSnapshot.value).toBeUndefined();
    goToTime(page, NOW - 1_000);
    fails[1]?.();
    await until(() => page.pendingSnapshot.value?.kind === 'failed');
    applyLocation(page, parseLocation(new URL('/', 'http://page')));
    expect(page.pendingSnapshot.value).toBeUndefined();
  });

  test('reports a failure and leaves the view unchanged', async () => {
    const { page } = pageModel({ snapshot: async () => Promise.reject(new Error('nothing is recorded of it')) });
    goToTime(page, NOW - 1_000);
    await until(() => page.pendingSnapshot.value?.kind === 'failed');
    expect(page.pendingSnapshot.value).toEqual({
      kind: 'failed',
      at: NOW - 1_000,
      message: 'nothing is recorded of it',
    });
    expect(page.world.value.at).toBe(NOW);
  });

  test('is left at once by going live, and a late response is ignored', async () => {
    let answer = () => {};
    const snapshot = (at: number) =>
      new Promise<Snapshot>((resolve) => {
        answer = () => resolve({ ...designSnapshot, at });
      });
    const { page, written } = pageModel({ snapshot });
    goToTime(page, NOW - 1_000);
    goLive(page);
    answer();
    await until(() => page.pendingSnapshot.value === undefined);
    expect(page.past.value).toBeUndefined();
    expect(written.at(-1)).toBe('replace /');
  });
});

test('a frozen view does not change, and unfreezing shows the current state', () => {
  const { page } = pageModel();
  toggleFreeze(page);
  page.live.value = worldOf(later);
  expect([page.world.value.at, page.now.value]).toEqual([NOW, NOW]);
  toggleFreeze(page);
  expect(page.world.value.at).toBe(NOW + 10_000);
});

test('countdowns stop while the connection is lost', () => {
  const { page } = pageModel();
  page.browserTime.value = NOW + 3_000;
  expect(page.now.value).toBe(NOW + 3_000);
  page.connection.value = { kind: 'lost', since: NOW, retryAt: NOW + 2_000 };
  expect(page.now.value).toBe(NOW);
});

test('a filter is part of the location, and an empty one is removed', () => {
  const { page, written } = pageModel();
  filterBy(page, 'is:retrying');
  filterBy(page, ' ');
  expect(written).toEqual(['replace /?q=is%3Aretrying', 'replace /']);
});

test('an invalid time is ignored', () => {
  const { page } = pageModel();
  const { value: place } = page.location;
  expect(() => goToTime(page, 1e20)).toThrow(RangeError);
  expect(page.location.value).toBe(place);
});
