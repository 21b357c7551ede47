import { expect, test } from '@jest/globals';
import type { Frame, Snapshot } from '../../../inspect/protocol.ts';
import { toggleHold } from '../../../web/model/actions.ts';
import { follow, type Stream } from '../../../web/model/following.ts';
import { designSnapshot, NOW } from '../support/nodeOnPage.ts';
import { pageModel } from '../support/pageModel.ts';

/** A connection whose ends a test has in its hands. */
function followed() {
  const { page } = pageModel();
  const timers: (() => void)[] = [];
  const streams: { snapshot: (told: Snapshot) => void; frame: (told: Frame) => void; end: () => void }[] = [];
  const open = (): Stream => {
    const told = { snapshot: (_: Snapshot) => {}, frame: (_: Frame) => {}, end: () => {} };
    streams.push(told);
    return {
      onSnapshot: (listener) => void Object.assign(told, { snapshot: listener }),
      onFrame: (listener) => void Object.assign(told, { frame: listener }),
      onEnd: (listener) => void Object.assign(told, { end: listener }),
      close: () => {},
    };
  };
  const lines: number[] = [];
  const onLines = (told: Frame['lines'], unsaid: number) => void lines.push(told.length + unsaid);
  const leave = follow(page, { open, setTimeout: (after) => timers.push(after), now: () => NOW, onLines });
  return { page, streams, timers, lines, leave };
}

const frame = (at: number, more: Partial<Frame> = {}): Frame => ({
  ...{ at, pods: [], podsGone: [], actors: [], actorsGone: [], lines: [], ...more },
});

test('a connection that is lost is tried again, and goes on from a new snapshot', () => {
  const { page, streams, timers, leave } = followed();
  streams[0]?.frame(frame(NOW + 100));
  streams[0]?.end();
  expect(page.connection.value).toEqual({ kind: 'lost', since: NOW, retryAt: NOW + 2_000 });
  timers[0]?.();
  streams[1]?.snapshot({ ...designSnapshot, at: NOW + 3_000 });
  expect([page.connection.value.kind, page.world.value.at]).toEqual(['live', NOW + 3_000]);
  leave();
  streams[1]?.end();
  timers[1]?.();
  expect(streams).toHaveLength(2);
});

test('what happens while the picture is held is counted, also what was left out', () => {
  const { page, streams, lines } = followed();
  const began = { kind: 'began', at: NOW } as const;
  streams[0]?.frame(frame(NOW + 100, { lines: [began] }));
  toggleHold(page);
  streams[0]?.frame(frame(NOW + 200, { lines: [began, began], unsaid: 5 }));
  expect([page.sinceHeld.value, page.world.value.at, lines]).toEqual([7, NOW + 100, [1, 7]]);
});
