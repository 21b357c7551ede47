/** What every simulated node is told. */
import { noCgroups } from '../../../actors/node/nodeAgentConfig.ts';
import type { CgroupFacts } from '../../../cri/nodeDescription.ts';
import { NODE_NAME, PLACES } from '../host/host.ts';
import type { Watched } from '../invariants/invariant.ts';
import type { SimulationOptions } from '../options.ts';

/** Those of its host. */
export const CGROUPS: CgroupFacts = {
  ...noCgroups,
  perQos: true,
};

/** Who it is, and where it lives. */
export const PLACE = {
  rootDir: PLACES.root,
  podLogsDir: PLACES.logs,
  nodeName: NODE_NAME,
  runtimeEndpoint: 'simulated',
  staticPodPath: PLACES.manifests,
  cgroups: CGROUPS,
};
/** Unless it is told otherwise. */
export const NODE = {
  fileCheckMs: 20_000,
  capacity: { cpuMillis: 64_000, memoryBytes: 2 ** 38, pods: 500 },
};

/** What a node has for its pods, and how long it lets one wait at most that has crashed, unless it is told otherwise. */
export const limitsOf = ({
  config = {},
}: Pick<SimulationOptions, 'config'>): Pick<Watched, 'capacity' | 'longestBackOffMs'> => ({
  capacity: config.capacity ?? NODE.capacity,
  longestBackOffMs: config.crashLoop?.maxMs ?? 300_000,
});
