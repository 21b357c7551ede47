import { describe, expect, test } from '@jest/globals';
import { createAlarm } from '../../../actors/alarm.ts';
import { watchRuntimeHealth } from '../../../actors/runtime/runtimeHealth.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { StatusResponse } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { RuntimeHealth } from '../../../machines/shared/events/events.ts';
import { namedPod, nodeStory } from '../../machines/support/nodeStory.ts';

const TYPES = ['RuntimeReady', 'NetworkReady', 'ContainerdHasNoDeprecationWarnings'];

/** Watches the health of a runtime with these false conditions, and collects the reports. */
async function watchHealth(
  falseConditions: readonly string[] = [],
  types: readonly string[] = TYPES,
  more: Partial<StatusResponse> = {},
) {
  const clock = new SimulatedClock();
  const runtime = createSimulatedRuntime({ clock });
  const reports: RuntimeHealth[] = [];
  const conditions = types.map((type) => ({
    type,
    status: !falseConditions.includes(type),
    reason: 'Why',
    message: '',
  }));
  const cri = inProcessCri(runtime);
  const status: typeof cri.status = async (request, options) => {
    await cri.status(request, options);
    return StatusResponse.create({ status: { conditions }, ...more });
  };
  const ending = new AbortController();
  const watching = watchRuntimeHealth({
    cri: { ...cri, status },
    clock,
    signal: ending.signal,
    alarm: createAlarm(clock, ending.signal),
    reportHealth: (health) => void reports.push(health),
  });
  await clock.advance(1_000);
  const end = async () => {
    ending.abort();
    await clock.advance(0);
    await watching;
  };
  return { clock, runtime, reports, end };
}

describe('the health of the runtime', () => {
  test.each(['RuntimeReady', 'NetworkReady'])('reports an outage if %s is false', async (type) => {
    const { reports, end } = await watchHealth([type]);
    expect(reports).toMatchObject([{ ready: false, message: `${type} is false: Why` }]);
    await end();
  });

  test('reports an unready network with the message of a kubelet', async () => {
    const { reports, end } = await watchHealth(['NetworkReady']);
    expect(reports[0]?.networkNotReady).toBe(
      'container runtime network not ready: NetworkReady=false reason:Why message:',
    );
    await end();
  });

  test('preserves the network state while the runtime is down, and a pod waiting for the network requests no sandbox', async () => {
    const { clock, runtime, reports, end } = await watchHealth(['NetworkReady']);
    runtime.faults.add({ call: 'status', times: Number.POSITIVE_INFINITY, error: { message: 'away' } });
    await clock.advance(1_000);
    expect(reports).toHaveLength(2);
    const story = nodeStory();
    story.tell({ type: 'runtime.podsObserved', pods: [], at: 0 });
    for (const health of reports) {
      story.tell({ type: 'runtime.healthChanged', health });
      story.want([namedPod('web')]);
      expect(story.pod('web-uid')).toBe('sandboxing.creatingSandbox.awaitingNetwork');
    }
    expect(story.ports.asked('runSandbox')).toEqual([]);
    expect(reports[1]).toMatchObject({
      ready: false,
      message: 'Status: away',
      networkNotReady: reports[0]?.networkNotReady,
    });
    await end();
  });

  test('distinguishes a missing network from an unready runtime, and then reports the cause of the latter', async () => {
    const network = await watchHealth(['NetworkReady']);
    expect(network.reports[0]?.lacksOnlyNetwork).toBe(true);
    await network.end();
    const both = await watchHealth(['NetworkReady', 'RuntimeReady'], ['NetworkReady', 'RuntimeReady']);
    expect(both.reports[0]).toMatchObject({ message: 'RuntimeReady is false: Why' });
    expect(both.reports[0]?.networkNotReady).toBeDefined();
    expect(both.reports[0]?.lacksOnlyNetwork).toBeUndefined();
    await both.end();
  });

  test('reports an unready runtime with the message of a kubelet, even while the runtime is down', async () => {
    const { clock, runtime, reports, end } = await watchHealth(['RuntimeReady']);
    const notReady = 'container runtime not ready: RuntimeReady=false reason:Why message:';
    expect(reports[0]).toMatchObject({ notReadyMessage: notReady });
    expect(reports[0]).not.toHaveProperty('isSilent');
    runtime.faults.add({ call: 'status', times: Number.POSITIVE_INFINITY, error: { message: 'away' } });
    await clock.advance(1_000);
    expect(reports[1]).toMatchObject({ notReadyMessage: notReady, isSilent: true });
    await end();
  });

  test('reports the last ready time when the runtime goes down, and does not update it meanwhile', async () => {
    const { clock, runtime, reports, end } = await watchHealth();
    await clock.advance(5_000);
    const lastSeen = clock.now() - 1_000;
    runtime.faults.add({ call: 'status', times: Number.POSITIVE_INFINITY, error: { message: 'away' } });
    await clock.advance(60_000);
    expect(reports).toHaveLength(2);
    expect(reports[0]).not.toHaveProperty('seenAt');
    expect(reports[1]).toMatchObject({ ready: false, isSilent: true });
    expect(Math.trunc(Number(reports[1]?.seenAt) / 1_000)).toBe(Math.trunc(lastSeen / 1_000));
    await end();
  });

  test('has no last ready time for a runtime that was never ready, except when only its network was missing', async () => {
    const never = await watchHealth(['RuntimeReady']);
    expect(never.reports[0]).not.toHaveProperty('seenAt');
    await never.end();
    const { clock, runtime, reports, end } = await watchHealth(['NetworkReady']);
    const seenAt = clock.now() - 1_000;
    runtime.faults.add({ call: 'status', times: Number.POSITIVE_INFINITY, error: { message: 'away' } });
    await clock.advance(1_000);
    expect(reports[1]?.seenAt).toBeGreaterThanOrEqual(seenAt);
    expect(reports[1]).not.toHaveProperty('lacksOnlyNetwork');
    await end();
  });

  test('reports the runtime handlers by name, and the features if the runtime reports them', async () => {
    const plain = await watchHealth();
    expect(plain.reports[0]).toMatchObject({ handlers: [] });
    expect(plain.reports[0]).not.toHaveProperty('features');
    await plain.end();
    const { reports, end } = await watchHealth([], TYPES, {
      runtimeHandlers: [
        { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
        { name: '', features: undefined },
      ],
      features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false, mountOptions: false },
    });
    expect(reports[0]).toMatchObject({
      handlers: [
        { name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: false } },
        { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
      ],
      features: { supplementalGroupsPolicy: true },
    });
    await end();
  });

  test('queries the version again after the runtime was down', async () => {
    const { clock, runtime, reports, end } = await watchHealth();
    const asked = () => runtime.calls.filter(({ call }) => call === 'version').length;
    expect(asked()).toBe(1);
    runtime.faults.add({ call: 'status', times: 1, error: { message: 'away' } });
    await clock.advance(20_000);
    expect([reports.map(({ ready }) => ready), asked()]).toEqual([[true, false, true], 2]);
    await end();
  });

  test('ignores any other condition that is false', async () => {
    const { reports, end } = await watchHealth(['ContainerdHasNoDeprecationWarnings']);
    expect(reports).toMatchObject([{ ready: true }]);
    await end();
  });

  test('detects a hanging runtime within ten seconds', async () => {
    const { clock, runtime, reports, end } = await watchHealth();
    const fault = runtime.faults.add({ call: 'status', times: Number.POSITIVE_INFINITY, hang: true });
    await clock.advance(10_100);
    expect(reports.map(({ ready }) => ready)).toEqual([true, false]);
    fault.release();
    await end();
  });
});
