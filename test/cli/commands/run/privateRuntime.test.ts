import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { superviseContainerd } from '../../../../cli/commands/run/privateRuntime.ts';

/** Supervises a private containerd. `after` advances the clock by this number of seconds. */
function supervised() {
  const clock = new SimulatedClock();
  const ending = new AbortController();
  const runtime = { alive: true, answers: true, asked: 0, letOut: 0, halted: 0 };
  let wish: string | undefined;
  const restarts: string[] = [];
  const ended = superviseContainerd({
    current: () => ({
      isAlive: async () => runtime.alive,
      isResponsive: async () => {
        runtime.asked++;
        return runtime.answers;
      },
      restoreMasquerade: async () => void runtime.letOut++,
      halt: async () => void runtime.halted++,
    }),
    consumeRestartReason: () => {
      const why = wish;
      wish = undefined;
      return why;
    },
    restart: async () => void Object.assign(runtime, { alive: true, answers: true }),
    stopSignal: ending.signal,
    onProgress: (step) => restarts.push(step),
    clock,
  });
  const after = (seconds: number) => clock.advance(seconds * 1_000);
  const end = async () => {
    ending.abort();
    await after(2);
    await ended;
  };
  const want = (why: string) => {
    wish = why;
  };
  return { runtime, restarts, after, end, want };
}

test('a private containerd that has died is restarted at once', async () => {
  const { runtime, restarts, after, end } = supervised();
  await after(5);
  runtime.alive = false;
  await after(1);
  expect(restarts).toEqual(['the private containerd has died: restarting it']);
  await after(120);
  expect(restarts).toHaveLength(1);
  await end();
});

test('a private containerd that does not respond for a minute is restarted, but not one that is slow for a while', async () => {
  const { runtime, restarts, after, end } = supervised();
  runtime.answers = false;
  await after(45);
  runtime.answers = true;
  await after(20);
  runtime.answers = false;
  await after(49);
  expect(restarts).toEqual([]);
  await after(25);
  expect(restarts).toEqual(['the private containerd does not respond: restarting it']);
  await after(300);
  expect(restarts).toHaveLength(1);
  // The supervisor queries containerd every ten seconds, and not at every check.
  expect(runtime.asked).toBeLessThan(50);
  await end();
});

test('a private containerd whose restart is requested is stopped first, and restarted once', async () => {
  const { runtime, restarts, after, end, want } = supervised();
  await after(5);
  want('cannot remove the sandbox s1');
  await after(1);
  expect(restarts).toEqual(['the private containerd cannot remove the sandbox s1: restarting it']);
  expect(runtime.halted).toBe(1);
  await after(120);
  expect([restarts.length, runtime.halted]).toEqual([1, 1]);
  await end();
});

test('the outbound connectivity of pods is checked every ten seconds while the private containerd runs', async () => {
  const { runtime, after, end } = supervised();
  await after(35);
  expect(runtime.letOut).toBe(3);
  await end();
});
