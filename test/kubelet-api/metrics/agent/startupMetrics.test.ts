import { expect, test } from '@jest/globals';
import type { PortOutcome } from '../../../../actors/portOutcome.ts';
import { processStartSeconds } from '../../../../kubelet-api/metrics/agent/processMetrics.ts';
import { registerStartupMetrics } from '../../../../kubelet-api/metrics/agent/startupMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { samplesOf } from '../support/scraped.ts';

const ready = [{ reason: 'NodeReady', message: '' }];
const STARTED = processStartSeconds();

/**
 * Returns the startup durations after these results of ports, each at a time in seconds after the start of the process.
 */
async function durations(answers: readonly (readonly [seconds: number, answer: PortOutcome])[]) {
  const registry = new Registry();
  let now = 0;
  const answered = registerStartupMetrics(registry, { now: () => now, bootedAt: () => STARTED - 60 });
  for (const [seconds, answer] of answers) {
    now = (STARTED + seconds) * 1_000;
    answered(answer);
  }
  const samples = await samplesOf(registry);
  const names = ['pre_kubelet', 'pre_registration', 'registration', 'post_registration'].map((name) => `${name}_`);
  return [...names, ''].map((name) => Math.round(samples.get(`kubelet_node_startup_${name}duration_seconds`) ?? -1));
}

const registered = (isNew: boolean): PortOutcome => ({
  port: 'registerNode',
  input: null,
  ms: 1_000,
  output: { uid: 'n', events: [], ...(isNew ? { isNew } : {}) },
});
const status = (events: typeof ready | []): PortOutcome => ({
  port: 'putNodeStatus',
  input: null,
  ms: 1,
  output: { isWritten: true, events },
});

test('C42: a new node exposes the duration of each part of its start, and retains the first values', async () => {
  const failed: PortOutcome = { port: 'registerNode', input: null, ms: 2_000 };
  const answers = [
    [4, failed],
    [9, registered(true)],
    [10, status([])],
    [14, status(ready)],
    [90, status(ready)],
  ] as const;
  expect(await durations(answers)).toEqual([60, 2, 7, 5, 74]);
});

test('C42: a node that was registered before exposes no start durations', async () => {
  expect(
    await durations([
      [9, registered(false)],
      [14, status(ready)],
    ]),
  ).toEqual([0, 0, 0, 0, 0]);
});
