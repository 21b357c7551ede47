import { expect, test } from '@jest/globals';
import { registerShutdownMetrics } from '../../../../kubelet-api/metrics/agent/shutdownMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { samplesOf } from '../support/scraped.ts';

const START = 'kubelet_graceful_shutdown_start_time_seconds';
const END = 'kubelet_graceful_shutdown_end_time_seconds';

test('the times of the last shutdown are in whole seconds, and 0 until they are known', async () => {
  const registry = new Registry(() => {});
  const update = registerShutdownMetrics(registry);
  const samples = async () => {
    const all = await samplesOf(registry);
    return [all.get(START), all.get(END)];
  };
  update({});
  expect(await samples()).toEqual([0, 0]);
  update({ lastShutdown: { startedAt: 1_500_999 } });
  expect(await samples()).toEqual([1_500, 0]);
  update({ lastShutdown: { startedAt: 1_500_999, endedAt: 1_520_000 } });
  expect(await samples()).toEqual([1_500, 1_520]);
});
