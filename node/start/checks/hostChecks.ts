import { readFile, statfs } from 'node:fs/promises';
import { canLowerOomScore } from '../../../cri/managed/host.ts';
import { ConfigError } from '../../config/configError.ts';

/** Facts about the host that may limit the agent. */
export interface HostLimits {
  readonly isCgroupV1: boolean;
  readonly canLowerOomScoreAdj: boolean;
  readonly isSwapEnabled: boolean;
}

/** The file system type that `statfs` reports for cgroup v2. */
const CGROUP2_MAGIC = 0x63677270;

/** Reads the facts about this host. Returns undefined if it does not run Linux. */
export async function readHostLimits(): Promise<HostLimits | undefined> {
  if (process.platform !== 'linux') return undefined;
  const cgroups = await statfs('/sys/fs/cgroup').catch(() => undefined);
  const swapsText = await readFile('/proc/swaps', 'utf8').catch(() => '');
  return {
    isCgroupV1: cgroups?.type !== CGROUP2_MAGIC,
    canLowerOomScoreAdj: await canLowerOomScore(),
    isSwapEnabled: swapsText.trim().split('\n').length > 1,
  };
}

/** Returns warnings about the facts. Throws a `ConfigError` if the configuration forbids one of them. */
export function hostWarnings(facts: HostLimits, config: { failCgroupV1: boolean; failSwapOn: boolean }): string[] {
  if (facts.isCgroupV1 && config.failCgroupV1) {
    throw new ConfigError(
      'this host uses cgroup v1, and failCgroupV1 is true: use cgroup v2, or set failCgroupV1 to false',
    );
  }
  if (facts.isSwapEnabled && config.failSwapOn) {
    throw new ConfigError('swap is on, and failSwapOn is true: turn swap off, or set failSwapOn to false');
  }
  return [
    ...(facts.isCgroupV1 ? ['this host uses cgroup v1: limits that require cgroup v2 are not enforced'] : []),
    ...(facts.canLowerOomScoreAdj
      ? []
      : ['missing CAP_SYS_RESOURCE to lower oom_score_adj: pods are not protected from the OOM killer']),
    ...(facts.isSwapEnabled ? ['swap is on: memory limits do not cover swapped-out memory'] : []),
  ];
}
