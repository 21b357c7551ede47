/**
 * An agent that never comes to rest is reported as a violation and killed. Otherwise neither the clock nor the test
 * would ever continue.
 */
import { expect, test } from '@jest/globals';
import type { AnyActorRef } from 'xstate';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import type { SimulationOptions } from '../../../../testing/simulation/options.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';

/** Runs a node with one pod and expects the violation "the node does not come to rest". */
async function expectEndlessActivity(options: Partial<SimulationOptions>): Promise<unknown> {
  const node = await simulateNode({ seed: 1, ...options });
  node.apply(manifest('web'));
  return node.advance(120_000).then(
    () => expect(node.pods()).toHaveLength(1),
    (error: unknown) => error,
  );
}

const restless = (where: string) => ({
  name: 'InvariantViolated',
  violation: { number: 9, message: expect.stringMatching(new RegExp(`^the node does not come to rest: ${where}`)) },
});

/** Number of repetitions that counts as endless here, but still lets the test end if the check fails. */
const ENDLESS_COUNT = 100_000;

/** Sets a timer of `ms` milliseconds, and sets it again whenever it fires. */
const rearming = (ms: number): Invariant => ({
  number: 9,
  description: 'nothing',
  follow: ({ host: { clock } }) => {
    let left = ENDLESS_COUNT;
    const again = () => {
      left -= 1;
      if (left > 0) clock.setTimeout(again, ms);
    };
    again();
    return {};
  },
});

test('a timer that is rearmed without a delay is reported as endless activity', async () => {
  expect(await expectEndlessActivity({ invariants: [rearming(0)] })).toMatchObject(
    restless('\\d+ calls, steps and timers at one point in time, mostly a timer \\(\\d+ times\\)'),
  );
});

test('a timer that is rearmed with less than a millisecond is reported as endless activity', async () => {
  expect(await expectEndlessActivity({ invariants: [rearming(0.5)] })).toMatchObject(
    restless('\\d+ calls, steps and timers within a minute, mostly a timer \\(\\d+ times\\)'),
  );
});

test('an actor that sends itself events without end in one step is reported as endless activity', async () => {
  let left = ENDLESS_COUNT;
  const inspect: SimulationOptions['inspect'] = ({ type, actorRef }) => {
    // All actors of the simulation are created by XState, so the cast is safe.
    const root = actorRef as AnyActorRef;
    if (type !== '@xstate.actor' || root._parent !== undefined) return;
    root.system.inspect((event) => {
      const isTick = event.type === '@xstate.snapshot' && event.event.type === 'node.ticked';
      if (!isTick || event.actorRef !== root || left === 0) return;
      left -= 1;
      root.send(event.event);
    });
  };
  expect(await expectEndlessActivity({ inspect })).toMatchObject(
    restless('\\d+ calls, steps and timers at one point in time, mostly the node on node.ticked \\(\\d+ times\\)'),
  );
  expect(left).toBeGreaterThan(0);
});
