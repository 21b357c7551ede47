/** The configuration of a node on this host: what was compiled of flags and file, and what the host says. */
import { cpus, totalmem } from 'node:os';
import type { NodeAgentConfig } from '../../actors/node/nodeAgentConfig.ts';
import { SIMULATED } from '../../actors/store/leftOnDisk.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { localResolver, resolvConfReader } from '../../cri/config/resolvConf.ts';
import { CgroupDriver } from '../../cri/generated/runtime.ts';
import { canLowerOomScore } from '../../cri/managed/host.ts';
import type { NodeDescription } from '../../cri/nodeDescription.ts';
import type { Hierarchy } from '../../host/cgroup/hierarchies.ts';
import { type Machine, readMachine } from '../../host/usage/machine.ts';
import { allocatable } from '../../kubernetes/resources/allocatable.ts';
import type { Capacity } from '../../kubernetes/resources/requests.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { admissionFacts, extraCapacity, throttlePaths } from './admission.ts';
import { capacityOf, cgroupFacts, mayPodsSwap } from './cgroups.ts';
import { nodeAddresses } from './hostAddresses.ts';
import { followedName } from './namedAddress.ts';

/** The first wait of the crash-loop back-off (C7). */
const CRASH_BASE_MS = 10_000;

/**
 * The number of sandboxes and containers that are started at a time. Much of each start is a wait for the kernel, the network
 * plugins or a shim, so twice the CPUs of the host keeps them busy, and more would slow all starts down.
 */
const startSlots = ({ cpuCount }: Machine): number => 2 * cpuCount;

/** Reads what of the host the node has to know, and gives it the kubelet's settings under the agent's names. */
export async function hostConfig(
  config: NodeConfig,
  host: { readonly cri: Cri; readonly hierarchies: readonly Hierarchy[]; readonly simulated: boolean },
) {
  const [facts, extra, admissionNode, machine] = await Promise.all([
    hostFacts(config, host),
    extraCapacity(config.rootDirectory),
    admissionFacts(config),
    readMachine().catch(machineWithoutSysfs),
  ]);
  const capacity: Capacity = { ...capacityOf(config, machine), extra };
  return {
    ...facts,
    ...settings(config, machine),
    capacity,
    allocatable: allocatable(capacity, config.resources.reserved),
    admissionNode,
    limitedSwap: mayPodsSwap(facts.cgroups),
  } satisfies NodeAgentConfig;
}

/** A host that is not Linux has no sysfs, and its processes cannot be bound to CPUs. */
const machineWithoutSysfs = (): Machine => ({ cpuCount: cpus().length, memoryBytes: totalmem() });

/** The settings of the kubelet under the agent's names. */
function settings(config: NodeConfig, machine: Machine) {
  const { imagePullTimeoutMs, slowImagePullAfterMs, maxContainerRestartPeriodMs: maxMs } = config;
  return {
    startSlots: startSlots(machine),
    pullSlots: config.maxParallelImagePulls,
    ...(imagePullTimeoutMs > 0 ? { pullLimitMs: imagePullTimeoutMs } : {}),
    ...(slowImagePullAfterMs > 0 ? { slowPullMs: slowImagePullAfterMs } : {}),
    crashLoop: { baseMs: Math.min(CRASH_BASE_MS, maxMs), maxMs },
    garbage: config.garbage,
    imageVerification: config.imageVerification,
    logs: config.logs,
    ...(config.podCidr === undefined ? {} : { podCidr: config.podCidr }),
    ...(config.staticPodPath === undefined ? {} : { staticPodPath: config.staticPodPath }),
    ...(config.manifestUrl ? { manifestUrl: config.manifestUrl } : {}),
    isLenient: config.lenientManifests,
    fileCheckMs: config.fileCheckFrequencyMs,
  };
}

/** What must be known of the host to say to its runtime what a pod is. */
async function hostFacts(
  config: NodeConfig,
  { cri, hierarchies, simulated }: { cri: Cri; hierarchies: readonly Hierarchy[]; simulated: boolean },
) {
  const { nodeName, resolvConf, clusterDns, clusterDomain, seccompDefault } = config;
  const [canLowerOomScoreAdj, cgroupDriver, cgroups, maskedPaths, named] = await Promise.all([
    canLowerOomScore().catch(() => false),
    askCgroupDriver(cri, config.cgroupDriver),
    cgroupFacts(config.resources, hierarchies),
    throttlePaths(),
    // Only a cluster knows the node by its name.
    ...(config.cluster && config.followsHostAddresses ? [followedName(config)] : []),
  ]);
  return {
    nodeName,
    clusterDns,
    clusterDomain,
    seccompDefault,
    canLowerOomScoreAdj,
    cgroupDriver,
    cgroups,
    maskedPaths,
    rootDir: config.rootDirectory,
    podLogsDir: config.podLogsDirectory,
    runtimeEndpoint: simulated ? SIMULATED : config.containerRuntimeEndpoint,
    cgroupRoot: config.cgroupRoot ?? '',
    hostIps: nodeAddresses(config, named && { named }),
    resolvConf: localResolver,
    ...(resolvConf === '' ? {} : { readResolvConf: resolvConfReader(resolvConf) }),
    userNamespaces: { pods: config.maxPods, idsPerPod: config.idsPerPod },
  };
}

/** The driver that the runtime reports; older runtimes and those that are away leave it to the configuration. */
async function askCgroupDriver(
  cri: Cri,
  configured: NodeDescription['cgroupDriver'],
): Promise<NodeDescription['cgroupDriver']> {
  try {
    const { linux } = await cri.runtimeConfig({}, { signal: new AbortController().signal, timeoutMs: 2_000 });
    if (linux === undefined) return configured;
    return linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch {
    return configured;
  }
}
