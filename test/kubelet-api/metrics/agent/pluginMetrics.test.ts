import { expect, test } from '@jest/globals';
import type { PluginSocketState } from '../../../../actors/plugins/pluginRegistry.ts';
import { registerPluginGauge } from '../../../../kubelet-api/metrics/agent/pluginMetrics.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { scraped } from '../support/scraped.ts';

test('C42: the sockets of plugins are shown with their desired and actual state', async () => {
  const registry = new Registry(() => {});
  let sockets: readonly PluginSocketState[] = [
    { socketPath: '/registry/gpu.sock', isAccepted: true },
    { socketPath: '/registry/new.sock', isAccepted: false },
  ];
  registerPluginGauge(registry, () => sockets);
  const samples = async () => Object.fromEntries((await scraped(registry)).get(NAME)?.samples ?? []);
  expect(await samples()).toEqual({
    [`${NAME}{socket_path="/registry/gpu.sock",state="desired_state_of_world"}`]: 1,
    [`${NAME}{socket_path="/registry/gpu.sock",state="actual_state_of_world"}`]: 1,
    [`${NAME}{socket_path="/registry/new.sock",state="desired_state_of_world"}`]: 1,
  });
  sockets = [];
  expect(await samples()).toEqual({});
});

const NAME = 'plugin_manager_total_plugins';
