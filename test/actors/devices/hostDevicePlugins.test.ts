import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HostDevicePlugins } from '../../../actors/devices/hostDevicePlugins.ts';
import { PluginRegistry } from '../../../actors/plugins/pluginRegistry.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type FakePluginOptions, startDevicePlugin } from '../../fakes/devicePlugin.ts';

const GPU = 'example.com/gpu';

let directory: string;
let registryDirectory: string;
let following: Promise<void>;
let controller: AbortController;
let closers: (() => void)[];

beforeEach(async () => {
  const root = await mkdtemp(join(tmpdir(), 'statelet-devices-'));
  [directory, registryDirectory] = [join(root, 'devices'), join(root, 'registry')];
  await Promise.all([mkdir(directory), mkdir(registryDirectory)]);
  following = Promise.resolve();
  controller = new AbortController();
  closers = [];
});

afterEach(async () => {
  controller.abort();
  for (const close of closers) close();
  await following;
  await rm(dirname(directory), { recursive: true, force: true });
});

/** Starts the node's side, and collects what it reports. */
async function follow() {
  const reports: unknown[][] = [];
  const hear =
    (name: string) =>
    (...args: unknown[]) =>
      void reports.push([name, ...args]);
  const host = { files: hostFiles, clock: systemClock };
  const onError = hear('error');
  const registry = new PluginRegistry({ ...host, directory: registryDirectory, types: ['DevicePlugin'], onError });
  const plugins = new HostDevicePlugins({ ...host, directory, registry });
  const listener = {
    onConnected: hear('connected'),
    onDevices: hear('devices'),
    onDisconnected: hear('disconnected'),
    onRegistration: hear('registration'),
    onProblem: hear('problem'),
  };
  following = plugins.follow(listener, { signal: controller.signal });
  await eventually('it listens or says why not', () => reports.length > 0 || undefined);
  return { plugins, reports, until: (name: string) => eventually(name, () => reports.find(([each]) => each === name)) };
}

async function startPlugin(options: Partial<FakePluginOptions> = {}, socketName = 'plugin.sock', folder = directory) {
  const pluginOptions = { resource: GPU, devices: [{ id: 'g0' }], ...options };
  const plugin = await startDevicePlugin(folder, pluginOptions, { socketName });
  closers.push(plugin.close);
  return plugin;
}

const { signal } = new AbortController();

test('follows a plugin that registers: its options, its devices and its disconnection', async () => {
  const { reports, until } = await follow();
  const devices = [
    { id: 'g0', numaNodes: [1, 0] },
    { id: 'g1', healthy: false },
  ];
  const plugin = await startPlugin({ devices, preStart: true, prefers: [] });
  await plugin.register();
  expect(await until('connected')).toEqual(['connected', GPU, { needsPreStart: true, hasPreferences: true }]);
  expect(await until('devices')).toEqual([
    'devices',
    GPU,
    [
      { id: 'g0', isHealthy: true, numaNodes: [0, 1] },
      { id: 'g1', isHealthy: false, numaNodes: [] },
    ],
  ]);
  plugin.list([{ id: 'g2' }]);
  await eventually('the new list', () => JSON.stringify(reports.at(-1)).includes('"g2"') || undefined);
  plugin.close();
  expect(await until('disconnected')).toEqual(['disconnected', GPU]);
});

test('a plugin that registers again replaces its earlier connection, which is no loss', async () => {
  const { reports, plugins } = await follow();
  const first = await startPlugin({}, 'first.sock');
  await first.register();
  const second = await startPlugin({ devices: [{ id: 'other' }] }, 'second.sock');
  await second.register();
  await eventually('the devices of the second', () => JSON.stringify(reports.at(-1)).includes('"other"') || undefined);
  first.close();
  await plugins.allocate(GPU, ['other'], { signal });
  expect(second.calls).toContainEqual({ method: 'Allocate', devices: ['other'] });
  expect(reports.filter(([name]) => name === 'disconnected')).toEqual([]);
});

test('a plugin that registers for a new listener stays connected when the earlier one ends', async () => {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  let isHeld = false;
  // The first listener ends when the scan of the registry does.
  const mkdirHeld: typeof hostFiles.mkdir = async (...args) => {
    if (args[0] === registryDirectory && !isHeld) {
      isHeld = true;
      await isReleased;
    }
    return hostFiles.mkdir(...args);
  };
  const host = { files: { ...hostFiles, mkdir: mkdirHeld }, clock: systemClock };
  const registry = new PluginRegistry({
    ...host,
    directory: registryDirectory,
    types: ['DevicePlugin'],
    onError: () => {},
  });
  const plugins = new HostDevicePlugins({ ...host, directory, registry });
  const reports: string[] = [];
  const listener = {
    onConnected: () => reports.push('connected'),
    onDevices: () => {},
    onDisconnected: () => reports.push('disconnected'),
    onRegistration: () => {},
    onProblem: () => reports.push('listening'),
  };
  const first = new AbortController();
  const firstEnd = plugins.follow({ ...listener, onProblem: () => {} }, { signal: first.signal });
  await eventually('a scan that is held', () => isHeld || undefined);
  first.abort();
  following = plugins.follow(listener, { signal: controller.signal });
  await eventually('the second listener', () => reports.includes('listening') || undefined);
  await (await startPlugin()).register();
  release();
  await firstEnd;
  expect(await plugins.allocate(GPU, ['g0'], { signal })).toBeDefined();
  expect(reports).toEqual(['listening', 'connected']);
});

test('passes requests to the plugin, and decodes its responses', async () => {
  const { plugins } = await follow();
  const plugin = await startPlugin({
    devices: [{ id: 'g0' }, { id: 'g1' }],
    prefers: ['g1'],
    hostPath: '/dev/null',
    mount: '/etc/hostname',
    cdiKind: 'example.com/gpu',
  });
  await plugin.register();
  const request = { available: ['g0', 'g1'], mustInclude: ['g0'], count: 2 };
  expect(await plugins.preferredDevices(GPU, request, { signal })).toEqual(['g1']);
  expect(await plugins.allocate(GPU, ['g0', 'g1'], { signal })).toEqual({
    envs: [['DEVICES', 'g0,g1']],
    mounts: [{ containerPath: '/etc/hostname', hostPath: '/etc/hostname', isReadOnly: true }],
    devices: [
      { containerPath: '/dev/g0', hostPath: '/dev/null', permissions: 'rw' },
      { containerPath: '/dev/g1', hostPath: '/dev/null', permissions: 'rw' },
    ],
    annotations: [[`${GPU}.devices`, 'g0,g1']],
    cdiDevices: ['example.com/gpu=g0', 'example.com/gpu=g1'],
  });
  await plugins.preStart(GPU, ['g0'], { signal });
  expect(plugin.calls.slice(1)).toEqual([
    { method: 'GetPreferredAllocation', devices: ['g0', 'g1'], mustInclude: ['g0'], size: 2 },
    { method: 'Allocate', devices: ['g0', 'g1'] },
    { method: 'PreStartContainer', devices: ['g0'] },
  ]);
});

test('the error of a plugin is reported as a kubelet does', async () => {
  const { plugins } = await follow();
  const plugin = await startPlugin({ refusal: 'the driver is broken' });
  await plugin.register();
  await expect(plugins.allocate(GPU, ['g0'], { signal })).rejects.toThrow(
    'rpc error: code = Unknown desc = the driver is broken',
  );
  await expect(plugins.allocate('example.com/other', ['x'], { signal })).rejects.toThrow(
    'endpoint for resource example.com/other has been stopped',
  );
});

test.each([
  [
    { version: 'v1alpha' },
    'requested API version "v1alpha" is not supported by kubelet. Supported version is ["v1beta1"]',
  ],
  [{ resource: 'cpu' }, 'the ResourceName "cpu" is invalid'],
  [{ resource: 'kubernetes.io/gpu' }, 'the ResourceName "kubernetes.io/gpu" is invalid'],
  [{ resource: 'example.com/a b' }, 'the ResourceName "example.com/a b" is invalid'],
  [{ resource: 'Example.com/gpu' }, 'the ResourceName "Example.com/gpu" is invalid'],
  [{ resource: 'example.com/gpu/0' }, 'the ResourceName "example.com/gpu/0" is invalid'],
  [{ resource: '/gpu' }, 'the ResourceName "/gpu" is invalid'],
  [{ resource: 'example.com/-gpu' }, 'the ResourceName "example.com/-gpu" is invalid'],
  [{ resource: `example.com/${'g'.repeat(64)}` }, `the ResourceName "example.com/${'g'.repeat(64)}" is invalid`],
])('rejects a registration, which counts nevertheless: %j', async (options, message) => {
  const { reports } = await follow();
  const plugin = await startPlugin(options);
  await expect(plugin.register()).rejects.toThrow(message);
  expect(reports.map(([name]) => name)).toEqual(['problem', 'registration']);
});

test('removes the sockets of plugins when it starts, so that they register again, and no other file', async () => {
  const plugin = await startPlugin();
  await writeFile(join(directory, 'kubelet_internal_checkpoint'), '{}');
  await writeFile(join(directory, 'other'), '');
  await follow();
  expect(
    ['plugin.sock', 'kubelet_internal_checkpoint', 'other'].map((name) => existsSync(join(directory, name))),
  ).toEqual([false, true, true]);
  plugin.close();
});

test('leaves the sockets of another agent in place, and says what is wrong', async () => {
  const other = createServer().listen(join(directory, 'kubelet.sock'));
  await new Promise((resolve) => other.once('listening', resolve));
  closers.push(() => other.close());
  await startPlugin();
  const { reports } = await follow();
  expect(reports).toEqual([['problem', `${join(directory, 'kubelet.sock')} is in use by another process`]]);
  expect(existsSync(join(directory, 'plugin.sock'))).toBe(true);
});

const startRegistryPlugin = (options: Partial<FakePluginOptions> = {}, socketName = 'plugin.sock') =>
  startPlugin(options, socketName, registryDirectory);

test('follows a plugin whose socket is in the plugin registry until the socket is gone', async () => {
  const { reports, plugins, until } = await follow();
  const plugin = await startRegistryPlugin({ preStart: true });
  expect(await until('devices')).toEqual(['devices', GPU, [{ id: 'g0', isHealthy: true, numaNodes: [] }]]);
  await eventually('the notification', () => plugin.notifications.length > 0 || undefined);
  expect(plugin.notifications).toEqual([{ isRegistered: true, error: '' }]);
  expect(reports).toContainEqual(['connected', GPU, { needsPreStart: true, hasPreferences: false }]);
  await plugins.allocate(GPU, ['g0'], { signal });
  expect(plugin.calls).toContainEqual({ method: 'Allocate', devices: ['g0'] });
  // Only requests on the socket of the node count as registrations, as in the kubelet.
  expect(reports.filter(([name]) => name === 'registration')).toEqual([]);
  await rm(join(registryDirectory, 'plugin.sock'));
  expect(await until('disconnected')).toEqual(['disconnected', GPU]);
});

test('a plugin in the plugin registry is connected again after it has restarted', async () => {
  const { reports, until } = await follow();
  const plugin = await startRegistryPlugin();
  await until('devices');
  plugin.close();
  await until('disconnected');
  await startRegistryPlugin({ devices: [{ id: 'g1' }] });
  await eventually('the devices', () => JSON.stringify(reports.at(-1)).includes('"g1"') || undefined);
});

test("a plugin in the plugin registry replaces one that has registered on the node's socket", async () => {
  const { reports, plugins } = await follow();
  const first = await startPlugin();
  await first.register();
  const second = await startRegistryPlugin({ devices: [{ id: 'other' }] });
  await eventually('the devices of the second', () => JSON.stringify(reports.at(-1)).includes('"other"') || undefined);
  await plugins.allocate(GPU, ['other'], { signal });
  expect(second.calls).toContainEqual({ method: 'Allocate', devices: ['other'] });
  expect(reports.filter(([name]) => name === 'disconnected')).toEqual([]);
});

test.each([
  [{ version: 'v1alpha' }, 'manager version, v1beta1, is not among plugin supported versions [v1alpha]'],
  [{ resource: 'cpu' }, 'invalid name of device plugin socket: the ResourceName "cpu" is invalid'],
])('notifies a plugin of the plugin registry that it is refused: %j', async (options, reason) => {
  const { reports } = await follow();
  const plugin = await startRegistryPlugin(options);
  await eventually('the notification', () => plugin.notifications.length > 0 || undefined);
  const error = `RegisterPlugin error -- plugin validation failed with err: ${reason}`;
  expect(plugin.notifications[0]).toEqual({ isRegistered: false, error });
  await eventually('the error', () => reports.some(([name]) => name === 'error') || undefined);
  expect(reports.filter(([name]) => name === 'connected')).toEqual([]);
});
