import { describe, expect, test } from '@jest/globals';
import type { Story, StoryLine } from '../../../../inspect/protocol.ts';
import { goToTime, toggleFreeze } from '../../../../web/model/navigation/actions.ts';
import { withFrame } from '../../../../web/model/server/world.ts';
import { appendLiveLines, recordGap } from '../../../../web/model/story/storyState.ts';
import { API, answer, NOW, POD, RUNS, state, UID } from '../../support/crashLoop.ts';
import { actorAt, snapshotAt, storyBetween, storyPage } from '../../support/storyPage.ts';

const backAgain = state(NOW + 500, API, 'pending.gettingImage', 'working');
const ofAnother = state(NOW + 500, 'pod/other/container/web', 'running.steady', 'steady');

describe('the story of the selected actor', () => {
  test('is requested once with a margin and continued with live lines', async () => {
    const { storyState, requests, settle, pass } = storyPage();
    await settle();
    expect(requests).toHaveLength(1);
    const window = storyState.range.peek();
    expect(requests[0]).toMatchObject({ uid: UID, to: NOW });
    expect(requests[0]?.from).toBeLessThan(window.from - 100_000);
    const before = storyState.loaded.peek()?.story.lines.length ?? 0;
    appendLiveLines(storyState, [backAgain, ofAnother], 0);
    pass(5_000);
    await settle();
    expect(storyState.loaded.peek()?.story.lines.slice(before)).toEqual([backAgain]);
    expect(requests).toHaveLength(1);
  });

  test('contains each line once that arrived while it was loading', async () => {
    const { storyState, settle } = storyPage({
      story: async (uid, from, to) => ({ ...storyBetween(uid, from, to), lines: [backAgain] }),
    });
    const later = state(NOW + 501, API, 'launching.readyToCreate', 'waiting');
    appendLiveLines(storyState, [backAgain, later], 0);
    await settle();
    expect(storyState.loaded.peek()?.story.lines).toEqual([backAgain, later]);
  });

  test('is that of the node if no pod is selected', async () => {
    const { page, storyState, requests, settle } = storyPage();
    await settle();
    page.selectedPath.value = 'startLimiter';
    await settle();
    expect(requests.map(({ uid }) => uid)).toEqual([UID, '']);
    expect(storyState.loaded.peek()?.uid).toBe('');
  });

  test('of a different pod replaces the one that was loading', async () => {
    const answers: ((story: Story) => void)[] = [];
    const { page, storyState, settle } = storyPage({ story: () => new Promise((resolve) => answers.push(resolve)) });
    page.selectedPath.value = POD;
    page.selectedPath.value = 'admission';
    await settle();
    expect(answers).toHaveLength(1);
    answers[0]?.(storyBetween(UID, NOW - 1, NOW));
    await settle();
    answers[1]?.(storyBetween('', NOW - 1_000_000, NOW));
    await settle();
    expect(storyState.loaded.peek()?.uid).toBe('');
  });

  test('reports a failure and can be requested again', async () => {
    let isAway = true;
    const { storyState, requests, settle } = storyPage({
      story: async (...what) => {
        if (isAway) throw new Error('the recording is away');
        return storyBetween(...what);
      },
    });
    await settle();
    await settle();
    expect(storyState.error.peek()).toBe('the recording is away');
    expect(requests).toHaveLength(1);
    isAway = false;
    storyState.retries.value += 1;
    await settle();
    expect(storyState.error.peek()).toBeUndefined();
    expect(storyState.steps.peek().length).toBeGreaterThan(30);
  });

  test('starts with the page if the node does not record', async () => {
    const { recorded: _, ...first } = snapshotAt(NOW, 'live');
    const { storyState, settle } = storyPage({
      first,
      story: () => Promise.reject(new Error('nothing is recorded')),
    });
    await settle();
    expect(storyState.loaded.peek()).toMatchObject({ isUnrecorded: true, story: { from: NOW } });
    appendLiveLines(storyState, [backAgain], 0);
    expect(storyState.steps.peek()[0]?.moves[0]).toMatchObject({ from: 'ended.backingOff' });
  });
});

test('a short range follows the live view although frames are ahead of the clock', async () => {
  const { page, storyState, requests, settle } = storyPage();
  await settle();
  storyState.rangeChoice.value = { spanMs: 2_000 };
  page.live.value = { ...page.live.peek(), at: NOW + 900 };
  page.selectedPath.value = 'startLimiter';
  await settle();
  expect(requests.at(-1)).toMatchObject({ uid: '', to: NOW + 900 });
  expect(storyState.loaded.peek()?.isOpen).toBe(true);
});

test('the lanes of a deleted pod end with its last line', async () => {
  const first = snapshotAt(NOW, 'live', { actors: [actorAt('')] });
  const { view, settle, pass } = storyPage({ first });
  await settle();
  pass(60_000);
  const bars = view.lanes.peek().find(({ label }) => label === 'api')?.bars;
  expect(bars?.at(-1)?.to).toBeLessThanOrEqual(NOW);
});

describe('missed lines', () => {
  const began = { kind: 'began' as const, at: NOW + 2_000 };
  const adopted = state(NOW + 2_001, API, 'running.steady', 'steady');

  /** Creates a page with a loaded story, after which the node records lines that the page does not receive. */
  async function missing(recorded: readonly StoryLine[]) {
    const opened = storyPage({
      story: async (uid, from, to) => {
        const story = storyBetween(uid, from, to);
        const more = recorded.filter(({ at }) => at >= from && at <= to);
        return { ...story, lines: [...story.lines, ...more] };
      },
    });
    await opened.settle();
    const before = opened.storyState.loaded.peek()?.story.lines ?? [];
    const goOn = (ms: number) => {
      opened.page.live.value = { ...opened.page.live.peek(), at: NOW + ms };
      opened.pass(ms - (opened.page.browserTime.peek() - NOW));
    };
    return { ...opened, before, goOn };
  }

  test('before a new snapshot are requested from the last known time on and inserted in order', async () => {
    const { storyState, view, requests, before, goOn, settle } = await missing([backAgain, began, adopted]);
    goOn(3_000);
    recordGap(storyState);
    const after = state(NOW + 3_100, API, 'ended.exited', 'failed');
    appendLiveLines(storyState, [after], 0);
    await settle();
    expect(requests[1]).toEqual({ uid: UID, from: NOW, to: NOW + 3_000 });
    expect(storyState.loaded.peek()?.story.lines.slice(before.length)).toEqual([backAgain, began, adopted, after]);
    // There is nothing between the last line of the agent and its next life.
    const bars = view.lanes.peek().find(({ label }) => label === 'api')?.bars ?? [];
    expect(bars.some(({ from, to }) => from < NOW + 1_900 && to > NOW + 600)).toBe(false);
  });

  test('while a story was loading do not count as complete', async () => {
    const answers: ((story: Story) => void)[] = [];
    const { storyState, requests, settle } = storyPage({
      story: () => new Promise((resolve) => answers.push(resolve)),
    });
    recordGap(storyState);
    appendLiveLines(storyState, [adopted], 0);
    answers[0]?.(storyBetween(UID, 0, NOW));
    await settle();
    expect(storyState.loaded.peek()?.story.lines).not.toContain(adopted);
    expect(requests).toHaveLength(2);
  });

  test('of a frame are requested at most once per second', async () => {
    const { storyState, requests, before, goOn, settle } = await missing([backAgain]);
    for (const ms of [1_000, 1_100, 1_200]) {
      goOn(ms);
      appendLiveLines(storyState, [ofAnother], 70);
      await settle();
    }
    expect(requests).toHaveLength(2);
    goOn(2_500);
    await settle();
    expect(requests).toHaveLength(3);
    const story = storyState.loaded.peek()?.story;
    expect(story?.lines.slice(before.length)).toEqual([backAgain]);
    expect(story?.unsaid).toBeUndefined();
  });

  test('are ignored without a loaded story', async () => {
    const { storyState, settle } = await missing([]);
    appendLiveLines(storyState, [backAgain], 0);
    await settle();
    expect(storyState.incoming.now).toBeUndefined();
  });

  test('of a node that does not record start a new story', async () => {
    const { recorded: _, ...first } = snapshotAt(NOW, 'live');
    const { page, storyState, settle } = storyPage({ first, story: () => Promise.reject(new Error('nothing')) });
    await settle();
    appendLiveLines(storyState, [backAgain], 0);
    page.live.value = { ...page.live.peek(), at: NOW + 5_000 };
    recordGap(storyState);
    await settle();
    expect(storyState.loaded.peek()?.story).toMatchObject({ from: NOW + 5_000, lines: [] });
  });
});

test('only lines of the selected pod and clock ticks recompute lanes and rows', async () => {
  const { page, storyState, view, settle, pass } = storyPage();
  await settle();
  const [lanes, shown, first] = [view.lanes.value, view.visibleBurst.value, storyState.steps.value[0]];
  const another = actorAt('pod/other');
  page.live.value = withFrame(page.live.peek(), {
    at: NOW + 100,
    pods: [],
    podsGone: [],
    actors: [another],
    actorsGone: [],
    lines: [ofAnother],
  });
  appendLiveLines(storyState, [ofAnother], 0);
  expect([view.lanes.value === lanes, view.visibleBurst.value === shown]).toEqual([true, true]);
  appendLiveLines(storyState, [backAgain], 0);
  expect(view.lanes.value).not.toBe(lanes);
  // Known lines are not processed again.
  expect(storyState.steps.value[0]).toBe(first);
  const rows = view.visibleBurst.value;
  expect(rows?.laterIndex).toBe(rows?.rows.length);
  pass(1_000);
  expect(view.visibleBurst.value).toBe(rows);
});

describe('in the past', () => {
  test('an earlier range is requested, but not during a drag on the rail', async () => {
    const { page, storyState, requests, settle } = storyPage();
    await settle();
    const at = NOW - 1_500_000;
    goToTime(page, at, { isMoving: true });
    await settle();
    expect(requests).toHaveLength(1);
    goToTime(page, at);
    await settle();
    await settle();
    expect(requests).toHaveLength(2);
    expect(requests[1]?.from).toBeLessThan(at - 200_000);
    // Live lines do not continue it.
    const before = storyState.loaded.peek()?.story.lines.length;
    appendLiveLines(storyState, [backAgain], 0);
    expect(storyState.loaded.peek()?.story.lines).toHaveLength(before ?? -1);
    // Returning to the live view requires the lines sent meanwhile.
    page.past.value = undefined;
    await settle();
    expect(requests.at(-1)).toMatchObject({ to: NOW });
  });

  test('the rows are those of the run at the displayed time, and the lanes also show later steps', async () => {
    const { page, view, settle } = storyPage();
    await settle();
    goToTime(page, (RUNS[4] ?? 0) + 40_000);
    await settle();
    await settle();
    const shown = view.visibleBurst.peek();
    expect(shown?.burst.title).toBe('Run 5');
    expect(shown?.nextBurst?.title).toBe('Run 6');
    expect(shown?.rows[shown.currentIndex]).toMatchObject({ text: 'observed', state: { tag: 'retrying' } });
    const moment = page.past.peek()?.at ?? 0;
    expect(shown?.rows.slice(0, shown.laterIndex).every((row) => row.at <= moment)).toBe(true);
    expect(shown?.rows.slice(shown.laterIndex).every((row) => row.at > moment)).toBe(true);
    const lane = view.lanes.peek().find(({ label }) => label === 'api');
    expect(lane?.runs.map(({ run }) => run)).toContain(6);
    expect(lane?.until).toBe(NOW + 48_000);
  });
});

test('a frozen view does not change', async () => {
  const { page, storyState, view, settle, pass } = storyPage();
  await settle();
  toggleFreeze(page);
  const rows = view.visibleBurst.peek()?.rows.length;
  appendLiveLines(storyState, [answer(NOW + 500, `${API}/0.container.x`, 'findImage', 1), ofAnother, backAgain], 0);
  page.live.value = { ...page.live.peek(), at: NOW + 500 };
  pass(1_000);
  expect(view.visibleBurst.peek()?.rows.length).toBe(rows);
  toggleFreeze(page);
  expect(view.visibleBurst.peek()?.rows.length).toBeGreaterThan(rows ?? 0);
});

test('by steps, the last state extends to now, and in the past to the last arrow', async () => {
  const { page, view, settle } = storyPage();
  await settle();
  expect(view.sequence.peek()?.gaps.at(-1)?.text).toMatch(/so far$/);
  goToTime(page, NOW - 1_000);
  await settle();
  await settle();
  expect(view.sequence.peek()?.gaps.at(-1)?.text).not.toMatch(/so far$/);
});
