import { readFile, statfs } from 'node:fs/promises';
import { canLowerOomScore } from '../../cri/managed/host.ts';
import { ConfigError } from '../config/configError.ts';

/** What of the host a node agent may stumble over. */
export interface HostFacts {
  readonly cgroupV1: boolean;
  readonly mayLowerOomScore: boolean;
  readonly swapOn: boolean;
}

/** What `statfs` says of a cgroup v2 tree. */
const CGROUP2_MAGIC = 0x63677270;

/** Reads the facts of this host; undefined off Linux, where there is nothing to look at. */
export async function readHostFacts(): Promise<HostFacts | undefined> {
  if (process.platform !== 'linux') return undefined;
  const cgroups = await statfs('/sys/fs/cgroup').catch(() => undefined);
  const swaps = await readFile('/proc/swaps', 'utf8').catch(() => '');
  return {
    cgroupV1: cgroups?.type !== CGROUP2_MAGIC,
    mayLowerOomScore: await canLowerOomScore(),
    swapOn: swaps.trim().split('\n').length > 1,
  };
}

/** One warning for each fact worth one; throws a `ConfigError` when the configuration does not allow it. */
export function hostWarnings(facts: HostFacts, config: { failCgroupV1: boolean; failSwapOn: boolean }): string[] {
  if (facts.cgroupV1 && config.failCgroupV1) {
    throw new ConfigError(
      'this host uses cgroup v1, and failCgroupV1 is true: use cgroup v2, or set failCgroupV1 to false',
    );
  }
  if (facts.swapOn && config.failSwapOn) {
    throw new ConfigError('swap is on, and failSwapOn is true: turn swap off, or set failSwapOn to false');
  }
  return [
    ...(facts.cgroupV1 ? ['this host uses cgroup v1: limits that require cgroup v2 are not enforced'] : []),
    ...(facts.mayLowerOomScore
      ? []
      : ['missing CAP_SYS_RESOURCE to lower oom_score_adj: pods are not protected from the OOM killer']),
    ...(facts.swapOn ? ['swap is on: memory limits do not cover swapped-out memory'] : []),
  ];
}
