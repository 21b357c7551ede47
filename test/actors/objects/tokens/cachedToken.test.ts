import { describe, expect, test } from '@jest/globals';
import { CachedToken, readClocks } from '../../../../actors/objects/tokens/cachedToken.ts';
import { SettableClock } from '../../../fakes/settableClock.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Returns a token that has just been requested. */
function held(lifetimeMs: number, chance = 0) {
  const clock = new SettableClock();
  const token = new CachedToken('t', lifetimeMs, readClocks(clock), chance);
  return {
    clock,
    dueIn: () => token.msUntilRenewal(readClocks(clock)),
    expiresIn: () => token.remainingLifetimeMs(readClocks(clock)),
  };
}

test('a token is due for renewal when a fifth of its lifetime is left', async () => {
  const { clock, dueIn, expiresIn } = held(3_607 * SECOND);
  expect(dueIn()).toBe(2_885_600);
  await clock.advance(50 * MINUTE);
  expect([dueIn(), expiresIn()]).toEqual([0, 607 * SECOND]);
  await clock.advance(HOUR);
  expect([dueIn(), expiresIn()]).toEqual([0, 0]);
});

test('a token is due for renewal after at most a day, however long its lifetime is', () => {
  expect(held(30 * HOUR).dueIn()).toBe(24 * HOUR);
  expect(held(29 * HOUR).dueIn()).toBe(23.2 * HOUR);
  expect(held(365 * 24 * HOUR).dueIn()).toBe(24 * HOUR);
});

test('a renewal is moved forward by up to ten seconds of jitter', () => {
  expect(held(HOUR, 0.5).dueIn()).toBe(48 * MINUTE - 5 * SECOND);
  expect(held(48 * HOUR, 0.5).dueIn()).toBe(24 * HOUR - 5 * SECOND);
});

describe('setting the clock', () => {
  test('forward ages the token', () => {
    const { clock, dueIn, expiresIn } = held(HOUR);
    clock.set(10 * MINUTE);
    expect([dueIn(), expiresIn()]).toEqual([38 * MINUTE, 50 * MINUTE]);
    clock.set(HOUR);
    expect([dueIn(), expiresIn()]).toEqual([0, 0]);
  });

  test('back does not extend the token, and triggers its renewal', async () => {
    const { clock, dueIn, expiresIn } = held(HOUR);
    await clock.advance(10 * MINUTE);
    clock.set(-2 * HOUR);
    expect([dueIn(), expiresIn()]).toEqual([0, 50 * MINUTE]);
  });

  test('back by less than a minute changes nothing, because synchronized clocks do that', async () => {
    const { clock, dueIn } = held(HOUR);
    await clock.advance(10 * MINUTE);
    clock.set(-50 * SECOND);
    expect(dueIn()).toBe(38 * MINUTE);
    clock.set(-11 * SECOND);
    expect(dueIn()).toBe(0);
  });
});
