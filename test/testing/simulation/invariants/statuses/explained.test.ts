import { expect, test } from '@jest/globals';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { explained } from '../../../../../testing/simulation/invariants/statuses/explained.ts';
import { Schedule } from '../../../../../testing/simulation/run/schedule.ts';

const START = 1_000_000;

/** Creates an agent with a waiting actor, and returns the violations of the invariant. */
function waiting() {
  const clock = new Schedule(START);
  const broken: string[] = [];
  let shown: object = {};
  let explanation: object = {};
  const actor = {
    id: 'garbage',
    path: 'garbage',
    kind: 'garbage',
    name: 'garbage',
    state: 'waiting',
    tags: ['steady'],
    since: START,
    waitingFor: 'the next one',
    facts: [],
    children: [],
  };
  const agent = {
    explainNode: () => ({
      name: 'node-1',
      at: clock.now(),
      answer: 'it runs 0 pods',
      foreign: [],
      ...explanation,
      node: { ...actor, path: '', kind: 'node', name: 'node-1', facts: [], children: [{ ...actor, ...shown }] },
    }),
    trees: () => new Map(),
  };
  const watched = { host: { clock }, agent } as unknown as Watched;
  const { whole, beforeJump } = explained.follow(watched, (message) => void broken.push(message));
  return {
    /** The actor starts to wait now for this number of milliseconds, and is checked. */
    wait: (ms: number) => {
      shown = { since: clock.now(), until: clock.now() + ms };
      whole?.();
    },
    show: (state: object) => {
      shown = state;
    },
    explain: (more: object) => {
      explanation = more;
    },
    pass: (ms: number) => clock.advance(ms, async () => {}),
    jump: (ms: number) => {
      beforeJump?.();
      clock.jump(ms);
    },
    violations: () => {
      whole?.();
      return broken.splice(0);
    },
  };
}

test('an actor of the node that waits for nothing named is detected', () => {
  const { show, violations } = waiting();
  show({ tags: ['waiting'], waitingFor: undefined });
  expect(violations()).toEqual(['garbage in waiting (waiting) does not name what it waits for']);
});

test('the explanation of the node has an answer and no malformed line', () => {
  const { explain, violations } = waiting();
  expect(violations()).toEqual([]);
  explain({ answer: ' ' });
  expect(violations()).toContainEqual(expect.stringMatching(/^there is no answer: /));
  explain({ use: ['cpu: NaN of 4 cores'] });
  expect(violations()).toEqual([expect.stringMatching(/^odd line " *cpu: NaN of 4 cores" in /)]);
});

test.each([0, 3_600_000, -3_600_000, 10_000])(
  'a wait must not exceed its time, even if the wall clock is set by %i ms meanwhile',
  async (ms) => {
    const { wait, pass, jump, violations } = waiting();
    wait(10_000);
    await pass(5_000);
    jump(ms);
    expect(violations()).toEqual([]);
    await pass(5_000);
    expect(violations()).toEqual([]);
    await pass(1_000);
    expect(violations()).toEqual(['garbage in waiting has been overdue for 1000 ms']);
    wait(10_000);
    expect(violations()).toEqual([]);
    await pass(11_000);
    expect(violations()).toEqual(['garbage in waiting has been overdue for 1000 ms']);
  },
);

test('a wait after another failure is a new wait, although a clock that was set back shows the same end', async () => {
  const { show, pass, jump, violations } = waiting();
  const retry = (at: number) =>
    show({ since: START, until: START + 25_000, lastFailure: { at, reason: 'ENOSPC', message: 'full' } });
  jump(10_000);
  await pass(10_000);
  retry(START + 20_000);
  expect(violations()).toEqual([]);
  jump(-10_000);
  await pass(10_000);
  retry(START + 20_001);
  expect(violations()).toEqual([]);
  await pass(5_100);
  expect(violations()).toEqual(['garbage in waiting has been overdue for 100 ms']);
});

test('a wait by the wall clock ends at most a second late, however the clock was set meanwhile', async () => {
  const { show, pass, jump, violations } = waiting();
  show({ tags: ['waiting', 'byWallClock'], since: START, until: START + 10_000 });
  expect(violations()).toEqual([]);
  jump(-3_600_000);
  await pass(20_000);
  expect(violations()).toEqual([]);
  jump(3_600_000);
  await pass(1_000);
  expect(violations()).toEqual([]);
  await pass(100);
  expect(violations()).toEqual(['garbage in waiting has been overdue for 100 ms']);
});

test('another failure during a wait does not extend it, even if the clock was set ahead', async () => {
  const { show, pass, jump, violations } = waiting();
  const failed = (at: number) =>
    show({ since: START, until: START + 5_000, lastFailure: { at, reason: 'ENOSPC', message: 'full' } });
  failed(START);
  expect(violations()).toEqual([]);
  jump(10_000);
  failed(START + 10_000);
  expect(violations()).toEqual([]);
  await pass(5_100);
  expect(violations()).toEqual(['garbage in waiting has been overdue for 100 ms']);
});

test('a wait that looks like one from before the clock was set back has its own duration', async () => {
  const { wait, pass, jump, violations } = waiting();
  wait(10_000);
  await pass(9_000);
  jump(-10_000);
  await pass(1_000);
  wait(10_000);
  await pass(9_000);
  expect(violations()).toEqual([]);
  await pass(2_000);
  expect(violations()).toEqual(['garbage in waiting has been overdue for 1000 ms']);
});

test('a state may wait for a timer that an earlier state set before the clock was set ahead', async () => {
  const { show, pass, jump, violations } = waiting();
  const until = START + 10_000;
  show({ state: 'sending', waitingFor: 'an answer' });
  jump(3_600_000);
  await pass(1_000);
  show({ since: START + 3_601_000, until });
  expect(violations()).toEqual([]);
  await pass(9_000);
  expect(violations()).toEqual([]);
  await pass(1_000);
  expect(violations()).toEqual(['garbage in waiting has been overdue for 1000 ms']);
});
