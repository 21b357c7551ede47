import { describe, expect, test } from '@jest/globals';
import type { Story, StoryLine } from '../../../inspect/protocol.ts';
import { goTo, toggleHold } from '../../../web/model/actions.ts';
import { takeHole, takeLines } from '../../../web/model/telling.ts';
import { withFrame } from '../../../web/model/world.ts';
import { API, answer, NOW, POD, RUNS, state, UID } from '../support/crashLoop.ts';
import { actorAt, snapshotAt, storyBetween, storyPage } from '../support/storyPage.ts';

const backAgain = state(NOW + 500, API, 'pending.gettingImage', 'working');
const ofAnother = state(NOW + 500, 'pod/other/container/web', 'running.steady', 'steady');

describe('the story of what is selected', () => {
  test('is asked for once, with more than is in sight, and gone on with by what comes live', async () => {
    const { telling, asked, settle, pass } = storyPage();
    await settle();
    expect(asked).toHaveLength(1);
    const window = telling.window.peek();
    expect(asked[0]).toMatchObject({ uid: UID, to: NOW });
    expect(asked[0]?.from).toBeLessThan(window.from - 100_000);
    const before = telling.known.peek()?.story.lines.length ?? 0;
    takeLines(telling, [backAgain, ofAnother], 0);
    pass(5_000);
    await settle();
    expect(telling.known.peek()?.story.lines.slice(before)).toEqual([backAgain]);
    expect(asked).toHaveLength(1);
  });

  test('has each line once that came while it was on its way', async () => {
    const { telling, settle } = storyPage({
      story: async (uid, from, to) => ({ ...storyBetween(uid, from, to), lines: [backAgain] }),
    });
    const later = state(NOW + 501, API, 'launching.readyToCreate', 'waiting');
    takeLines(telling, [backAgain, later], 0);
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
    const { telling, settle } = storyPage({
      first,
      story: () => Promise.reject(new Error('nothing is recorded')),
    });
    await settle();
    expect(telling.known.peek()).toMatchObject({ isUnrecorded: true, story: { from: NOW } });
    takeLines(telling, [backAgain], 0);
    expect(telling.steps.peek()[0]?.moves[0]).toMatchObject({ from: 'ended.backingOff' });
  });
});

test('a short window goes along although frames are ahead of the clock of seconds', async () => {
  const { page, telling, asked, settle } = storyPage();
  await settle();
  telling.choice.value = { spanMs: 2_000 };
  page.live.value = { ...page.live.peek(), at: NOW + 900 };
  page.selected.value = 'startLimiter';
  await settle();
  expect(asked.at(-1)).toMatchObject({ uid: '', to: NOW + 900 });
  expect(telling.known.peek()?.isOpen).toBe(true);
});

test('the lanes of a pod that is gone end with what was last told of it', async () => {
  const first = snapshotAt(NOW, 'live', { actors: [actorAt('')] });
  const { view, settle, pass } = storyPage({ first });
  await settle();
  pass(60_000);
  const bars = view.lanes.peek().find(({ label }) => label === 'api')?.bars;
  expect(bars?.at(-1)?.to).toBeLessThanOrEqual(NOW);
});

describe('what was missed', () => {
  const began = { kind: 'began' as const, at: NOW + 2_000 };
  const adopted = state(NOW + 2_001, API, 'running.steady', 'steady');

  /** A page that has its story, after which the node tells of what only its recording has. */
  async function missing(recorded: readonly StoryLine[]) {
    const told = storyPage({
      story: async (uid, from, to) => {
        const story = storyBetween(uid, from, to);
        const more = recorded.filter(({ at }) => at >= from && at <= to);
        return { ...story, lines: [...story.lines, ...more] };
      },
    });
    await told.settle();
    const before = told.telling.known.peek()?.story.lines ?? [];
    const goOn = (ms: number) => {
      told.page.live.value = { ...told.page.live.peek(), at: NOW + ms };
      told.pass(ms - (told.page.wall.peek() - NOW));
    };
    return { ...told, before, goOn };
  }

  test('before a new snapshot is asked for from the last known moment on, and stands in its place', async () => {
    const { telling, view, asked, before, goOn, settle } = await missing([backAgain, began, adopted]);
    goOn(3_000);
    takeHole(telling);
    const after = state(NOW + 3_100, API, 'ended.exited', 'failed');
    takeLines(telling, [after], 0);
    await settle();
    expect(asked[1]).toEqual({ uid: UID, from: NOW, to: NOW + 3_000 });
    expect(telling.known.peek()?.story.lines.slice(before.length)).toEqual([backAgain, began, adopted, after]);
    // Between what the agent told last and its next life there is nothing.
    const bars = view.lanes.peek().find(({ label }) => label === 'api')?.bars ?? [];
    expect(bars.some(({ from, to }) => from < NOW + 1_900 && to > NOW + 600)).toBe(false);
  });

  test('while a story was on its way is not taken for all there is', async () => {
    const answers: ((story: Story) => void)[] = [];
    const { telling, asked, settle } = storyPage({ story: () => new Promise((resolve) => answers.push(resolve)) });
    takeHole(telling);
    takeLines(telling, [adopted], 0);
    answers[0]?.(storyBetween(UID, 0, NOW));
    await settle();
    expect(telling.known.peek()?.story.lines).not.toContain(adopted);
    expect(asked).toHaveLength(2);
  });

  test('of a frame is asked for, at most once a second, and counts for nothing of the pod', async () => {
    const { telling, asked, before, goOn, settle } = await missing([backAgain]);
    for (const ms of [1_000, 1_100, 1_200]) {
      goOn(ms);
      takeLines(telling, [ofAnother], 70);
      await settle();
    }
    expect(asked).toHaveLength(2);
    goOn(2_500);
    await settle();
    expect(asked).toHaveLength(3);
    const story = telling.known.peek()?.story;
    expect(story?.lines.slice(before.length)).toEqual([backAgain]);
    expect(story?.unsaid).toBeUndefined();
  });

  test('is taken in by nothing that nobody waits for', async () => {
    const { telling, settle } = await missing([]);
    takeLines(telling, [backAgain], 0);
    await settle();
    expect(telling.coming.now).toBeUndefined();
  });

  test('of a node that records nothing begins a new story', async () => {
    const { recorded: _, ...first } = snapshotAt(NOW, 'live');
    const { page, telling, settle } = storyPage({ first, story: () => Promise.reject(new Error('nothing')) });
    await settle();
    takeLines(telling, [backAgain], 0);
    page.live.value = { ...page.live.peek(), at: NOW + 5_000 };
    takeHole(telling);
    await settle();
    expect(telling.known.peek()?.story).toMatchObject({ from: NOW + 5_000, lines: [] });
  });
});

test('only what is of the selected pod, or a second, makes lanes and lines anew', async () => {
  const { page, telling, view, settle, pass } = storyPage();
  await settle();
  const [lanes, shown, first] = [view.lanes.value, view.shown.value, telling.steps.value[0]];
  const another = actorAt('pod/other');
  page.live.value = withFrame(page.live.peek(), {
    at: NOW + 100,
    pods: [],
    podsGone: [],
    actors: [another],
    actorsGone: [],
    lines: [ofAnother],
  });
  takeLines(telling, [ofAnother], 0);
  expect([view.lanes.value === lanes, view.shown.value === shown]).toEqual([true, true]);
  takeLines(telling, [backAgain], 0);
  expect(view.lanes.value).not.toBe(lanes);
  // What was known is not looked at again.
  expect(telling.steps.value[0]).toBe(first);
  const rows = view.shown.value;
  expect(rows?.later).toBe(rows?.rows.length);
  pass(1_000);
  expect(view.shown.value).toBe(rows);
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
    takeLines(telling, [backAgain], 0);
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
    const moment = page.past.peek()?.at ?? 0;
    expect(shown?.rows.slice(0, shown.later).every((row) => row.at <= moment)).toBe(true);
    expect(shown?.rows.slice(shown.later).every((row) => row.at > moment)).toBe(true);
    const lane = view.lanes.peek().find(({ label }) => label === 'api');
    expect(lane?.runs.map(({ run }) => run)).toContain(6);
    expect(lane?.until).toBe(NOW + 48_000);
  });
});

test('while the picture is held it stands', async () => {
  const { page, telling, view, settle, pass } = storyPage();
  await settle();
  toggleHold(page);
  const rows = view.shown.peek()?.rows.length;
  takeLines(telling, [answer(NOW + 500, `${API}/0.container.x`, 'findImage', 1), ofAnother, backAgain], 0);
  page.live.value = { ...page.live.peek(), at: NOW + 500 };
  pass(1_000);
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
