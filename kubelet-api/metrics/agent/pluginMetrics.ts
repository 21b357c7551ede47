import type { PluginSocketState } from '../../../actors/plugins/pluginRegistry.ts';
import { alpha, type Registry } from '../registry.ts';

/**
 * Registers the gauge of plugin sockets, which are read at each scrape
 * (`pkg/kubelet/pluginmanager/metrics/metrics.go`). A plugin is in the actual state of the world once it has been
 * validated.
 */
export function registerPluginGauge(registry: Registry, readSockets: () => readonly PluginSocketState[]): void {
  const plugins = registry.gauge(
    alpha('plugin_manager_total_plugins', 'Sockets of plugins that exist, and of those that are registered.', [
      'socket_path',
      'state',
    ]),
  );
  registry.collect(() => {
    plugins.clear();
    for (const { socketPath, isAccepted } of readSockets()) {
      plugins.set([socketPath, 'desired_state_of_world'], 1);
      if (isAccepted) plugins.set([socketPath, 'actual_state_of_world'], 1);
    }
  });
}
