/** A store on a disk that fails at each call of a scenario, and on one that loses power at that call. */
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { type FactStore, openStore } from '../../../actors/store/store.ts';
import { deaths, failuresOf, type Trouble, TroubledDisk } from '../../fakes/disk.ts';

const schemas = { facts: z.object({ turn: z.number(), padding: z.string() }) };
const DIRECTORY = '/var/lib/statelet/statelet';
const SEEDS = [1, 2, 3, 4, 5];

type Written = readonly [key: string, turn: number | undefined];

/** The writes of the scenario: successive groups of simultaneous writes. */
const STORY: readonly (readonly Written[])[] = [
  [
    ['u1', 1],
    ['u2', 1],
  ],
  [
    ['u1', 2],
    ['u2', undefined],
    ['u3', 1],
    ['U/4', 1],
  ],
  [
    ['u1', 3],
    ['u1', 4],
    ['u3', 1],
  ],
];

/** The history of each key: all written values, and how many of them are known to be durable. */
class History {
  readonly #wanted = new Map<string, (number | undefined)[]>();
  readonly #durable = new Map<string, number>();

  async follow([key, turn]: Written, store: FactStore<typeof schemas>): Promise<void> {
    const wanted = this.#wanted.get(key) ?? [undefined];
    this.#wanted.set(key, wanted);
    const index = wanted.push(turn) - 1;
    await (turn === undefined ? store.remove('facts', key) : store.write('facts', key, factOf(turn)));
    this.#durable.set(key, Math.max(index, this.#durable.get(key) ?? 0));
  }

  /** The values that a store may have for each key now. */
  get allowed(): ReadonlyMap<string, readonly (number | undefined)[]> {
    return new Map([...this.#wanted].map(([key, turns]) => [key, turns.slice(this.#durable.get(key) ?? 0)]));
  }

  get latest(): Record<string, number> {
    return Object.fromEntries(
      [...this.#wanted].flatMap(([key, turns]) => (turns.at(-1) === undefined ? [] : [[key, turns.at(-1) ?? 0]])),
    );
  }
}

const factOf = (turn: number) => ({ turn, padding: 'x'.repeat(turn * 100) });

const halfWritten = ({ disk }: Stage) =>
  disk.sound.readdirSync(`${DIRECTORY}/facts`).filter((name) => name.endsWith('.tmp'));

class Stage {
  readonly clock = new SimulatedClock();
  readonly disk = new TroubledDisk(() => this.clock.now());
  readonly history = new History();
  readonly refused: unknown[] = [];
  store: FactStore<typeof schemas> | undefined;

  async play(trouble?: Trouble): Promise<void> {
    this.disk.meet(trouble);
    const store = await openStore(DIRECTORY, schemas, { files: this.disk.files, clock: this.clock });
    this.store = store;
    for (const scene of STORY) {
      const writes = await Promise.allSettled(scene.map((each) => this.history.follow(each, store)));
      this.refused.push(...writes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])));
    }
  }

  /** Returns what a later process reads. */
  async read() {
    const store = await openStore(DIRECTORY, schemas, { files: this.disk.sound, clock: this.clock });
    const { facts, damageMessages } = await store.read();
    return {
      turns: Object.fromEntries([...facts.facts].map(([key, { turn }]) => [key, turn])),
      damaged: damageMessages,
      store,
    };
  }
}

const undisturbed = new Stage();
await undisturbed.play();
const calls = undisturbed.disk.calls.map((call, at) => [`${at}: ${call.call} ${call.path}`, at, call] as const);

test('the scenario succeeds on a healthy disk', async () => {
  expect(undisturbed.refused).toEqual([]);
  expect(await undisturbed.read()).toMatchObject({ turns: { u1: 4, u3: 1, 'U/4': 1 }, damaged: [] });
});

describe.each([
  ['the process dies', [undefined]],
  ['the power fails', SEEDS],
])('after %s, each fact has its old or its new value, and none is damaged', (_, seeds) => {
  test.each(calls)('at %s', async (_, at) => {
    for (const fault of deaths) {
      for (const seed of seeds) {
        const stage = new Stage();
        void stage.play({ at, fault });
        await stage.clock.advance(0);
        if (seed !== undefined) stage.disk.cutPower(seed);
        const { turns, damaged, store } = await stage.read();
        expect(damaged).toEqual([]);
        for (const [key, allowed] of stage.history.allowed)
          expect({ seed, fault, key, allowed }).toEqual({
            seed,
            fault,
            key,
            allowed: expect.arrayContaining([turns[key]]),
          });
        await store.write('facts', 'later', factOf(1));
        expect((await stage.read()).turns).toEqual({ ...turns, later: 1 });
      }
    }
  });
});

test.each(calls)(
  'facts that the next process has read survive a power failure (first process died at %s)',
  async (_, at) => {
    for (const fault of deaths) {
      for (const seed of SEEDS) {
        const stage = new Stage();
        void stage.play({ at, fault });
        await stage.clock.advance(0);
        const { turns } = await stage.read();
        stage.disk.cutPower(seed);
        expect((await stage.read()).turns).toEqual(turns);
      }
    }
  },
);

describe('after a failed call the caller is informed and no fact is lost', () => {
  const failures = calls.flatMap(([title, at, call]) =>
    failuresOf(call).map((fault) => [`${JSON.stringify(fault)} at ${title}`, { at, fault }] as const),
  );

  test.each(failures)('%s', async (_, trouble) => {
    const stage = new Stage();
    const { code } = trouble.fault;
    const opened = await stage.play(trouble).then(
      () => true,
      (error) => {
        expect(error).toMatchObject({ message: expect.stringContaining(code) });
        return false;
      },
    );
    for (const error of stage.refused)
      expect(error).toMatchObject({
        reason: 'StoreFailed',
        message: expect.stringContaining(`state could not be saved: ${code}`),
      });
    if (!opened) {
      await stage.play();
      expect(stage.refused).toEqual([]);
    }
    expect(halfWritten(stage)).toEqual([]);
    // Failed writes are retried.
    await stage.clock.advance(10_000);
    expect(stage.store?.failure()).toBeUndefined();
    expect(await stage.read()).toMatchObject({ turns: stage.history.latest, damaged: [] });
    expect(halfWritten(stage)).toEqual([]);
  });
});
