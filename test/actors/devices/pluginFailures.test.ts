/** Device plugins that fail (`test/e2e_node/device_plugin_failures_test.go`), over real sockets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HostDevicePlugins } from '../../../actors/devices/hostDevicePlugins.ts';
import { PluginRegistry } from '../../../actors/plugins/pluginRegistry.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type FakeDevicePlugin, type FakePluginOptions, startDevicePlugin } from '../../fakes/devicePlugin.ts';

const GPU = 'example.com/gpu';
/** Time in milliseconds within which a node would repeat a call. */
const RETRY_MS = 1_500;

let directory: string;
let controller: AbortController;
let plugin: FakeDevicePlugin;
/** The events that the node reports about the plugin, e.g. `connected`. */
let reports: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-devices-'));
  controller = new AbortController();
  reports = [];
  const registry = new PluginRegistry({
    directory: join(directory, 'registry'),
    files: hostFiles,
    clock: systemClock,
    types: ['DevicePlugin'],
    onError: () => {},
  });
  const plugins = new HostDevicePlugins({ directory, files: hostFiles, clock: systemClock, registry });
  const listener = {
    onConnected: () => void reports.push('connected'),
    onDevices: () => void reports.push('devices'),
    onDisconnected: () => void reports.push('disconnected'),
    onRegistration: () => void reports.push('registration'),
    onProblem: () => void reports.push('ready'),
  };
  void plugins.follow(listener, { signal: controller.signal });
  await eventually('the registration socket', () => reports.includes('ready') || undefined);
});

afterEach(async () => {
  controller.abort();
  plugin.close();
  await rm(directory, { recursive: true, force: true });
});

async function startPlugin(options: Partial<FakePluginOptions>): Promise<void> {
  plugin = await startDevicePlugin(directory, { resource: GPU, devices: [{ id: 'g0' }], ...options });
}

test('a plugin whose options cannot be requested is refused with the reason, and not called again', async () => {
  await startPlugin({ optionsError: 'GetDevicePluginOptions failed' });
  await expect(plugin.register()).rejects.toThrow(
    /failed to get device plugin options: .*GetDevicePluginOptions failed/,
  );
  await pause(RETRY_MS);
  expect([reports, plugin.calls]).toEqual([['ready', 'registration'], []]);
});

test('a plugin that cannot list its devices is disconnected at once, and not called again', async () => {
  await startPlugin({ listError: 'ListAndWatch failed' });
  await plugin.register();
  await eventually('the loss', () => reports.includes('disconnected') || undefined);
  await pause(RETRY_MS);
  expect(reports).toEqual(['ready', 'registration', 'connected', 'disconnected']);
  expect(plugin.calls).toEqual([{ method: 'ListAndWatch', devices: [] }]);
});
