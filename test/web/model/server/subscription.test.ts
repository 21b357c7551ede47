import { expect, test } from '@jest/globals';
import type { Frame, Snapshot } from '../../../../inspect/protocol.ts';
import { toggleFreeze } from '../../../../web/model/navigation/actions.ts';
import { type EventStream, subscribe } from '../../../../web/model/server/subscription.ts';
import { appendLiveLines, recordGap } from '../../../../web/model/story/storyState.ts';
import { API, answer, state } from '../../support/crashLoop.ts';
import { designSnapshot, NOW } from '../../support/nodeOnPage.ts';
import { pageModel } from '../../support/pageModel.ts';
import { storyPage } from '../../support/storyPage.ts';

/** Creates connections that a test controls. */
function streamsOfTest() {
  const streams: { snapshot: (snapshot: Snapshot) => void; frame: (frame: Frame) => void; end: () => void }[] = [];
  const open = (): EventStream => {
    const stream = { snapshot: (_: Snapshot) => {}, frame: (_: Frame) => {}, end: () => {} };
    streams.push(stream);
    return {
      onSnapshot: (listener) => void Object.assign(stream, { snapshot: listener }),
      onFrame: (listener) => void Object.assign(stream, { frame: listener }),
      onEnd: (listener) => void Object.assign(stream, { end: listener }),
      close: () => {},
    };
  };
  return { open, streams };
}

function followed() {
  const { page } = pageModel();
  const { open, streams } = streamsOfTest();
  const timers: (() => void)[] = [];
  const lines: number[] = [];
  const onLines = (newLines: Frame['lines'], unsaid: number) => void lines.push(newLines.length + unsaid);
  let snapshots = 0;
  const onSnapshot = () => {
    snapshots += 1;
  };
  const leave = subscribe(page, {
    open,
    setTimeout: (after) => timers.push(after),
    now: () => NOW,
    onSnapshot,
    onLines,
  });
  return { page, streams, timers, lines, leave, snapshots: () => snapshots };
}

const frame = (at: number, more: Partial<Frame> = {}): Frame => ({
  at,
  pods: [],
  podsGone: [],
  actors: [],
  actorsGone: [],
  lines: [],
  ...more,
});

test('a lost connection is retried and continues with a new snapshot', () => {
  const { page, streams, timers, leave, snapshots } = followed();
  streams[0]?.frame(frame(NOW + 100));
  streams[0]?.end();
  expect(page.connection.value).toEqual({ kind: 'lost', since: NOW, retryAt: NOW + 2_000 });
  timers[0]?.();
  streams[1]?.snapshot({ ...designSnapshot, at: NOW + 3_000 });
  expect([page.connection.value.kind, page.world.value.at]).toEqual(['live', NOW + 3_000]);
  expect(snapshots()).toBe(1);
  leave();
  streams[1]?.end();
  timers[1]?.();
  expect(streams).toHaveLength(2);
});

const entered = answer(NOW + 150, `${API}/0.container.x`, 'findImage', 1);
const moved = state(NOW + 150, API, 'pending.gettingImage', 'working');

test('events are counted while the view is frozen, including missed ones', () => {
  const { page, streams, lines } = followed();
  streams[0]?.frame(frame(NOW + 100, { lines: [entered] }));
  toggleFreeze(page);
  streams[0]?.frame(frame(NOW + 200, { lines: [entered, moved], unsaid: 5 }));
  expect([page.eventsSinceFreeze.value, page.world.value.at, lines]).toEqual([6, NOW + 100, [1, 7]]);
});

test('events are counted once if their story is followed as well', async () => {
  const { page, storyState, settle } = storyPage();
  await settle();
  const { open, streams } = streamsOfTest();
  const onLines = (newLines: Frame['lines'], unsaid: number) => appendLiveLines(storyState, newLines, unsaid);
  const onSnapshot = () => recordGap(storyState);
  subscribe(page, { open, setTimeout: () => 0, now: () => NOW, onSnapshot, onLines });
  toggleFreeze(page);
  streams[0]?.frame(frame(NOW + 200, { lines: [entered, moved] }));
  expect(page.eventsSinceFreeze.value).toBe(1);
});

test('the clock of the page follows that of the node, once per second', () => {
  const { page, streams } = followed();
  const LATE = NOW - 60_000;
  streams[0]?.snapshot({ ...designSnapshot, at: LATE });
  expect([page.now.value, page.nodeTime.value]).toEqual([LATE, LATE]);
  // Frames arrive irregularly, so they do not advance the clock of the page.
  for (const ms of [100, 200, 300]) streams[0]?.frame(frame(LATE + ms));
  expect(page.now.value).toBe(LATE);
  page.browserTime.value += 1_000;
  expect([page.now.value, page.nodeTime.value]).toEqual([LATE + 1_000, LATE + 1_000]);
});

test('the start of the recording may become known later', () => {
  const { page, streams } = followed();
  const { recorded: _, ...unknown } = designSnapshot;
  streams[0]?.snapshot(unknown);
  streams[0]?.frame(frame(NOW + 100, { recorded: { from: 5, to: NOW } }));
  streams[0]?.frame(frame(NOW + 200));
  expect(page.recordedRange.value).toEqual({ from: 5, to: NOW + 200 });
});
