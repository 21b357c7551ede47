import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { RecordedSpan } from '../../../../inspect/past/replay/recordedSpan.ts';
import type { Frame } from '../../../../inspect/protocol.ts';
import { fakeLive } from '../../support/served.ts';

const START = 1_000_000;

function spanOf(answers: (() => Promise<{ from: number; to: number } | undefined>)[]) {
  const clock = new SimulatedClock(START);
  const recorded = () => answers.shift()?.() ?? Promise.reject(new Error('asked too often'));
  return { clock, span: new RecordedSpan({ past: { recorded }, clock }), answers };
}

test('viewers do not wait for the recorded span, and are sent it once when it is known', async () => {
  const { promise, resolve } = Promise.withResolvers<{ from: number; to: number }>();
  const { clock, span } = spanOf([() => promise]);
  expect(span.now()).toEqual({ from: START, to: START });
  const live = fakeLive();
  const frames: Frame[] = [];
  const leave = span.addTo(live).follow((frame) => frames.push(frame));
  live.tell();
  resolve({ from: 5, to: 6 });
  await clock.advance(1_000);
  live.tell();
  live.tell();
  expect(frames.map(({ recorded }) => recorded)).toEqual([undefined, { from: 5, to: START + 1_000 }, undefined]);
  leave();
  expect(live.followers.size).toBe(0);
});

test('the recorded span is refreshed after five minutes, because the oldest entries are deleted', async () => {
  const at = (from: number) => async () => ({ from, to: from });
  const { clock, span, answers } = spanOf([at(5), async () => Promise.reject(new Error('lost')), at(50)]);
  await clock.advance(299_999);
  expect([span.now().from, answers.length]).toEqual([5, 2]);
  await clock.advance(1);
  span.now();
  await clock.advance(300_000);
  // A failed read changes nothing.
  expect(span.now().from).toBe(5);
  await clock.advance(0);
  expect(span.now().from).toBe(50);
});
