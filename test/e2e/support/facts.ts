import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { canLowerOomScore } from '../../../cri/managed/host.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';

/** What a node on this host knows of itself whatever its runtime and cgroups: no addresses, no DNS. */
export async function plainFacts(rootDir: string) {
  const capacity = { cpuMillis: availableParallelism() * 1_000, memoryBytes: totalmem(), pods: 110 };
  return {
    rootDir,
    cgroupDriver: 'cgroupfs',
    hostIps: [],
    resolvConf: { servers: [], searches: [], options: [] },
    clusterDns: [],
    clusterDomain: '',
    capacity,
    allocatable: capacity,
    canLowerOomScoreAdj: await canLowerOomScore().catch(() => false),
    seccompDefault: false,
    podDirectory: (uid: string) => join(rootDir, 'pods', uid),
  } as const satisfies Partial<NodeDescription>;
}
