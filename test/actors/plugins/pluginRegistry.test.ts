import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PluginRegistry } from '../../../actors/plugins/pluginRegistry.ts';
import type { PluginInfo } from '../../../actors/plugins/registrationMessages.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type FakeDevicePlugin, startDevicePlugin } from '../../fakes/devicePlugin.ts';

let directory: string;
let controller: AbortController;
let plugin: FakeDevicePlugin;
let following: Promise<void>[];
let calls: string[];
let scanCount: number;
/** The next scan waits for this promise. */
let heldUntil: Promise<void> | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-registry-'));
  controller = new AbortController();
  [following, calls, scanCount, heldUntil] = [[], [], 0, undefined];
  plugin = await startDevicePlugin(directory, { resource: 'example.com/gpu', devices: [] });
});

afterEach(async () => {
  controller.abort();
  plugin.close();
  await Promise.all(following);
  await rm(directory, { recursive: true, force: true });
});

const createRegistry = (types: readonly string[]) =>
  new PluginRegistry({
    directory,
    types,
    files: {
      ...hostFiles,
      mkdir: async (...args) => {
        scanCount += 1;
        const held = heldUntil;
        heldUntil = undefined;
        await held;
        return hostFiles.mkdir(...args);
      },
    },
    clock: systemClock,
    onError: () => {},
  });

const follow = (
  registry: PluginRegistry,
  type: string,
  register: () => void | Promise<void> = () => {},
  { signal } = controller,
) => {
  const handler = {
    validate: () => {},
    register: async ({ name }: PluginInfo) => {
      await register();
      calls.push(`registered ${name}`);
    },
    deregister: ({ name }: Pick<PluginInfo, 'name'>) => void calls.push(`deregistered ${name}`),
  };
  following.push(registry.follow(type, handler, signal));
};

const notification = () => eventually('the notification', () => plugin.notifications.at(-1));

test('registers no plugin until each type has a handler, because a refused plugin may exit', async () => {
  const registry = createRegistry(['DevicePlugin', 'DRAPlugin']);
  follow(registry, 'DRAPlugin');
  expect(scanCount).toBe(0);
  follow(registry, 'DevicePlugin');
  expect(await notification()).toEqual({ isRegistered: true, error: '' });
  expect(calls).toEqual(['registered example.com/gpu']);
});

test('registers a plugin again after the handling of its type has been stopped and resumed', async () => {
  const registry = createRegistry(['DevicePlugin', 'DRAPlugin']);
  const first = new AbortController();
  follow(registry, 'DRAPlugin');
  follow(registry, 'DevicePlugin', () => {}, first);
  await notification();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  heldUntil = promise;
  await eventually('a scan that is held', () => (heldUntil === undefined ? true : undefined));
  const scansBefore = scanCount;
  first.abort();
  follow(registry, 'DevicePlugin');
  await new Promise((resolve) => setImmediate(resolve));
  // The plugins of the first handler are deregistered at the end of its last scan.
  expect(scanCount).toBe(scansBefore);
  release();
  await eventually('the second notification', () => plugin.notifications.at(1));
  // The first call ends although the plugins are followed again.
  await following[1];
  expect(calls).toEqual(['registered example.com/gpu', 'deregistered example.com/gpu', 'registered example.com/gpu']);
});

test('deregisters a plugin if the scans stop during its notification', async () => {
  plugin.close();
  const { promise: notified, resolve: answer } = Promise.withResolvers<void>();
  plugin = await startDevicePlugin(directory, { resource: 'example.com/gpu', devices: [], notified });
  follow(createRegistry(['DevicePlugin']), 'DevicePlugin');
  await notification();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  heldUntil = promise;
  await eventually('a scan that is held', () => (heldUntil === undefined ? true : undefined));
  controller.abort();
  // The canceled notification fails before the scans stop.
  await new Promise((resolve) => setImmediate(resolve));
  release();
  await Promise.all(following);
  answer();
  expect(calls).toEqual(['registered example.com/gpu', 'deregistered example.com/gpu']);
});

test('stops handling a type once its own scans have stopped, even if the type is followed again', async () => {
  const registry = createRegistry(['DevicePlugin']);
  const first = new AbortController();
  follow(registry, 'DevicePlugin', () => {}, first);
  await notification();
  first.abort();
  follow(registry, 'DevicePlugin');
  await following[0];
  await eventually('the second notification', () => plugin.notifications.at(1));
  expect(controller.signal.aborted).toBe(false);
});

test('registers no plugin while a type has no handler any more', async () => {
  const registry = createRegistry(['DevicePlugin', 'DRAPlugin']);
  const first = new AbortController();
  follow(registry, 'DRAPlugin', () => {}, first);
  first.abort();
  await following[0];
  follow(registry, 'DevicePlugin');
  expect(scanCount).toBe(0);
  follow(registry, 'DRAPlugin');
  expect(await notification()).toEqual({ isRegistered: true, error: '' });
});

test('notifies a plugin once its handler has connected to it, or of the reason if the connection fails', async () => {
  let attempts = 0;
  follow(createRegistry(['DevicePlugin']), 'DevicePlugin', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    expect(plugin.notifications).toHaveLength(attempts);
    attempts += 1;
    if (attempts === 1) throw new Error('out of order');
  });
  const error = 'RegisterPlugin error -- plugin registration failed with err: out of order';
  expect(await notification()).toEqual({ isRegistered: false, error });
  await eventually('another attempt', () => plugin.notifications.length === 2 || undefined);
  expect(plugin.notifications.at(-1)).toEqual({ isRegistered: true, error: '' });
});

test('shows each socket, and whether its plugin is valid and no failed registration followed', async () => {
  const registry = createRegistry(['DevicePlugin']);
  const { promise, reject } = Promise.withResolvers<void>();
  const socketPath = join(directory, 'plugin.sock');
  let attempts = 0;
  expect(registry.socketStates()).toEqual([]);
  follow(registry, 'DevicePlugin', async () => {
    attempts += 1;
    if (attempts === 1) await promise;
  });
  await eventually('the registration', () => attempts === 1 || undefined);
  expect(registry.socketStates()).toEqual([{ socketPath, isAccepted: true }]);
  reject(new Error('out of order'));
  expect(await notification()).toMatchObject({ isRegistered: false });
  expect(registry.socketStates()).toEqual([{ socketPath, isAccepted: false }]);
  await eventually('another attempt', () => plugin.notifications.length === 2 || undefined);
  expect(registry.socketStates()).toEqual([{ socketPath, isAccepted: true }]);
  await rm(socketPath);
  await eventually('the removal', () => registry.socketStates().length === 0 || undefined);
});

test('deregisters a plugin whose socket is removed while its handler connects to it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isConnecting = false;
  follow(createRegistry(['DevicePlugin']), 'DevicePlugin', () => {
    isConnecting = true;
    return promise;
  });
  await eventually('the connection', () => isConnecting || undefined);
  await rm(join(directory, 'plugin.sock'));
  const previousCount = scanCount;
  await eventually('the next scan', () => scanCount > previousCount + 1 || undefined);
  resolve();
  await eventually('the end of the registration', () => calls.length === 2 || undefined);
  expect(calls).toEqual(['registered example.com/gpu', 'deregistered example.com/gpu']);
  expect(plugin.notifications).toEqual([]);
});
