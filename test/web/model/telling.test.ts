import { describe, expect, test } from '@jest/globals';
import type { Story } from '../../../inspect/protocol.ts';
import { goTo, toggleHold } from '../../../web/model/actions.ts';
import { takeLines } from '../../../web/model/telling.ts';
import { API, answer, NOW, POD, RUNS, state, UID } from '../support/crashLoop.ts';
import { snapshotAt, storyBetween, storyPage } from '../support/storyPage.ts';

const backAgain = state(NOW + 500, API, 'pending.gettingImage', 'working');
const ofAnother = state(NOW + 500, 'pod/other/container/web', 'running.steady', 'steady');

describe('the story of what is selected', () => {
  test('is asked for once, with more than is in sight, and gone on with by what comes live', async () => {
    const { page, telling, asked, settle, pass } = storyPage();
    await settle();
    expect(asked).toHaveLength(1);
    const window = telling.window.peek();
    expect(asked[0]).toMatchObject({ uid: UID, to: NOW });
    expect(asked[0]?.from).toBeLessThan(window.from - 100_000);
    const before = telling.known.peek()?.story.lines.length ?? 0;
    takeLines(page, telling, [backAgain, ofAnother], 0);
    pass(5_000);
    await settle();
    expect(telling.known.peek()?.story.lines.slice(before)).toEqual([backAgain]);
    expect(asked).toHaveLength(1);
  });

  test('has each line once that came while it was on its way', async () => {
    const { page, telling, settle } = storyPage({
      story: async (uid, from, to) => ({ ...storyBetween(uid, from, to), lines: [backAgain] }),
    });
    const later = state(NOW + 501, API, 'launching.readyToCreate', 'waiting');
    takeLines(page, telling, [backAgain, later], 0);
    await settle();
    expect(telling.known.peek()?.story.lines).toEqual([backAgain, later]);
  });

  test('is that of the node where no pod is selected', async () => {
    const { page, telling, asked, settle } = storyPage();
    await settle();
    page.selected.value = 'startLimiter';
    await settle();
    expect(asked.map(({ uid }) => uid)).toEqual([UID, '']);
    expect(telling.known.peek()?.uid).toBe('');
  });

  test('of another pod takes the place of the one that was on its way', async () => {
    const answers: ((story: Story) => void)[] = [];
    const { page, telling, settle } = storyPage({ story: () => new Promise((resolve) => answers.push(resolve)) });
    page.selected.value = POD;
    page.selected.value = 'admission';
    await settle();
    expect(answers).toHaveLength(1);
    answers[0]?.(storyBetween(UID, NOW - 1, NOW));
    await settle();
    answers[1]?.(storyBetween('', NOW - 1_000_000, NOW));
    await settle();
    expect(telling.known.peek()?.uid).toBe('');
  });

  test('that cannot be told says why, and is asked for again when one wants it', async () => {
    let isAway = true;
    const { telling, asked, settle } = storyPage({
      story: async (...what) => {
        if (isAway) throw new Error('the recording is away');
        return storyBetween(...what);
      },
    });
    await settle();
    await settle();
    expect(telling.trouble.peek()).toBe('the recording is away');
    expect(asked).toHaveLength(1);
    isAway = false;
    telling.tries.value += 1;
    await settle();
    expect(telling.trouble.peek()).toBeUndefined();
    expect(telling.steps.peek().length).toBeGreaterThan(30);
  });

  test('begins with the page where nothing is recorded', async () => {
    const { recorded: _, ...first } = snapshotAt(NOW, 'live');
    const { page, telling, settle } = storyPage({
      first,
      story: () => Promise.reject(new Error('nothing is recorded')),
    });
    await settle();
    expect(telling.known.peek()).toMatchObject({ isUnrecorded: true, story: { from: NOW } });
    takeLines(page, telling, [backAgain], 0);
    expect(telling.steps.peek()[0]?.moves[0]).toMatchObject({ from: 'ended.backingOff' });
  });
});

describe('in the past', () => {
  test('an earlier window is asked for, but not while the hand is on the rail', async () => {
    const { page, telling, asked, settle } = storyPage();
    await settle();
    const at = NOW - 1_500_000;
    goTo(page, at, { isMoving: true });
    await settle();
    expect(asked).toHaveLength(1);
    goTo(page, at);
    await settle();
    await settle();
    expect(asked).toHaveLength(2);
    expect(asked[1]?.from).toBeLessThan(at - 200_000);
    // What comes live does not follow on it.
    const before = telling.known.peek()?.story.lines.length;
    takeLines(page, telling, [backAgain], 0);
    expect(telling.known.peek()?.story.lines).toHaveLength(before ?? -1);
    // Going live again needs what came meanwhile.
    page.past.value = undefined;
    await settle();
    expect(asked.at(-1)).toMatchObject({ to: NOW });
  });

  test('the lines are those of the run of the moment, and what came after is still in the lanes', async () => {
    const { page, view, settle } = storyPage();
    await settle();
    goTo(page, (RUNS[4] ?? 0) + 40_000);
    await settle();
    await settle();
    const shown = view.shown.peek();
    expect(shown?.burst.title).toBe('Run 5');
    expect(shown?.after?.title).toBe('Run 6');
    expect(shown?.rows[shown.current]).toMatchObject({ text: 'observed', state: { tag: 'retrying' } });
    const lane = view.lanes.peek().find(({ label }) => label === 'api');
    expect(lane?.runs.map(({ run }) => run)).toContain(6);
    expect(lane?.until).toBe(NOW + 48_000);
  });
});

test('while the picture is held it stands, and what it misses is counted', async () => {
  const { page, telling, view, settle, pass } = storyPage();
  await settle();
  toggleHold(page);
  const rows = view.shown.peek()?.rows.length;
  takeLines(page, telling, [answer(NOW + 500, `${API}/0.container.x`, 'findImage', 1), ofAnother, backAgain], 3);
  page.live.value = { ...page.live.peek(), at: NOW + 500 };
  pass(1_000);
  expect(page.sinceHeld.peek()).toBe(4);
  expect(view.shown.peek()?.rows.length).toBe(rows);
  toggleHold(page);
  expect(view.shown.peek()?.rows.length).toBeGreaterThan(rows ?? 0);
});

test('by steps the last state is drawn up to now, and in the past up to the last arrow', async () => {
  const { page, view, settle } = storyPage();
  await settle();
  expect(view.sequence.peek()?.gaps.at(-1)?.text).toMatch(/so far$/);
  goTo(page, NOW - 1_000);
  await settle();
  await settle();
  expect(view.sequence.peek()?.gaps.at(-1)?.text).not.toMatch(/so far$/);
});
