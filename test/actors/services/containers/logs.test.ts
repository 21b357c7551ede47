import { expect, test } from '@jest/globals';
import { defaultLogPolicy, logServices } from '../../../../actors/services/containers/logs.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import { inProcessCri } from '../../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../../cri/simulated/runtime.ts';
import { hostFiles } from '../../../../host/files/fileSystem.ts';
import { createLayout } from '../../../../host/pods/layout.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

test('logs in a hanging directory count as empty after a timeout, which is reported', async () => {
  const limits: { end: () => void; ms: number }[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimeout: (end, ms) => limits.push({ end, ms }),
    clearTimeout: () => {},
  };
  const hanging = { ...hostFiles, entries: () => new Promise<never>(() => {}) };
  const layout = createLayout({ rootDir: '/', podLogsDir: '/logs' }, hanging);
  const errors: unknown[] = [];
  const { countRestarts } = logServices({
    cri: inProcessCri(createSimulatedRuntime({ clock: new SimulatedClock() })),
    layout,
    clock,
    policy: defaultLogPolicy,
    onError: (source, error) => errors.push([source, error]),
  });
  const counting = countRestarts(
    { pod: aPod(), containers: ['main'], limitMs: 5_000 },
    { signal: new AbortController().signal },
  );
  for (const { end, ms } of limits) {
    expect(ms).toBe(5_000);
    end();
  }
  expect(await counting).toEqual({ restarts: { main: 0 } });
  expect(errors).toEqual([['countRestarts', expect.objectContaining({ name: 'AbortError' })]]);
});
