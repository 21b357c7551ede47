/**
 * Model-based tests with random walks. The seed of a walk reproduces it. Each walk is compared with a simple model or
 * checked against invariants.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LimiterEvent, limiterMachine } from 'statelet';
import { findViolation, formatFinding, invariants, randomStory } from 'statelet/testing';
import { createActor } from 'xstate';

const CAPACITY = 2;
const WALKS = 100;
const STEPS = 100;

/**
 * Returns a generator of random numbers in [0, 1). The sequence depends only on the seed (a linear congruential
 * generator).
 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A slow but obvious limiter: after each event, the request with the lowest ticket gets the next free slot. */
class Model {
  held: number[] = [];
  queue: number[] = [];

  request(ticket: number): void {
    if (this.held.includes(ticket) || this.queue.includes(ticket)) return;
    this.queue = [...this.queue, ticket].sort((a, b) => a - b);
    this.#grant();
  }

  release(ticket: number): void {
    this.held = this.held.filter((each) => each !== ticket);
    this.queue = this.queue.filter((each) => each !== ticket);
    this.#grant();
  }

  #grant(): void {
    while (this.held.length < CAPACITY && this.queue.length > 0) this.held.push(Number(this.queue.shift()));
  }
}

const keyOf = (ticket: number) => `pod-${ticket}/start`;
const request = (ticket: number): LimiterEvent => {
  return {
    type: 'slot.request',
    key: keyOf(ticket),
    arrivalOrder: ticket,
    holder: ['nobody'],
    purpose: `the start of pod ${ticket}`,
  };
};

test('the limiter grants the same slots as the model on every walk', () => {
  for (let seed = 0; seed < WALKS; seed++) {
    const random = seeded(seed);
    const limiter = createActor(limiterMachine, { input: { capacity: CAPACITY } }).start();
    const model = new Model();
    for (let step = 0; step < STEPS; step++) {
      const ticket = Math.floor(random() * 6);
      if (random() < 0.6) {
        limiter.send(request(ticket));
        model.request(ticket);
      } else {
        limiter.send({ type: 'slot.release', key: keyOf(ticket) });
        model.release(ticket);
      }
      const { context, value } = limiter.getSnapshot();
      const where = `seed ${seed}, step ${step}`;
      assert.deepEqual(
        context.heldSlots.map(({ key }) => key),
        model.held.map(keyOf),
        where,
      );
      assert.deepEqual(
        context.queue.map(({ key }) => key),
        model.queue.map(keyOf),
        where,
      );
      assert.equal(value, model.held.length < CAPACITY ? 'open' : 'full', where);
    }
  }
});

test('no invariant of a node is broken by random actions and faults', async () => {
  for (let seed = 0; seed < 3; seed++) {
    const story = randomStory(seed, { pods: 2, actions: 10, faults: 6, lastsMs: 120_000 });
    const found = await findViolation(story, { invariants });
    assert.equal(found && formatFinding(found), undefined);
  }
});
