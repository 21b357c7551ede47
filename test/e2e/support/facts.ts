import { join } from 'node:path';
import { canLowerOomScore } from '../../../cri/managed/host.ts';
import type { NodeDescription } from '../../../cri/nodeDescription.ts';
import { readMachine } from '../../../host/usage/machine.ts';

/** Facts of a node on this host that do not depend on runtime and cgroups, without addresses and DNS. */
export async function plainFacts(rootDir: string) {
  const { cpuCount, memoryBytes } = await readMachine();
  const capacity = { cpuMillis: cpuCount * 1_000, memoryBytes, pods: 110 };
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
