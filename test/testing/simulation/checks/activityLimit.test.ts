/** What never comes to rest is told, and ended: else neither the clock nor a test would ever go on. */
import { expect, test } from '@jest/globals';
import type { AnyActorRef } from 'xstate';
import type { Invariant } from '../../../../testing/simulation/invariants/invariant.ts';
import type { SimulationOptions } from '../../../../testing/simulation/options.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';

/** What a node is found to do without end, which runs one pod. */
async function endless(options: Partial<SimulationOptions>): Promise<unknown> {
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

/** Without end, but for that of a test that finds nothing. */
const OFTEN = 100_000;

/** Sets a timer of so many milliseconds, and again whenever it elapses. */
const rearming = (ms: number): Invariant => ({
  number: 9,
  description: 'nothing',
  follow: ({ host: { clock } }) => {
    let left = OFTEN;
    const again = () => {
      left -= 1;
      if (left > 0) clock.setTimeout(again, ms);
    };
    again();
    return {};
  },
});

test('a timer that is rearmed without a delay is reported as endless activity', async () => {
  expect(await endless({ invariants: [rearming(0)] })).toMatchObject(
    restless('\\d+ calls, steps and timers at one point in time, mostly a timer \\(\\d+ times\\)'),
  );
});

test('a timer that is rearmed with less than a millisecond is reported as endless activity', async () => {
  expect(await endless({ invariants: [rearming(0.5)] })).toMatchObject(
    restless('\\d+ calls, steps and timers within a minute, mostly a timer \\(\\d+ times\\)'),
  );
});

test('an actor that sends itself events without end in one step is reported as endless activity', async () => {
  let left = OFTEN;
  const inspect: SimulationOptions['inspect'] = ({ type, actorRef }) => {
    // Every actor here is one of xstate's own.
    const root = actorRef as AnyActorRef;
    if (type !== '@xstate.actor' || root._parent !== undefined) return;
    root.system.inspect((event) => {
      const isTick = event.type === '@xstate.snapshot' && event.event.type === 'node.ticked';
      if (!isTick || event.actorRef !== root || left === 0) return;
      left -= 1;
      root.send(event.event);
    });
  };
  expect(await endless({ inspect })).toMatchObject(
    restless('\\d+ calls, steps and timers at one point in time, mostly the node on node.ticked \\(\\d+ times\\)'),
  );
  expect(left).toBeGreaterThan(0);
});
