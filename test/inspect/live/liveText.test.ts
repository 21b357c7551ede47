import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { LiveText } from '../../../inspect/live/liveText.ts';
import { emptySnapshot, fakeLive } from '../support/served.ts';

function written() {
  const live = fakeLive();
  const clock = new SimulatedClock();
  let made = 0;
  const snapshot = () => {
    made += 1;
    return { ...emptySnapshot, at: made };
  };
  return { live, clock, text: new LiveText({ snapshot, follow: live.follow }, clock), made: () => made };
}

test('a snapshot is serialized once for all requests within 100 ms', async () => {
  const { text, clock, made } = written();
  const first = text.snapshot();
  await clock.advance(99);
  expect([text.snapshot(), made()]).toEqual([first, 1]);
  await clock.advance(1);
  expect(JSON.parse(text.snapshot())).toMatchObject({ at: 2 });
});

test('with viewers a snapshot is valid until the next frame, which is serialized once', async () => {
  const { text, live, clock, made } = written();
  text.snapshot();
  const receivedTexts: string[] = [];
  const leave = text.follow((json) => receivedTexts.push(json));
  // The starting snapshot of the viewers must show the current state of the node.
  text.snapshot();
  await clock.advance(900);
  text.snapshot();
  expect(made()).toBe(2);
  live.tell({ at: 7 });
  expect(receivedTexts.map((json) => JSON.parse(json).at)).toEqual([7]);
  text.snapshot();
  expect(made()).toBe(3);
  await clock.advance(1_000);
  text.snapshot();
  expect(made()).toBe(4);
  leave();
  text.snapshot();
  expect([made(), live.followers.size]).toEqual([5, 0]);
});
