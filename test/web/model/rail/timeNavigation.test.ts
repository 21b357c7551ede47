import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { goToTime } from '../../../../web/model/navigation/actions.ts';
import { handleKey } from '../../../../web/model/navigation/keys.ts';
import { createPlayer, nearestTime, parseTime, stepTo } from '../../../../web/model/rail/timeNavigation.ts';
import { startStory } from '../../../../web/model/story/startStory.ts';
import { cycleSpeed, returnToLive, storyKeys } from '../../../../web/model/story/storyKeys.ts';
import { root } from '../../../support/root.ts';
import { API, crashLoop, NOW, POD, PROXY, RUNS, UID } from '../../support/crashLoop.ts';
import { snapshotAt, storyBetween, storyPage } from '../../support/storyPage.ts';

const { lines } = crashLoop();
const run = (number: number) => RUNS[number - 1] ?? 0;

describe('the nearest time', () => {
  test('by event is that of an input', () => {
    const from = { at: run(6) + 2, by: 'event' as const, actor: API };
    expect(nearestTime(lines, { ...from, isForward: true })).toBe(run(6) + 12);
    expect(nearestTime(lines, { ...from, isForward: false })).toBe(run(6));
  });

  test('by change is that of a transition of the selected actor', () => {
    const from = { at: run(6) + 80, by: 'change' as const, actor: API };
    expect(nearestTime(lines, { ...from, isForward: true })).toBe(run(6) + 1_700);
    expect(nearestTime(lines, { ...from, isForward: false })).toBe(run(6) + 12);
    expect(nearestTime(lines, { ...from, actor: PROXY, isForward: true })).toBeUndefined();
  });
});

describe('stepping', () => {
  test('goes back from the live view into the past, and returns to the live view after the last step', async () => {
    const { page, storyState, moments, settle } = storyPage();
    await settle();
    await stepTo(page, storyState, 'change', false);
    await settle();
    expect(moments).toEqual([run(6) + 1_700]);
    expect(page.past.peek()?.at).toBe(run(6) + 1_700);
    await stepTo(page, storyState, 'change', true);
    expect(page.past.peek()).toBeUndefined();
  });

  test('requests lines that are not loaded', async () => {
    const { page, storyState, moments, requests, settle } = storyPage();
    await settle();
    storyState.loaded.value = undefined;
    await stepTo(page, storyState, 'event', false);
    expect(requests.at(-1)).toMatchObject({ uid: UID, to: NOW });
    expect(moments[0]).toBeGreaterThan(run(6));
  });

  test('requests lines around a time that the loaded story does not cover', async () => {
    const { page, storyState, moments, settle, stop } = storyPage();
    await settle();
    stop();
    const known = storyState.loaded.peek();
    if (!known) throw new Error('there is no story');
    // The story ends long before, or its earliest lines have been dropped.
    for (const story of [
      { ...known.story, to: run(2), lines: lines.filter(({ at }) => at <= run(2)) },
      { ...known.story, unsaid: 5, lines: lines.filter(({ at }) => at >= run(6)) },
    ]) {
      storyState.loaded.value = { ...known, story, isOpen: false };
      goToTime(page, run(4) + 1);
      await settle();
      await stepTo(page, storyState, 'event', true);
      await settle();
      expect(moments.at(-1)).toBe(nearestTime(lines, { at: run(4) + 1, by: 'event', actor: API, isForward: true }));
    }
  });

  test('skips nothing if lines were left out', async () => {
    const most = 12;
    const { page, storyState, moments, settle } = storyPage({
      story: async (uid, from, to) => {
        const story = storyBetween(uid, from, to);
        const unsaid = Math.max(0, story.lines.length - most);
        return { ...story, lines: story.lines.slice(-most), ...(unsaid > 0 ? { unsaid } : {}) };
      },
    });
    await settle();
    goToTime(page, run(4) - 1_000);
    await settle();
    await stepTo(page, storyState, 'event', true);
    await settle();
    expect(moments.at(-1)).toBe(nearestTime(lines, { at: run(4) - 1_000, by: 'event', actor: API, isForward: true }));
  });

  test('has no effect before the start of the recording', async () => {
    const { page, storyState, moments, settle } = storyPage({ story: () => Promise.reject(new Error('away')) });
    await settle();
    await stepTo(page, storyState, 'event', false);
    expect(moments).toEqual([]);
  });
});

describe('playing', () => {
  function playing(first = snapshotAt(NOW, 'live')) {
    const timers: (() => void)[] = [];
    const story = storyPage({ first });
    const player = createPlayer(story.page, { scheduleTimeout: (after) => timers.push(after) });
    const next = async (ms: number) => {
      story.pass(ms);
      timers.shift()?.();
      await story.settle();
    };
    return { ...story, player, next };
  }

  test('advances at the selected speed until it reaches the live view', async () => {
    const { page, player, next, settle } = playing();
    goToTime(page, NOW - 30_000);
    await settle();
    player.play(10);
    await next(1_000);
    expect(page.past.peek()?.at).toBe(NOW - 20_000);
    expect(page.isDragging.peek()).toBe(true);
    cycleSpeed(page, player);
    expect(player.speed.peek()).toBe(60);
    await next(0);
    await next(1_000);
    expect(player.speed.peek()).toBeUndefined();
    expect(page.past.peek()).toBeUndefined();
    expect(page.isDragging.peek()).toBe(false);
  });

  test('stops at the end of a recording', async () => {
    const { page, player, next, moments } = playing(snapshotAt(NOW - 1_000, 'file'));
    player.play(1);
    await next(5_000);
    expect(moments.at(-1)).toBe(NOW);
    expect(page.past.peek()).toBeDefined();
    expect(player.speed.peek()).toBeUndefined();
  });

  test('ends on return to the live view', async () => {
    const { page, player, settle } = playing();
    goToTime(page, NOW - 30_000);
    await settle();
    player.play(1);
    returnToLive(page, player);
    expect([page.past.peek(), player.speed.peek(), page.isDragging.peek()]).toEqual([undefined, undefined, false]);
  });
});

describe('parses a time', () => {
  const now = Date.UTC(2026, 0, 2, 7, 43, 52);

  test.each([
    ['07:41:31', Date.UTC(2026, 0, 2, 7, 41, 31)],
    ['7:41', Date.UTC(2026, 0, 2, 7, 41)],
    ['07:41:31.5', Date.UTC(2026, 0, 2, 7, 41, 31, 500)],
    // The last occurrence was yesterday.
    ['23:00', Date.UTC(2026, 0, 1, 23)],
    ['5m ago', now - 300_000],
    ['1h2m3s', now - 3_723_000],
    ['2026-01-02T07:00:00Z', Date.UTC(2026, 0, 2, 7)],
    ['2026-01-02T07:00:00+01:00', Date.UTC(2026, 0, 2, 6)],
    ['2026-01-02T07:00', Date.UTC(2026, 0, 2, 7)],
    ['2026-01-02 07:00:00', Date.UTC(2026, 0, 2, 7)],
    ['2026-01-01', Date.UTC(2026, 0, 1)],
  ])('%s', (text, at) => {
    expect(parseTime(text, now)).toBe(at);
  });

  test.each(['', ' ', '25:00', 'soon', '7', `${'9'.repeat(12)}h`, `${'9'.repeat(400)}s ago`, '2026-13-01'])(
    'and rejects %j',
    (text) => {
      expect(parseTime(text, now)).toBeUndefined();
    },
  );
});

test('a time without an offset is UTC in every time zone', async () => {
  const time = join(root, 'web/model/rail/time.ts');
  const script = `import { parseUtcTime } from ${JSON.stringify(time)}; console.log(parseUtcTime('2026-01-02T07:00'))`;
  const env = { ...process.env, TZ: 'America/New_York' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
  expect(Number(stdout)).toBe(Date.UTC(2026, 0, 2, 7));
});

describe('the keyboard shortcuts of time', () => {
  const stroke = (key: string) => ({ key, shiftKey: false, hasModifier: false, isTyping: false });

  test('run their actions', async () => {
    const { page, storyState, settle } = storyPage();
    await settle();
    let isAsked = false;
    const player = createPlayer(page, { scheduleTimeout: () => 0 });
    const openTimeField = () => {
      isAsked = true;
    };
    page.keys.value = storyKeys({ page, storyState, player, openTimeField });
    const type = async (key: string) => {
      expect(handleKey(page, stroke(key))).toBe(true);
      await settle();
    };
    await type(' ');
    expect(page.frozen.peek()).toBeDefined();
    await type(' ');
    expect(page.frozen.peek()).toBeUndefined();
    await type('[');
    expect(page.past.peek()?.at).toBe(run(6) + 1_700);
    await type(' ');
    expect(player.speed.peek()).toBe(1);
    await type(',');
    expect(player.speed.peek()).toBeUndefined();
    await type('l');
    expect(page.past.peek()).toBeUndefined();
    await type('s');
    expect(page.location.peek().story).toBe('steps');
    await type('g');
    expect(isAsked).toBe(true);
  });

  test('of a recording alone have no Live', () => {
    const { page, storyState } = storyPage({ first: snapshotAt(NOW, 'file') });
    const player = createPlayer(page, { scheduleTimeout: () => 0 });
    const keys = storyKeys({ page, storyState, player, openTimeField: () => {} }).flatMap((action) => action.keys);
    expect(keys).not.toContain('l');
    expect(keys).toContain(' ');
  });
});

test('a started story loads the rail and restarts with the selection', async () => {
  const { page, settle } = storyPage();
  const rail = { from: 0, to: NOW, bucketMs: 1_000, counts: [], failures: [], restarts: [] };
  const timers: number[] = [];
  page.client.rail = () => Promise.resolve(rail);
  const { storyState } = startStory(page, { scheduleTimeout: (_, ms) => timers.push(ms) });
  await settle();
  expect(page.rail.peek()).toBe(rail);
  expect(timers).toEqual([10_000]);
  storyState.selectedBurst.value = 1;
  storyState.expandedRow.value = 'a line';
  page.selectedPath.value = POD;
  expect([storyState.selectedBurst.peek(), storyState.expandedRow.peek()]).toEqual([undefined, undefined]);
  storyState.selectedBurst.value = 1;
  storyState.expandedRow.value = 'a line';
  goToTime(page, NOW - 1_000);
  await settle();
  expect([storyState.selectedBurst.peek(), storyState.expandedRow.peek()]).toEqual([undefined, 'a line']);
});
