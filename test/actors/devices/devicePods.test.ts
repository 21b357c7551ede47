/** Pods with devices on a node of an in-memory API server. The device plugin is part of the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { DevicePluginListener, DevicePlugins } from '../../../actors/devices/devicePlugins.ts';
import { NO_EDITS } from '../../../kubernetes/devices/devices.ts';
import { boundPod, joinedNode, PODS } from '../../fakes/joinedNode.ts';
import type { SimulatedNodeOptions } from '../../fakes/node.ts';
import { IMAGE } from '../../fakes/pods.ts';

const GPU = 'example.com/gpu';

/** A device plugin in the process of the test. */
class PlayedPlugin implements DevicePlugins {
  readonly allocations: (readonly string[])[] = [];
  #listener: DevicePluginListener | undefined;

  async follow(listener: DevicePluginListener, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#listener = listener;
    listener.onProblem(undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }

  register(): void {
    this.#listener?.onRegistration(GPU);
    this.#listener?.onConnected(GPU, { needsPreStart: false, hasPreferences: false });
  }

  list(isHealthy = true): void {
    this.#listener?.onDevices(GPU, [{ id: 'g0', isHealthy, numaNodes: [] }]);
  }

  stop(): void {
    this.#listener?.onDisconnected(GPU);
  }

  preferredDevices = async () => [];
  preStart = async () => {};
  allocate: DevicePlugins['allocate'] = async (_resource, devices) => {
    this.allocations.push(devices);
    return NO_EDITS;
  };
}

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-devices-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function deviceNode(config: SimulatedNodeOptions['config'] = {}) {
  const plugin = new PlayedPlugin();
  const joined = await joinedNode({
    config: { ...config, devicePluginDir: directory },
    parts: { devicePlugins: plugin },
  });
  const { ask, node } = joined;
  return {
    ...joined,
    plugin,
    /** Returns the number of devices in the status of the Node. */
    counts: async () => {
      const { capacity, allocatable } = Object(await ask('GET', '/api/v1/nodes/node-1')).status;
      return [capacity[GPU], allocatable[GPU]];
    },
    createPod: async (container: object = {}, restartPolicy = 'Never') => {
      const limits = { [GPU]: '1' };
      const main = { name: 'main', image: IMAGE, resources: { limits, requests: limits }, ...container };
      await ask('POST', PODS, boundPod('web', { containers: [main], restartPolicy }));
      await node.advance('20s');
    },
    status: async () => Object(await ask('GET', `${PODS}/web`)).status,
  };
}

test('a resource whose plugin cannot list its devices has no devices on the Node', async () => {
  const { node, plugin, counts } = await deviceNode();
  expect(await counts()).toEqual([undefined, undefined]);
  plugin.register();
  plugin.stop();
  await node.advance('20s');
  expect(await counts()).toEqual(['0', '0']);
  await node.advance('10m');
  expect(await counts()).toEqual(['0', '0']);
});

test('a completed pod remains completed when the agent restarts without the device plugin', async () => {
  const { node, plugin, counts, createPod, status } = await deviceNode();
  plugin.register();
  plugin.list();
  await node.advance('5s');
  await createPod({ command: ['sh', '-c', 'exit 0'] });
  expect([(await status()).phase, plugin.allocations]).toEqual(['Succeeded', [['g0']]]);
  plugin.stop();
  await node.advance('20s');
  expect(await counts()).toEqual(['1', '0']);
  const completed = await status();
  await node.restartAgent();
  await node.advance('2m');
  expect([await status(), plugin.allocations]).toEqual([completed, [['g0']]]);
});

test('the health of a device is in the status of a pod whose image cannot be pulled', async () => {
  const { node, plugin, createPod, status } = await deviceNode();
  plugin.register();
  plugin.list();
  await node.advance('5s');
  await createPod({ image: 'example.com/none:1' });
  const shown = (health: string) => [{ name: GPU, resources: [{ resourceID: 'g0', health }] }];
  const [before] = (await status()).containerStatuses;
  expect([before.state.waiting.reason, before.allocatedResourcesStatus]).toEqual([
    'ImagePullBackOff',
    shown('Healthy'),
  ]);
  plugin.list(false);
  await node.advance('5s');
  const [after] = (await status()).containerStatuses;
  expect([after.state.waiting.reason, after.allocatedResourcesStatus]).toEqual([
    'ImagePullBackOff',
    shown('Unhealthy'),
  ]);
});

test('the health of a device is not in the status without the feature gate ResourceHealthStatus', async () => {
  const { node, plugin, createPod, status } = await deviceNode({ reportsDeviceHealth: false });
  plugin.register();
  plugin.list();
  await node.advance('5s');
  await createPod();
  const [container] = (await status()).containerStatuses;
  expect([container.ready, container.allocatedResourcesStatus]).toEqual([true, undefined]);
});

test('the devices of running containers are the same before and after an agent restart', async () => {
  const { node, plugin, createPod, status } = await deviceNode();
  plugin.register();
  plugin.list();
  await node.advance('5s');
  await createPod();
  const allocations = () =>
    node.agent.devices()?.allocations.map(({ container, devicesByNode }) => [container, devicesByNode]);
  const before = allocations();
  expect(before).toEqual([['main', [{ numaNode: -1, ids: ['g0'] }]]]);
  await node.restartAgent();
  await node.advance('5s');
  expect(allocations()).toEqual(before);
  plugin.register();
  plugin.list();
  await node.advance('20s');
  expect([allocations(), (await status()).phase, plugin.allocations]).toEqual([before, 'Running', [['g0']]]);
});

test('an unhealthy device is not allocatable on the Node, and its pod continues to run', async () => {
  const { node, plugin, counts, createPod, status } = await deviceNode();
  plugin.register();
  plugin.list();
  await node.advance('20s');
  await createPod();
  expect(await counts()).toEqual(['1', '1']);
  for (const [isHealthy, allocatable] of [
    [false, '0'],
    [true, '1'],
  ] as const) {
    plugin.list(isHealthy);
    await node.advance('20s');
    expect([await counts(), (await status()).phase]).toEqual([['1', allocatable], 'Running']);
  }
});

test('a container retains its device while it restarts, even if its plugin and the agent restart as well', async () => {
  const { node, plugin, createPod, status } = await deviceNode();
  const connect = () => {
    plugin.register();
    plugin.list();
  };
  connect();
  await node.advance('5s');
  await createPod({ command: ['sh', '-c', 'sleep 5; exit 1'] }, 'Always');
  const restartCount = async () => (await status()).containerStatuses[0].restartCount;
  const devices = () => node.agent.devices()?.allocations.map(({ devicesByNode }) => devicesByNode);
  const before = devices();
  expect([before, await restartCount()]).toEqual([[[{ numaNode: -1, ids: ['g0'] }]], 1]);
  plugin.stop();
  connect();
  await node.advance('1m');
  const restarts = await restartCount();
  expect([devices(), restarts > 1]).toEqual([before, true]);
  await node.restartAgent();
  connect();
  await node.advance('5m');
  expect([devices(), (await restartCount()) > restarts, plugin.allocations]).toEqual([before, true, [['g0']]]);
});
