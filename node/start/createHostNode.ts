/** Creates the node with the cgroups, credentials, files and cluster of this host. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { PluginDrivers } from '../../actors/claims/pluginDrivers.ts';
import { createNodeDescriber } from '../../actors/cluster/node/nodeDescriber.ts';
import { HostDevicePlugins } from '../../actors/devices/hostDevicePlugins.ts';
import { createNode } from '../../actors/node/createNode.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../actors/node/nodeParts.ts';
import { PluginRegistry } from '../../actors/plugins/pluginRegistry.ts';
import type { ResourceMeter } from '../../actors/services/eviction/eviction.ts';
import { readRuntimeClasses } from '../../actors/services/sandboxes/runtimeClasses.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Cgroups } from '../../host/cgroup/cgroups.ts';
import { ContainerOomKills } from '../../host/cgroup/containerOomKills.ts';
import { type Hierarchy, readHierarchies } from '../../host/cgroup/hierarchies.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { hostKernelLog } from '../../host/kernelLog/kernelLog.ts';
import { hostLogind } from '../../host/logind/hostLogind.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import type { OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import type { HostIdentity, NodeObject } from '../../kubernetes/node/nodeObject.ts';
import { describeExcessiveReservation } from '../../kubernetes/resources/allocatable.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import type { JoinedCluster, JoinOptions } from '../cluster/joinCluster.ts';
import { ConfigError } from '../config/configError.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { createCredentialFinder } from '../credentials/createCredentialFinder.ts';
import { createPodCgroups, readMaxProcesses } from '../host/cgroups.ts';
import { readHostConfig } from '../host/hostConfig.ts';
import { readHostIdentity } from '../host/hostIdentity.ts';
import { objectsDirectory } from '../host/paths.ts';
import type { ErrorLog } from '../log/errorLog.ts';
import { isSwapEnabled, swappedVolumesEvent } from './checks/hostChecks.ts';
import type { ConnectedRuntime } from './connectRuntime.ts';
import type { NodeMetering } from './observation/nodeMetering.ts';
import type { NodeObservers } from './observation/nodeObservers.ts';
import type { StartNodeOptions } from './startNodeOptions.ts';

export interface HostNode {
  readonly agent: NodeAgent;
  /** Builds the Node object from the current data about the node. */
  readonly nodeObject: () => NodeObject;
  /** The cluster of the node. Undefined if the node does not belong to a cluster. */
  readonly cluster: JoinedCluster | undefined;
  /** The parent of the pods' cgroups. Undefined for a simulated node. */
  readonly cgroupLocation: CgroupLocation | undefined;
  /** The cgroups of the pods. Undefined if the agent does not manage them. */
  readonly cgroups: Cgroups | undefined;
  /** Kills the credential plugins that are still running. Called when the node stops. */
  readonly stopCredentialPlugins: () => void;
}

interface HostNodeDependencies extends ConnectedRuntime {
  readonly errorLog: ErrorLog;
  readonly metering: NodeMetering | undefined;
  readonly observers: NodeObservers;
  /** Publishes an event about the node. */
  readonly publish: (message: EventMessage) => void;
  /** Measures the resources of the host. Not called before the node has started. */
  readonly resourceMeter: ResourceMeter;
  /** Returns the port of the node's API, or 0 while it is not served. */
  readonly apiPort: () => number;
}

/** Creates the node agent for this host without starting it. */
export async function createHostNode(
  options: StartNodeOptions,
  { cri, readImageDisk, errorLog, metering, observers, publish, resourceMeter, apiPort }: HostNodeDependencies,
): Promise<HostNode> {
  const { config, logger, redaction, isSimulated, restartRuntime, takesOver = false, endsAll = false } = options;
  const hierarchies = await readHierarchies();
  const [host, pids, identity] = await Promise.all([
    readHostConfig(config, { cri, hierarchies, isSimulated }),
    readMaxProcesses(),
    readHostIdentity(),
  ]);
  const reservationProblem = describeExcessiveReservation(host.capacity, config.resources.reservedResources);
  if (reservationProblem !== undefined && !endsAll) throw new ConfigError(reservationProblem);
  if (!isSimulated) {
    const { tmpfsNoswap } = host;
    const swapWarning = swappedVolumesEvent({ isSwapEnabled: await isSwapEnabled(), tmpfsNoswap });
    if (swapWarning !== undefined) publish(swapWarning);
  }
  const cluster = await joinConfiguredCluster(config, identity, {
    onProblem: (problem) => publish(warning('CredentialsUnusable', problem)),
    observer: metering?.metrics.cluster,
  });
  const pluginRegistry = new PluginRegistry({
    directory: join(config.rootDirectory, 'plugins_registry'),
    files: hostFiles,
    clock: systemClock,
    // ResourceClaims come from the API server, so a node without a cluster does not register DRA plugins. A kubelet
    // registers them but cannot use them (`NewManager` in `cm/dra/manager.go`).
    types: cluster === undefined ? ['DevicePlugin'] : ['DevicePlugin', 'DRAPlugin'],
    onError: (error) => errorLog.onError('plugins', error),
  });
  if (!isSimulated) metering?.metrics.addPlugins(() => pluginRegistry.socketStates());
  const credentialPluginsController = new AbortController();
  const nodeParts: NodeParts = {
    cluster: cluster && { ...cluster, servedPort: apiPort },
    cri,
    readImageDisk,
    redaction,
    restartRuntime,
    ...observers,
    onError: errorLog.onError,
    ...logCallbacks(logger, errorLog),
    objectCachePrefix: objectsDirectory(config.rootDirectory),
    ...(config.runtimeClassPath ? { readClasses: runtimeClassReader(config.runtimeClassPath, logger) } : {}),
    ...(isSimulated
      ? {}
      : {
          kernelLog: hostKernelLog(),
          logind: hostLogind(),
          ...(config.resources.reportsProcessOomKills ? { countOomKills: oomKillCounter(host, hierarchies) } : {}),
          devicePlugins: new HostDevicePlugins({
            directory: config.devicePluginDirectory,
            files: hostFiles,
            clock: systemClock,
            registry: pluginRegistry,
          }),
          drivers: new PluginDrivers({
            registry: pluginRegistry,
            clock: systemClock,
            onServiceAction: observers.onServiceAction,
          }),
          resourceMeter,
          cgroups: createPodCgroups({ config, node: host, hierarchies, maxProcesses: pids, logger }),
          findCredentials: await createCredentialFinder(config, {
            logWarning: (message, fields) => logger.warn(fields, message),
            signal: credentialPluginsController.signal,
            observer: metering?.metrics.providerObserver,
          }),
        }),
  };
  const agent = await createNode({ ...host, takesOver, endsAll }, nodeParts);
  return {
    agent,
    nodeObject: createNodeDescriber(agent, {
      name: host.nodeName,
      initialMetadata: host.admissionNode,
      host: identity,
      clock: systemClock,
      cloud: config.cluster?.cloud,
      servedPort: apiPort,
    }),
    cluster,
    cgroupLocation: isSimulated ? undefined : { cgroupRoot: host.cgroupRoot, cgroupDriver: host.cgroupDriver },
    cgroups: nodeParts.cgroups,
    stopCredentialPlugins: () => credentialPluginsController.abort(),
  };
}

/** Returns a function that counts the OOM kills in the cgroups of the node's containers. */
function oomKillCounter(location: CgroupLocation, hierarchies: readonly Hierarchy[]): () => readonly OomKill[] {
  const kills = new ContainerOomKills({ location, hierarchies });
  return () => kills.read();
}

/** Joins the configured cluster, if any. The API server client is imported only if the node joins a cluster. */
async function joinConfiguredCluster(
  { cluster, rootDirectory }: NodeConfig,
  identity: HostIdentity,
  options: Pick<JoinOptions, 'onProblem' | 'observer'>,
): Promise<JoinedCluster | undefined> {
  if (cluster === undefined) return undefined;
  const { joinCluster } = await import('../cluster/joinCluster.ts');
  return joinCluster(cluster, identity, { ...options, cacheDirectory: objectsDirectory(rootDirectory) });
}

/** Returns the node's callbacks that only write log lines. */
const logCallbacks = (
  logger: Logger,
  { clearLogged }: ErrorLog,
): Pick<NodeParts, 'onRuntimeHealth' | 'onAdopted' | 'onManifestProblem'> => ({
  onRuntimeHealth: ({ ready, name, version, message }) => {
    if (ready) clearLogged();
    if (ready) logger.info({ runtime: name, version }, `the container runtime ${name} ${version} is ready`);
    else logger.warn({ runtime: name }, `the container runtime is not ready: ${message ?? ''}`);
  },
  onAdopted: ({ namespace, name, uid }, why) =>
    logger.info({ pod: `${namespace}/${name}`, uid }, `adopted the directory of pod ${namespace}/${name}: ${why}`),
  onManifestProblem: (level, file, path, message) =>
    logger[level === 'error' ? 'error' : 'warn']({ file, path }, `${file}: ${path ? `${path}: ` : ''}${message}`),
});

/** Returns a function that reads the RuntimeClasses of a directory, and logs each problem with a file once. */
function runtimeClassReader(directory: string, logger: Logger) {
  const loggedProblems = new Set<string>();
  return () =>
    readRuntimeClasses(directory, (file, why) => {
      const message = `${file}: RuntimeClass not read: ${why}`;
      if (!loggedProblems.has(message)) logger.warn({ file }, message);
      loggedProblems.add(message);
    });
}
