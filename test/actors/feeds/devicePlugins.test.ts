import { expect, test } from '@jest/globals';
import type { DevicePluginListener, DevicePlugins } from '../../../actors/devices/devicePlugins.ts';
import { createDevicePluginFeed } from '../../../actors/feeds/devicePlugins.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { DeviceFact } from '../../../machines/shared/events/deviceEvents.ts';

const GPU = 'example.com/gpu';
const device = (id: string, isHealthy = true) => ({ id, isHealthy, numaNodes: [0] });

/** Returns the callbacks of the feed, and the devices in each list that the feed has reported. */
function follow() {
  const lists: string[][] = [];
  let listener: DevicePluginListener | undefined;
  const devicePlugins: DevicePlugins = {
    follow: async (each) => {
      listener = each;
    },
    preferredDevices: async () => [],
    allocate: () => Promise.reject(new Error('unused')),
    preStart: async () => {},
  };
  const feed = createDevicePluginFeed({ devicePlugins, clock: systemClock });
  const send = (fact: DeviceFact) => {
    if (fact.type === 'device.devicesListed') lists.push(fact.devices.map(({ id }) => id));
  };
  void feed(send as Parameters<typeof feed>[0], { signal: new AbortController().signal });
  if (listener === undefined) throw new Error('the feed has not started');
  return { lists, listener };
}

test('an unchanged list of devices is not reported again, even if the devices are in a different order', () => {
  const { lists, listener } = follow();
  listener.onDevices(GPU, [device('b'), device('a')]);
  listener.onDevices(GPU, [device('a'), device('b')]);
  expect(lists).toEqual([['a', 'b']]);
  listener.onDevices('example.com/other', [device('a'), device('b')]);
  expect(lists).toHaveLength(2);
});

test('a list of devices is reported if a device, its health or its NUMA node has changed', () => {
  const { lists, listener } = follow();
  listener.onDevices(GPU, [device('a')]);
  listener.onDevices(GPU, [device('a', false)]);
  listener.onDevices(GPU, [{ ...device('a', false), numaNodes: [1] }]);
  listener.onDevices(GPU, [{ ...device('b', false), numaNodes: [1] }]);
  expect(lists).toEqual([['a'], ['a'], ['a'], ['b']]);
});

test('the first list of devices of a plugin that has registered again is reported', () => {
  const { lists, listener } = follow();
  listener.onDevices(GPU, [device('a')]);
  listener.onConnected(GPU, { needsPreStart: false, hasPreferences: false });
  listener.onDevices(GPU, [device('a')]);
  expect(lists).toHaveLength(2);
});
