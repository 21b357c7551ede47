/** The configuration of simulated nodes. */
import { noCgroups } from '../../../actors/node/nodeAgentConfig.ts';
import type { CgroupFacts } from '../../../cri/nodeDescription.ts';
import type { Capacity } from '../../../kubernetes/resources/requests.ts';
import { NODE_NAME, PATHS } from '../host/host.ts';
import { DEVICE_COUNT, DEVICE_RESOURCE } from '../host/simulatedDevices.ts';
import type { Watched } from '../invariants/invariant.ts';
import type { SimulationOptions } from '../options.ts';

export const CGROUP_FACTS: CgroupFacts = {
  ...noCgroups,
  perQos: true,
};

/** The name and the paths of the node. */
export const NODE_PATHS = {
  rootDir: PATHS.root,
  podLogsDir: PATHS.logs,
  nodeName: NODE_NAME,
  runtimeEndpoint: 'simulated',
  staticPodPath: PATHS.manifests,
  cgroups: CGROUP_FACTS,
};
/** The directory of device plugins, and the file in it that contains the allocated devices. */
export const DEVICE_PLUGIN_DIR = `${PATHS.root}/device-plugins`;
export const DEVICE_CHECKPOINT = `${DEVICE_PLUGIN_DIR}/kubelet_internal_checkpoint`;
/** Defaults that the options of a simulation can override. */
export const NODE_DEFAULTS = {
  fileCheckMs: 20_000,
  capacity: { cpuMillis: 64_000, memoryBytes: 2 ** 38, pods: 500 },
  reportsProcessOomKills: true,
};

/**
 * Returns the capacity of a node, which includes the devices of its host, its resource managers, and its longest restart
 * back-off.
 */
export function limitsOf({
  config = {},
}: Pick<SimulationOptions, 'config'>): Pick<Watched, 'capacity' | 'managers' | 'longestBackOffMs'> {
  const capacity: Capacity = config.capacity ?? NODE_DEFAULTS.capacity;
  return {
    capacity: { ...capacity, extra: { ...capacity.extra, [DEVICE_RESOURCE]: DEVICE_COUNT } },
    managers: config,
    longestBackOffMs: config.crashLoop?.maxMs ?? 300_000,
  };
}
