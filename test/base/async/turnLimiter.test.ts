import { describe, expect, test } from '@jest/globals';
import { createActor, type InputFrom } from 'xstate';
import { createBoundary, type FactFeed, type NodeEnvironment } from '../../../actors/boundary.ts';
import { createTurnLimiter, type TurnLimiter } from '../../../base/async/turnLimiter.ts';
import { Schedule } from '../../../testing/simulation/run/schedule.ts';

const MANY = 200;

/**
 * Simulates an event loop in which each caller takes 1 ms after it starts, unless the test sets a different duration.
 */
class Loop {
  ms = 0;
  /** Numbers of the callers that were admitted, one list per turn. */
  readonly turns: number[][] = [[]];
  readonly #next: (() => void)[] = [];
  readonly shares: TurnLimiter;

  constructor(maxPerTurn?: number) {
    this.shares = createTurnLimiter({
      monotonic: () => this.ms,
      yieldToEventLoop: () => new Promise((resolve) => this.#next.push(resolve)),
      maxPerTurn,
    });
  }

  enter(number: number, ms = 1): void {
    this.ms += ms;
    this.turns.at(-1)?.push(number);
  }

  /** Runs turns until nothing waits for one. */
  async run(): Promise<void> {
    while (this.#next.length > 0) {
      this.turns.push([]);
      for (const begin of this.#next.splice(0)) begin();
      // Run the microtasks of the turn.
      for (let step = 0; step < 10; step += 1) await Promise.resolve();
    }
  }

  get longest(): number {
    return Math.max(...this.turns.map(({ length }) => length));
  }
}

const numbers = Array.from({ length: MANY }, (_, index) => index);

async function letIn({ shares }: Loop, number: number, enter: (number: number) => void): Promise<void> {
  const turn = shares.acquire();
  if (turn !== undefined) await turn;
  enter(number);
}

describe('a burst of responses', () => {
  test('is spread over turns of the event loop, in order', async () => {
    const loop = new Loop();
    for (const number of numbers) void letIn(loop, number, (each) => loop.enter(each));
    await loop.run();
    expect(loop.turns.flat()).toEqual(numbers);
    expect(loop.longest).toBeLessThanOrEqual(10);
  });

  test('is not overtaken by a later caller while it waits', async () => {
    const loop = new Loop();
    const last = 2 * MANY;
    for (const number of numbers) {
      const more = number === MANY - 1 ? () => void letIn(loop, last, (each) => loop.enter(each)) : () => {};
      void letIn(loop, number, (each) => {
        loop.enter(each);
        more();
      });
    }
    void letIn(loop, MANY, (each) => loop.enter(each));
    await loop.run();
    expect(loop.turns.flat()).toEqual([...numbers, MANY, last]);
  });

  test('is not overtaken by a caller that arrives between the release of the last one and its start', async () => {
    const loop = new Loop();
    for (const number of [0, 1]) void letIn(loop, number, (each) => loop.enter(each, 10));
    const run = loop.run();
    queueMicrotask(() => void letIn(loop, 2, (each) => loop.enter(each)));
    await run;
    expect(loop.turns.flat()).toEqual([0, 1, 2]);
  });

  test('is limited by the time that each caller takes after its start', async () => {
    const loop = new Loop();
    for (const number of numbers) void letIn(loop, number, (each) => loop.enter(each, 8));
    await loop.run();
    expect(loop.turns.flat()).toEqual(numbers);
    expect(loop.longest).toBe(2);
  });

  test('that takes no longer than its share starts at once', () => {
    const loop = new Loop();
    for (const number of numbers.slice(0, 9)) void letIn(loop, number, (each) => loop.enter(each));
    expect(loop.turns).toEqual([numbers.slice(0, 9)]);
  });
});

test('no more callers start in a turn than allowed, even if starting them takes no time', async () => {
  const loop = new Loop(4);
  const started: number[] = [];
  for (const number of numbers) void letIn(loop, number, (each) => started.push(each));
  expect(started).toEqual([0, 1, 2, 3]);
  await loop.run();
  expect(started).toEqual(numbers);
});

describe('timers that expire together', () => {
  /** Starts many timers of 1 s, and lets that time pass. */
  async function elapsed(stop?: { readonly after: number }): Promise<Loop> {
    const loop = new Loop();
    const schedule = new Schedule(0);
    const world = { ports: {}, feeds: {} } as unknown as NodeEnvironment; // a timer uses neither
    const { timer } = createBoundary(world, {
      clock: { ...schedule.stoppableClock(), turns: loop.shares },
      onError: () => {},
      onInput: () => loop.enter(loop.turns.flat().length),
    });
    const input: InputFrom<typeof timer> = { after: 1_000 };
    const timers = numbers.map(() => createActor(timer, { input }).start());
    await schedule.advance(1_000, () => Promise.resolve());
    if (stop) for (const each of timers.slice(stop.after)) each.stop();
    await loop.run();
    return loop;
  }

  test('take effect over several turns', async () => {
    const loop = await elapsed();
    expect(loop.turns.flat()).toHaveLength(MANY);
    expect(loop.longest).toBeLessThanOrEqual(10);
  });

  test('do not fire if they are stopped before their turn', async () => {
    const loop = await elapsed({ after: 50 });
    expect(loop.turns.flat()).toHaveLength(50);
  });
});

test('a burst of facts from a feed takes effect over several turns, in order', async () => {
  const loop = new Loop();
  const entered: unknown[] = [];
  const feed: FactFeed = (send) => {
    for (const at of numbers) send({ type: 'node.drain', at });
  };
  const world = { ports: {}, feeds: { sources: feed } } as unknown as NodeEnvironment; // the feed uses nothing else
  const boundary = createBoundary(world, {
    clock: { ...new Schedule(0).stoppableClock(), turns: loop.shares },
    onError: () => {},
    onInput: ({ value }) => {
      loop.enter(entered.length);
      entered.push(value);
    },
  });
  createActor(boundary.feed('sources')).start();
  await loop.run();
  expect(entered).toEqual(numbers.map((at) => ({ type: 'node.drain', at })));
  expect(loop.longest).toBeLessThanOrEqual(10);
});
