import { readFile, statfs } from 'node:fs/promises';
import { canLowerOomScore } from '../../../cri/managed/host.ts';
import { describeWrongParameters, findWrongKernelParameters } from '../../../host/kernelParameters.ts';
import { type EventMessage, warning } from '../../../kubernetes/events/recordedEvent.ts';
import { ConfigError } from '../../config/configError.ts';
import type { HostSetup, NodeConfig } from '../../config/nodeConfig.ts';

/** Facts about the host that may restrict or prevent the operation of the agent. */
export interface HostLimits {
  readonly isCgroupV1: boolean;
  readonly canLowerOomScoreAdj: boolean;
  readonly isSwapEnabled: boolean;
  /** Kernel parameters that differ from the values that the kubelet requires. */
  readonly wrongParameters: Awaited<ReturnType<typeof findWrongKernelParameters>>;
}

/** The file system type that `statfs` reports for cgroup v2. */
const CGROUP2_MAGIC = 0x63677270;

/** Reads the facts about this host. Returns undefined if it does not run Linux. */
export async function readHostLimits(): Promise<HostLimits | undefined> {
  if (process.platform !== 'linux') return undefined;
  const cgroups = await statfs('/sys/fs/cgroup').catch(() => undefined);
  return {
    isCgroupV1: cgroups?.type !== CGROUP2_MAGIC,
    canLowerOomScoreAdj: await canLowerOomScore(),
    isSwapEnabled: await isSwapEnabled(),
    wrongParameters: await findWrongKernelParameters(),
  };
}

/** Whether the host uses swap, i.e. whether the file has any line after its heading. */
export async function isSwapEnabled(file = '/proc/swaps'): Promise<boolean> {
  const swapsText = await readFile(file, 'utf8').catch(() => '');
  return swapsText.trim().split('\n').length > 1;
}

/**
 * Returns the kubelet's event for a host that may swap memory-backed volumes to disk (`NewContainerManager` in
 * `pkg/kubelet/cm/container_manager_linux.go`). Returns undefined for any other host.
 */
export function swappedVolumesEvent(host: {
  readonly isSwapEnabled: boolean;
  readonly tmpfsNoswap: boolean;
}): EventMessage | undefined {
  if (!host.isSwapEnabled || host.tmpfsNoswap) return undefined;
  const message =
    'The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.';
  return warning('PossibleMemoryBackedVolumesOnDisk', message);
}

/**
 * Returns warnings about the host. Throws a `ConfigError` if the host uses cgroup v1 or swap and the configuration does
 * not permit it.
 */
export function hostWarnings(
  facts: HostLimits,
  config: Pick<NodeConfig, 'failCgroupV1' | 'failSwapOn'> & {
    readonly hostSetup: Pick<HostSetup, 'kernelParameters'>;
    readonly resources: Pick<NodeConfig['resources'], 'limitedSwap'>;
  },
): string[] {
  const { wrongParameters } = facts;
  if (wrongParameters.length > 0 && config.hostSetup.kernelParameters === 'required')
    throw new ConfigError(describeWrongParameters(wrongParameters));
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
    ...(facts.isCgroupV1 && config.resources.limitedSwap
      ? ['swapBehavior LimitedSwap needs cgroup v2: containers do not swap']
      : []),
    ...(facts.canLowerOomScoreAdj
      ? []
      : ['missing CAP_SYS_RESOURCE to lower oom_score_adj: pods are not protected from the OOM killer']),
    ...(facts.isSwapEnabled ? ['swap is on: memory limits do not cover swapped-out memory'] : []),
  ];
}
