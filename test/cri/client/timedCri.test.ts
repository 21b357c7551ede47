/** Durations of calls to a runtime. */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { type TimedCall, withCallTiming } from '../../../cri/client/timedCri.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { operationName } from '../../../kubelet-api/metrics/requests/runtimeMetrics.ts';

const signal = new AbortController().signal;

test('reports each call with its request, duration and outcome', async () => {
  const clock = new SimulatedClock();
  const real = inProcessCri(createSimulatedRuntime({ clock }));
  const timedCalls: TimedCall[] = [];
  const cri = withCallTiming(
    real,
    () => clock.monotonic(),
    (call) => void timedCalls.push(call),
  );
  const asked = cri.version({ version: 'v1' }, { signal });
  await clock.advance(1_000);
  expect(await asked).toMatchObject({ runtimeName: expect.any(String) });
  const refused = cri.containerStatus({ containerId: 'nobody', verbose: false }, { signal });
  const why = refused.then(
    () => '',
    (error: unknown) => String(error),
  );
  await clock.advance(1_000);
  expect(await why).toContain('nobody');
  expect(timedCalls).toEqual([
    { operation: 'version', request: { version: 'v1' }, ms: expect.any(Number), hasFailed: false },
    { operation: 'containerStatus', request: expect.anything(), ms: expect.any(Number), hasFailed: true },
  ]);
  expect(cri.containerEvents).toBe(real.containerEvents);
  expect(Object.keys(cri).toSorted()).toEqual(Object.keys(real).toSorted());
});

test('the operation names are those of a kubelet', () => {
  expect(
    (
      [
        ...(['version', 'listPodSandbox', 'podSandboxStatus', 'runPodSandbox', 'execSync', 'portForward'] as const),
        ...(['updateContainerResources', 'reopenContainerLog', 'containerStats', 'pullImage'] as const),
      ] as const
    ).map(operationName),
  ).toEqual([
    'version',
    'list_podsandbox',
    'podsandbox_status',
    'run_podsandbox',
    'exec_sync',
    'port_forward',
    'update_container',
    'reopen_container_log',
    'container_stats',
    'pull_image',
  ]);
});
