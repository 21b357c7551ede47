import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulatedClock.ts';
import { keepAlive } from '../../cli/ownRuntime.ts';

/** A private containerd that is looked after; `after` is so many seconds. */
function looked() {
  const clock = new SimulatedClock();
  const ending = new AbortController();
  const runtime = { alive: true, answers: true, asked: 0 };
  const restarts: string[] = [];
  const ended = keepAlive({
    current: () => ({
      isAlive: async () => runtime.alive,
      answers: async () => {
        runtime.asked++;
        return runtime.answers;
      },
    }),
    restart: async () => void Object.assign(runtime, { alive: true, answers: true }),
    ending: ending.signal,
    onProgress: (step) => restarts.push(step),
    clock,
  });
  const after = (seconds: number) => clock.advance(seconds * 1_000);
  const end = async () => {
    ending.abort();
    await after(2);
    await ended;
  };
  return { runtime, restarts, after, end };
}

test('one that has died is started again at once', async () => {
  const { runtime, restarts, after, end } = looked();
  await after(5);
  runtime.alive = false;
  await after(1);
  expect(restarts).toEqual(['the private containerd has died: starting it again']);
  await after(120);
  expect(restarts).toHaveLength(1);
  await end();
});

test('one that does not answer for a minute is started again, one that is slow for a while is not', async () => {
  const { runtime, restarts, after, end } = looked();
  runtime.answers = false;
  await after(45);
  runtime.answers = true;
  await after(20);
  runtime.answers = false;
  await after(49);
  expect(restarts).toEqual([]);
  await after(25);
  expect(restarts).toEqual(['the private containerd does not answer: starting it again']);
  await after(300);
  expect(restarts).toHaveLength(1);
  // Asked every ten seconds, not with every look.
  expect(runtime.asked).toBeLessThan(50);
  await end();
});
