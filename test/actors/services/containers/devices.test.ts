import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DeviceManagerState } from '../../../../actors/devices/deviceManagerState.ts';
import type { DevicePlugins } from '../../../../actors/devices/devicePlugins.ts';
import { deviceServices } from '../../../../actors/services/containers/devices.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { hostFiles } from '../../../../host/files/fileSystem.ts';
import { type DeviceAllocation, NO_EDITS } from '../../../../kubernetes/devices/devices.ts';
import { containerWith, podWith } from '../../../fakes/pods.ts';

const GPU = 'example.com/gpu';
const amounts = { [GPU]: '1' };
const resources = { requests: amounts, limits: amounts };
const pod = podWith('a', { containers: [containerWith('main', { resources })] });
const { signal } = new AbortController();

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(`${tmpdir()}/statelet-devices-`);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const allocation: DeviceAllocation = {
  podUid: pod.metadata.uid,
  container: 'main',
  resource: GPU,
  devicesByNode: [{ numaNode: 0, ids: ['g0'] }],
  edits: NO_EDITS,
};

/** Returns the services of a node with one GPU whose plugin requires `PreStartContainer`. */
async function services(
  options: { allocations?: readonly DeviceAllocation[]; failure?: string; needsPreStart?: boolean } = {},
) {
  const { allocations = [allocation], failure, needsPreStart = true } = options;
  const calls: unknown[] = [];
  const deviceState = new DeviceManagerState(hostFiles, directory);
  const gpu = {
    name: GPU,
    devices: [{ id: 'g0', isHealthy: true, numaNodes: [0] }],
    options: { needsPreStart, hasPreferences: false },
    isConnected: true,
  };
  await deviceState.save({ allocations, resources: [gpu] });
  const devicePlugins: DevicePlugins = {
    follow: async () => {},
    preferredDevices: async () => [],
    allocate: async () => NO_EDITS,
    preStart: async (resource, devices) => {
      calls.push([resource, devices]);
      if (failure !== undefined) throw new Error(failure);
    },
  };
  const { prepareDevices } = deviceServices({ devicePlugins, deviceState, clock: { ...systemClock, now: () => 5 } });
  return { calls, prepare: () => prepareDevices({ pod, container: 'main' }, { signal }) };
}

describe('the devices of a container that is about to be created', () => {
  test('are prepared by their plugin', async () => {
    const { calls, prepare } = await services();
    expect(await prepare()).toEqual({ areDevicesMissing: false, at: 5 });
    expect(calls).toEqual([[GPU, ['g0']]]);
  });

  test('cause the creation to fail with the message of the plugin', async () => {
    const { prepare } = await services({ failure: 'out of order' });
    await expect(prepare()).rejects.toMatchObject({
      reason: 'CreateContainerConfigError',
      message: 'device plugin PreStartContainer rpc failed with err: out of order',
    });
  });

  test('have to be allocated again if they are missing from the checkpoint', async () => {
    const { calls, prepare } = await services({ allocations: [], needsPreStart: false });
    expect(await prepare()).toEqual({ areDevicesMissing: true, at: 5 });
    expect(calls).toEqual([]);
  });

  test('must not be missing if their plugin has to prepare them, as in a kubelet', async () => {
    const { calls, prepare } = await services({ allocations: [] });
    await expect(prepare()).rejects.toThrow(
      `no devices found allocated in local cache for pod ${pod.metadata.uid}, container main, resource ${GPU}`,
    );
    expect(calls).toEqual([]);
  });
});
