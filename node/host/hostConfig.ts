/** Builds the configuration of a node from the settings and the facts about this host. */

import { cpus, totalmem } from 'node:os';
import type { NodeAgentConfig } from '../../actors/node/nodeAgentConfig.ts';
import { SIMULATED_ENDPOINT } from '../../actors/store/leftOnDisk.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { createResolvConfReader, localResolver } from '../../cri/config/resolvConf.ts';
import { CgroupDriver } from '../../cri/generated/runtime.ts';
import { canLowerOomScore } from '../../cri/managed/host.ts';
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import type { Hierarchy } from '../../host/cgroup/hierarchies.ts';
import { countIdRanges } from '../../host/pods/userNamespaces.ts';
import { type MachineInfo, readMachine, readPageBytes } from '../../host/usage/machine.ts';
import { allocatableResources, subtractReserved } from '../../kubernetes/resources/allocatable.ts';
import type { MemoryQos } from '../../kubernetes/resources/memoryQos.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import { describeEnforced } from '../../kubernetes/resources/reservedCgroups.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { listThermalThrottlePaths, readAdmissionFacts, readDiskAndHugePageCapacity } from './admissionFacts.ts';
import { canPodsSwap, machineCapacity, readCgroupFacts } from './cgroups.ts';
import { nodeAddresses } from './hostAddresses.ts';
import { trackNodeNameAddress } from './nodeNameAddress.ts';
import { readResourceManagers } from './resourceManagers.ts';
import { supportsTmpfsNoswap } from './tmpfsNoswap.ts';

/** Initial delay in milliseconds of the crash-loop back-off (C7). */
const CRASH_BASE_MS = 10_000;

/**
 * Returns the maximum number of concurrent starts of sandboxes and containers. A start spends much of its time waiting
 * for the kernel, the network plugins or a shim. Two starts per CPU therefore keep the CPUs busy, and more would slow
 * down all of them.
 */
const startSlots = ({ cpuCount }: MachineInfo): number => 2 * cpuCount;

/** Reads the facts about the host and combines them with the settings. */
export async function readHostConfig(
  config: NodeConfig,
  host: {
    readonly cri: Cri;
    readonly hierarchies: readonly Hierarchy[];
    readonly isSimulated: boolean;
    /** Directory that contains the machine's `sys` and `proc` directories. Undefined for `/`. */
    readonly root?: string;
  },
) {
  const [facts, extra, admissionNode, machine, resourceManagers] = await Promise.all([
    readRuntimeFacts(config, host),
    readDiskAndHugePageCapacity(config.rootDirectory),
    readAdmissionFacts(config),
    readMachine(host.root).catch(machineWithoutSysfs),
    readResourceManagers(config, host.root),
  ]);
  const hostCapacity: Capacity = { ...machineCapacity(config, machine), extra };
  const memoryQos = await memoryQosFacts(config, facts.cgroups.version, hostCapacity);
  const liftsQuota = config.resourceManagers.cpuPolicy?.liftsQuota === true;
  return {
    ...facts,
    ...resourceManagers,
    cgroups: {
      ...facts.cgroups,
      ...(liftsQuota ? { exclusiveCpus: true } : {}),
      ...(memoryQos === undefined ? {} : { memoryQos }),
    },
    ...agentSettings(config, machine),
    capacity: hostCapacity,
    allocatable: allocatableResources(hostCapacity, config.resources.reservedResources),
    admissionNode,
    limitedSwap: canPodsSwap(facts.cgroups),
    ...(host.isSimulated
      ? {}
      : {
          eviction: config.resources.eviction,
          devicePluginDir: config.devicePluginDirectory,
          ...shutdownSettings(config),
        }),
  } satisfies NodeAgentConfig;
}

/** Returns the settings for graceful node shutdown. Empty if the node does not delay shutdowns. */
const shutdownSettings = ({ shutdownPeriods: periods }: NodeConfig): Pick<NodeAgentConfig, 'shutdown'> =>
  periods.length === 0 ? {} : { shutdown: { periods } };

/** Returns the MemoryQoS settings, which require cgroup v2. */
async function memoryQosFacts(
  { resources: { memoryQos, reservedResources } }: NodeConfig,
  version: NodeDescription['cgroups']['version'],
  capacity: Capacity,
): Promise<MemoryQos | undefined> {
  if (memoryQos === undefined || version !== 'v2') return undefined;
  const unreservedBytes = subtractReserved(capacity, reservedResources).memoryBytes;
  return { ...memoryQos, unreservedBytes, pageBytes: await readPageBytes() };
}

/** Describes the machine on hosts other than Linux, which have no sysfs. */
const machineWithoutSysfs = (): MachineInfo => ({ cpuCount: cpus().length, memoryBytes: totalmem() });

/** Returns the kubelet's settings under the names that the agent uses for them. */
function agentSettings(config: NodeConfig, machine: MachineInfo) {
  const { imagePullTimeoutMs, slowImagePullThresholdMs, maxContainerRestartPeriodMs: maxMs } = config;
  return {
    startSlots: startSlots(machine),
    pullSlots: config.maxParallelImagePulls,
    ...(imagePullTimeoutMs > 0 ? { pullLimitMs: imagePullTimeoutMs } : {}),
    ...(slowImagePullThresholdMs > 0 ? { slowPullMs: slowImagePullThresholdMs } : {}),
    crashLoop: { baseMs: Math.min(CRASH_BASE_MS, maxMs), maxMs },
    garbage: config.deadContainerLimits,
    imageGarbage: config.imageGarbage,
    imageVerification: config.imageVerification,
    logs: config.logRotation,
    ...(config.podCidr === undefined ? {} : { podCidr: config.podCidr }),
    ...(config.staticPodPath === undefined ? {} : { staticPodPath: config.staticPodPath }),
    ...(config.manifestUrl ? { manifestUrl: config.manifestUrl } : {}),
    isLenient: config.lenientManifests,
    reportsProcessOomKills: config.resources.reportsProcessOomKills,
    reportsDeviceHealth: config.reportsDeviceHealth,
    reportsHealthMessages: config.reportsHealthMessages,
    // Describe these limits as enforced, because the node does not start unless it can set them.
    reservedCgroups: config.resources.reservedCgroups.map(describeEnforced),
    fileCheckMs: config.fileCheckFrequencyMs,
  };
}

/** Reads the host facts that affect requests to the runtime. */
async function readRuntimeFacts(
  config: NodeConfig,
  { cri, hierarchies, isSimulated }: { cri: Cri; hierarchies: readonly Hierarchy[]; isSimulated: boolean },
) {
  const { nodeName, resolvConf, clusterDns, clusterDomain, seccompDefault } = config;
  const [canLowerOomScoreAdj, tmpfsNoswap, cgroupDriver, cgroups, maskedPaths, nameAddress] = await Promise.all([
    canLowerOomScore().catch(() => false),
    isSimulated ? false : supportsTmpfsNoswap({ directory: config.rootDirectory }),
    detectCgroupDriver(cri, config.cgroupDriver),
    readCgroupFacts(config.resources, hierarchies),
    listThermalThrottlePaths(),
    // Resolve the node's name only for a node in a cluster without configured addresses, because no other node uses the
    // result.
    ...(config.cluster && config.followsHostAddresses ? [trackNodeNameAddress(config)] : []),
  ]);
  return {
    nodeName,
    clusterDns,
    clusterDomain,
    seccompDefault,
    canLowerOomScoreAdj,
    tmpfsNoswap,
    cgroupDriver,
    cgroups,
    maskedPaths,
    rootDir: config.rootDirectory,
    podLogsDir: config.podLogsDirectory,
    runtimeEndpoint: isSimulated ? SIMULATED_ENDPOINT : config.containerRuntimeEndpoint,
    cgroupRoot: config.cgroupRoot ?? '',
    hostIps: nodeAddresses(config, nameAddress && { nameAddress }),
    resolvConf: localResolver,
    ...(resolvConf === '' ? {} : { readResolvConf: createResolvConfReader(resolvConf) }),
    userNamespaces: { pods: countIdRanges(config.idsPerPod), idsPerPod: config.idsPerPod },
  };
}

/** Returns the runtime's cgroup driver, or the configured one if the runtime is unreachable or too old to report it. */
async function detectCgroupDriver(
  cri: Cri,
  configuredDriver: NodeDescription['cgroupDriver'],
): Promise<NodeDescription['cgroupDriver']> {
  try {
    const { linux } = await cri.runtimeConfig({}, { signal: new AbortController().signal, timeoutMs: 2_000 });
    if (linux === undefined) return configuredDriver;
    return linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch {
    return configuredDriver;
  }
}
