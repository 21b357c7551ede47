import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { messageOf } from '../../../base/failure.ts';
import type { RuntimeHealth } from '../../../machines/shared/events/events.ts';
import { healthChecks } from '../../../node/serve/healthChecks.ts';
import { simulatedNode } from '../../fakes/node.ts';
import { podWith } from '../../fakes/pods.ts';

type Parts = Parameters<typeof healthChecks>[0];

/** Returns the first check that fails, with its reason. */
function failureOf(parts: Parts): string | undefined {
  for (const { name, runCheck } of healthChecks(parts)) {
    try {
      runCheck();
    } catch (error) {
      return `${name}: ${messageOf(error)}`;
    }
  }
  return undefined;
}

const config = { syncFrequencyMs: 60_000 };

/** Returns the failure of a node whose runtime has been in this state for `ms`. */
function failureAfter(ms: number, runtime: Partial<RuntimeHealth>, staleSince?: number): string | undefined {
  const clock = new SimulatedClock();
  const health = { since: clock.now() - ms, ready: false, name: '', version: '', ...runtime };
  const node = { runtime: health, pleg: { hasListed: false, staleSince }, isInitialized: true, isDraining: false };
  return failureOf({ agent: { health: () => ({ ...node, since: undefined }) }, config, clock });
}

const HOUR = 3_600_000;

test('C45: a sync loop that has not started is not late', async () => {
  expect(failureAfter(0, { since: 0 })).toBeUndefined();
  expect(failureAfter(HOUR, {})).toBeUndefined();
});

test('C45: a node is healthy before its first tick, and while it waits for a runtime that has never responded', async () => {
  const node = await simulatedNode({ pods: [podWith('a')] });
  const failure = () => failureOf({ agent: node.agent, config, clock: node.clock });
  expect(failure()).toBeUndefined();
  await node.advance('5s');
  expect(failure()).toBeUndefined();
});

test('the sync loop fails if a runtime that was available has been unavailable for more than five minutes', () => {
  expect(failureAfter(300_000, { seenAt: 1 })).toBeUndefined();
  expect(failureAfter(300_001, { seenAt: 1 })).toBe('syncloop: sync Loop took longer than expected: 5m0.001s');
  expect(failureAfter(300_001, { seenAt: 1, ready: true })).toBeUndefined();
});

test('the sync loop does not fail if the runtime waits only for its network', () => {
  expect(failureAfter(HOUR, { seenAt: 1, lacksOnlyNetwork: true })).toBeUndefined();
});

test('the sync loop fails if the runtime can no longer be listed', () => {
  const now = new SimulatedClock().now();
  expect(failureAfter(0, { ready: true }, now - 300_001)).toMatch(/^syncloop: sync Loop took longer/);
});

test('the sync loop may take twice the sync frequency if that is longer', () => {
  const clock = new SimulatedClock();
  const runtime = { since: clock.now() - 300_001, ready: false, name: '', version: '', seenAt: 1 };
  const pleg = { hasListed: false, staleSince: undefined };
  const agent = { health: () => ({ runtime, pleg, isInitialized: true, isDraining: false, since: undefined }) };
  expect(failureOf({ agent, config: { syncFrequencyMs: 600_000 }, clock })).toBeUndefined();
  expect(failureOf({ agent, config, clock })).toMatch(/^syncloop: /);
});
