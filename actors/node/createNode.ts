/** Assembles a node from its configuration and its parts. */

import { NodeFailure } from '../../base/failure.ts';
import { systemClock, systemJitter } from '../../base/time/clock.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { listPodDirectories } from '../../host/pods/podDirectory.ts';
import { countIdRanges, createUserNamespaces } from '../../host/pods/userNamespaces.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { involvedNode, recordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import type { Allocation } from '../../kubernetes/resources/allocation.ts';
import { sortPeriods } from '../../kubernetes/shutdown/periods.ts';
import type { NodeInput } from '../../machines/node/context.ts';
import type { ShutdownTimes } from '../../machines/shutdown/context.ts';
import { withUnwrittenFiles } from '../../show/explain/explainNode.ts';
import { hostMounter } from '../../volume/mount/hostMounter.ts';
import type { ClusterContent } from '../../volume/plugins/plugin.ts';
import { createBoundary, type NodeEnvironment } from '../boundary.ts';
import { ClaimManager } from '../claims/claimManager.ts';
import { claimReader, claimServices } from '../claims/claimServices.ts';
import { noDrivers } from '../claims/resourceDrivers.ts';
import { createClusterCaches } from '../cluster/caches.ts';
import { CertificateManager } from '../cluster/certificates/certificates.ts';
import { ClusterNode, noCertificates, noCluster } from '../cluster/node/clusterNode.ts';
import { createNodeDescriber } from '../cluster/node/nodeDescriber.ts';
import { NodeImages } from '../cluster/node/nodeImages.ts';
import { API_SOURCE } from '../cluster/pods/apiPods.ts';
import { ApiStatusSink } from '../cluster/pods/apiStatusSink.ts';
import { mirrorPorts } from '../cluster/pods/mirrorPods.ts';
import { createServiceAccountReader } from '../cluster/serviceAccountReader.ts';
import { noServices } from '../cluster/services.ts';
import type { ClusterCaches } from '../cluster/watches.ts';
import { CpuManagerState } from '../cpus/cpuManagerState.ts';
import { DeviceManagerState } from '../devices/deviceManagerState.ts';
import { currentAddresses } from '../feeds/addresses.ts';
import { OomWatcher } from '../feeds/oomWatcher.ts';
import { MemoryManagerState } from '../memory/memoryManagerState.ts';
import { createLocalObjects, type LocalObjects } from '../objects/localObjects.ts';
import { objectsBySource } from '../objects/objectsBySource.ts';
import { createRedaction, type Redaction } from '../replay/redaction.ts';
import { RelistRequests } from '../runtime/relistRequests.ts';
import { defaultLogPolicy } from '../services/containers/logs.ts';
import { hostNetwork } from '../services/http/hostNetwork.ts';
import { noCredentials } from '../services/images/nodeCredentials.ts';
import { createHandlerFinder } from '../services/sandboxes/runtimeClasses.ts';
import { ShutdownState } from '../shutdown/shutdownState.ts';
import { sourceLocations } from '../sources/sources.ts';
import { StatusLedger } from '../status/statusLedger.ts';
import { createStatusSender, statusSinkInputs } from '../status/statusReports.ts';
import { type DurableFacts, type NodeStore, openNodeStore } from '../store/durableFacts.ts';
import { createFactWriter, type FactWriter } from '../store/factWriter.ts';
import { createOwnerMark, findPodsOnDisk, type PodsAtStart } from '../store/leftOnDisk.ts';
import { createOwnership } from '../store/ownership.ts';
import { type StoreFailure, storeEvent } from '../store/unwrittenFacts.ts';
import { withErrorHandler } from '../withErrorHandler.ts';
import { checkNode } from './checkNode.ts';
import { createAgent, type NodeAgent } from './nodeAgent.ts';
import { completeConfig, type NodeAgentConfig, withoutUndefined } from './nodeAgentConfig.ts';
import { createNodeFeeds } from './nodeFeeds.ts';
import type { NodeParts } from './nodeParts.ts';
import { nodeServices } from './nodeServices.ts';

type FullConfig = ReturnType<typeof completeConfig>;

/** The parts of the node and the objects that several of the parts share. */
interface NodeDependencies
  extends Omit<NodeParts, 'clock' | 'files' | 'onError' | 'redaction' | keyof ClusterContent>,
    ClusterCaches,
    Required<Pick<NodeParts, 'clock' | 'files' | 'onError'>> {
  readonly fullConfig: FullConfig;
  readonly store: NodeStore;
  readonly durable: DurableFacts;
  readonly redaction: Redaction;
  /** Sources of objects, tokens and trust bundles that replace those of the cluster. */
  readonly overrides: ClusterContent;
  readonly localObjects: LocalObjects;
  readonly relistRequests: RelistRequests;
  readonly cpuState: CpuManagerState;
  readonly memoryState: MemoryManagerState;
  readonly shutdownState: ShutdownState;
  readonly lastShutdown: ShutdownTimes | undefined;
  /** Undefined if the node has no device plugins. */
  readonly deviceState: DeviceManagerState | undefined;
  readonly claimManager: ClaimManager;
  /** Paths of the static pods' manifest files, keyed by pod UID. */
  readonly manifestFiles: { now: ReadonlyMap<string, string> };
}

/**
 * Creates a node that runs once its `start` is called. Opens the store and inspects the pods that the previous agent
 * has left on disk. Rejects if an argument is missing or invalid, or if the pods on disk belong to a different runtime.
 */
export async function createNode(config: NodeAgentConfig, parts: NodeParts): Promise<NodeAgent> {
  checkNode(config, parts);
  const dependencies = await openDependencies(completeConfig(withApiSource(config, parts)), withApiStatusSink(parts));
  const { fullConfig, durable: durableFacts, files, store } = dependencies;
  const loadLeftovers = async () => {
    await dependencies.cpuState.load(fullConfig.cpuManager?.cpuPolicy);
    await dependencies.memoryState.load(fullConfig.memoryManager?.memoryPolicy);
    await dependencies.deviceState?.load((failure) => dependencies.onError('devices', failure));
    await dependencies.claimManager.load();
    return findPodsOnDisk(fullConfig, durableFacts, { ...config, files, onAdopted: dependencies.onAdopted });
  };
  const podsOnDisk = await loadLeftovers().catch(async (error) => {
    await store.close();
    throw error;
  });
  return createNodeOnStore(dependencies, podsOnDisk);
}

/** Adds the API server as a source of pods. */
const withApiSource = (config: NodeAgentConfig, { cluster }: NodeParts): NodeAgentConfig =>
  cluster === undefined ? config : { ...config, sources: [...(config.sources ?? []), API_SOURCE] };

/** Adds the API server as a sink of statuses. */
const withApiStatusSink = (parts: NodeParts): NodeParts => {
  const { cluster, sinks = [] } = parts;
  return cluster === undefined
    ? parts
    : { ...parts, sinks: [...sinks, new ApiStatusSink(cluster.client, cluster.pods)] };
};

/** Returns the cluster settings for the actors' input. */
function clusterInput({ cluster }: NodeParts): Pick<NodeInput, 'cluster'> {
  if (cluster === undefined) return {};
  const { leaseSeconds, statusCheckMs, access, certificates } = cluster;
  const own = certificates ? { certificates: certificates.certificates } : {};
  return { cluster: { leaseMs: leaseSeconds * 1_000, statusCheckMs, ...(access ? { access } : {}), ...own } };
}

/** Returns the CPU manager's policy and the assignments that the previous agent persisted. */
function cpusInput({ fullConfig, cpuState }: NodeDependencies): Pick<NodeInput, 'cpus'> {
  const { cpuManager } = fullConfig;
  const { assignments } = cpuState;
  return cpuManager === undefined || assignments === undefined ? {} : { cpus: { ...cpuManager, assignments } };
}

/** Returns the memory manager's policy and the assignments that the previous agent persisted. */
function memoryInput({ fullConfig, memoryState }: NodeDependencies): Pick<NodeInput, 'memory'> {
  const { memoryManager } = fullConfig;
  const { assignments } = memoryState;
  return memoryManager === undefined || assignments === undefined ? {} : { memory: { ...memoryManager, assignments } };
}

/** Returns the settings for the shutdown of the host with the times of the last shutdown. */
function shutdownInput({ fullConfig: { shutdown }, lastShutdown }: NodeDependencies): Pick<NodeInput, 'shutdown'> {
  return shutdown === undefined ? {} : { shutdown: { periods: sortPeriods(shutdown.periods), lastShutdown } };
}
/** Returns the device resources and allocations that the previous agent persisted. */
const devicesInput = ({ deviceState }: NodeDependencies): Pick<NodeInput, 'devices'> =>
  deviceState === undefined ? {} : { devices: deviceState.pool };

function createNodeOnStore(dependencies: NodeDependencies, leftovers: PodsAtStart): NodeAgent {
  const {
    fullConfig: config,
    store,
    durable: durableFacts,
    clock,
    onError,
    onStateChange,
    inspect,
    events,
    onDecision,
    sinks = [],
  } = dependencies;
  const { unacknowledged } = durableFacts;
  const ledger = new StatusLedger({ sinks, disk: { store, unacknowledged, onError } });
  const factWriter = createFactWriter({ ...dependencies, ledger });
  const { environment, imageCollector } = createEnvironment(dependencies, factWriter, ledger, {
    facts: () => agent.facts(),
    health: () => agent.health(),
  });
  const boundary = createBoundary(environment, dependencies);
  const agent: NodeAgent = createAgent(
    boundary,
    {
      ...createInput(config, durableFacts, leftovers),
      ...clusterInput(dependencies),
      ...cpusInput(dependencies),
      ...memoryInput(dependencies),
      ...shutdownInput(dependencies),
      ...devicesInput(dependencies),
      sinks: statusSinkInputs(sinks, ledger),
    },
    {
      clock,
      onError,
      inspect,
      events,
      onStateChange,
      onDecision,
      persist: factWriter.persist,
      ledger,
    },
  );
  const { stop, explainNode } = agent;
  return Object.assign(agent, {
    stop: async () => {
      await stop();
      await Promise.all([store.close(), dependencies.localObjects.close(), dependencies.objects?.close()]);
    },
    explainNode: () => withUnwrittenFiles(explainNode(), store.failure()),
    imageUses: (signal: AbortSignal) => imageCollector.uses({ signal }),
    claims: (pod: Pod, container: Container) => dependencies.claimManager.containerClaims(pod, container),
    relist: (signal: AbortSignal) => dependencies.relistRequests.request(signal),
    manifestFile: (uid: string) => dependencies.manifestFiles.now.get(uid),
  });
}

/**
 * Opens the store and collects the dependencies of the node. Failures of the store are reported as events of the node.
 */
async function openDependencies(config: FullConfig, parts: NodeParts): Promise<NodeDependencies> {
  const {
    clock = systemClock,
    onError = () => {},
    openStore = openNodeStore,
    events = () => {},
    files = hostFiles,
    redaction = createRedaction(),
  } = parts;
  const reportEvent = withErrorHandler('events', events, onError);
  const node = involvedNode(config.nodeName);
  const onFailure = (failure: StoreFailure | undefined) =>
    reportEvent({ ...recordedEvent(node, storeEvent(failure)), at: clock.now() });
  const { store, durable } = await openStore(config.rootDir, { clock, onFailure, files });
  for (const message of durable.damaged) onError('store', new NodeFailure('StoreDamaged', message));
  redaction.learnPods([...durable.manifests.values()].flatMap(({ pods }) => pods));
  redaction.learnPods([...durable.fetched.values()].flat());
  const manifestFiles = { now: new Map() };
  const listPodDirs = () => listPodDirectories(createLayout(config, files));
  const apiCaches = createClusterCaches(parts, { clock, files, listPodDirs, onError });
  const localObjects = createLocalObjects(sourceLocations(config), parts.objectCachePrefix, {
    clock,
    files,
    listPodDirs,
    onError,
  });
  const relistRequests = new RelistRequests();
  const cpuState = new CpuManagerState(files, config.rootDir);
  const memoryState = new MemoryManagerState(files, config.rootDir);
  const shutdownState = new ShutdownState(files, config.rootDir);
  const lastShutdown = await shutdownState.load().catch((error) => void onError('store', error));
  const deviceState =
    config.devicePluginDir === undefined || parts.devicePlugins === undefined
      ? undefined
      : new DeviceManagerState(files, config.devicePluginDir);
  const claimManager = new ClaimManager({
    files,
    rootDir: config.rootDir,
    clock,
    drivers: parts.drivers ?? noDrivers,
    reportsHealth: config.reportsDeviceHealth ?? true,
    reportsHealthMessages: config.reportsHealthMessages ?? true,
    onError: (error) => onError('claims', error),
    ...claimReader(parts.cluster),
  });
  const commonDependencies = {
    clock,
    files,
    onError,
    redaction,
    store,
    durable,
    manifestFiles,
    localObjects,
    relistRequests,
    cpuState,
    memoryState,
    shutdownState,
    lastShutdown: lastShutdown ?? undefined,
    deviceState,
    claimManager,
  };
  const { objects, tokens, trustBundles, ...others } = parts;
  const contentOverrides = withoutUndefined({ objects, tokens, trustBundles });
  return { ...others, ...apiCaches, ...commonDependencies, overrides: contentOverrides, fullConfig: config };
}

/**
 * Returns the implementations of ports and feeds, and the image garbage collector. Implementations that the caller of
 * `createNode` provides replace the real ones.
 */
function createEnvironment(
  dependencies: NodeDependencies,
  { isEvidence }: FactWriter,
  ledger: StatusLedger,
  agent: Pick<NodeAgent, 'facts' | 'health'>,
): { readonly environment: NodeEnvironment } & Pick<ReturnType<typeof nodeServices>, 'imageCollector'> {
  const { fullConfig: config, jitter = systemJitter, readClasses, findCredentials = noCredentials } = dependencies;
  const { mounter = hostMounter, network = hostNetwork } = dependencies;
  const { owner, podLogsDir } = config;
  const { deviceState } = dependencies;
  const layout = createLayout(config, dependencies.files);
  const oomWatcher = new OomWatcher(dependencies);
  const sharedDependencies = {
    ...dependencies,
    network,
    oomWatcher,
    ownership: createOwnership({
      layout,
      ownMark: createOwnerMark(config),
      podLogsDir,
      owner,
      onAdopted: dependencies.onAdopted,
    }),
  };
  const inUse = objectsBySource({ localObjects: dependencies.localObjects, cluster: dependencies.objects });
  const { ports, serviceActivity, imageCollector } = nodeServices({
    ...sharedDependencies,
    findOomKill: oomWatcher.find,
    node: () => ({
      ...config,
      ...agent.facts(),
      cpusOf: (uid, container) => dependencies.cpuState.cpusOf(uid, container),
      memoryNodesOf: (uid, container) => dependencies.memoryState.numaNodesOf(uid, container),
      ...(deviceState === undefined ? {} : { editsOf: (uid, container) => deviceState.editsOf(uid, container) }),
    }),
    layout,
    mounter,
    isEvidence,
    jitter,
    findCredentials,
    inUse,
    objects: inUse,
    ...dependencies.overrides,
    users: createUserNamespaces({
      layout,
      maxPodCount: config.userNamespaces?.pods ?? countIdRanges(),
      idsPerPod: config.userNamespaces?.idsPerPod,
    }),
    findHandler: createHandlerFinder(readClasses, (name) => dependencies.classes.handlerOf(name)),
    learnValues: ({ metadata }, values) => dependencies.redaction.learnValues(metadata.uid, values),
    rootDir: config.rootDir,
    verification: config.imageVerification,
    imageGarbage: config.imageGarbage,
    findServiceAccount: dependencies.cluster && createServiceAccountReader(dependencies.cluster.client),
    serviceVariables: dependencies.cluster === undefined ? noServices : dependencies.services.serviceVariables,
    policy: config.logs ?? defaultLogPolicy,
  });
  const onFiles = (files: ReadonlyMap<string, string>) =>
    void Object.assign(dependencies.manifestFiles, { now: files });
  const nodeFeeds = createNodeFeeds({ ...sharedDependencies, ...config, jitter, onFiles }, serviceActivity);
  const environment: NodeEnvironment = {
    ports: {
      ...ports,
      ...clusterPorts(dependencies, agent),
      ...claimServices({ ...dependencies, client: dependencies.cluster?.client, nodeName: config.nodeName }),
      putStatus: createStatusSender({ sinks: dependencies.sinks ?? [], ledger, clock: dependencies.clock }),
      ...withoutUndefined(dependencies.ports ?? {}),
    },
    feeds: { ...nodeFeeds, ...withoutUndefined(dependencies.feeds ?? {}) },
  };
  return { environment, imageCollector };
}

/** Returns the ports that maintain the Node object. Without a cluster, the actors do not call them. */
function clusterPorts(
  { cluster, clock, fullConfig, ownNode, cri, files, onError, jitter = systemJitter }: NodeDependencies,
  agent: Pick<NodeAgent, 'facts' | 'health'>,
) {
  if (cluster === undefined) return noCluster;
  const { nodeName, admissionNode: initialMetadata = {} } = fullConfig;
  const { host, providerId, cloud, servedPort, statusImages: maxImages } = cluster;
  const describe = createNodeDescriber(agent, {
    name: nodeName,
    initialMetadata,
    host,
    providerId,
    cloud,
    servedPort,
    clock,
  });
  const images = new NodeImages({ cri, clock, maxImages });
  return {
    ...new ClusterNode({ ...cluster, nodeName, clock, jitter, ownNode, describe, images }).ports,
    ...mirrorPorts(cluster.client, nodeName),
    ...(cluster.certificates
      ? new CertificateManager({ ...cluster, ...cluster.certificates, nodeName, files, clock, jitter, onError }).ports
      : noCertificates),
  };
}

/**
 * The configuration fields that become part of the actors' input. The rest of the input comes from the facts that the
 * previous agent has persisted.
 */
const INPUT_FIELDS: Readonly<
  Record<
    Exclude<
      keyof NodeInput,
      | keyof PodsAtStart
      | 'cluster'
      | 'cpus'
      | 'memory'
      | 'shutdown'
      | 'devices'
      | 'hostIps'
      | 'sinks'
      | 'statuses'
      | 'allocations'
      | 'probed'
      | 'containerEnds'
    >,
    true
  >
> = {
  nodeName: true,
  owner: true,
  sources: true,
  capacity: true,
  allocatable: true,
  conditions: true,
  admissionNode: true,
  startSlots: true,
  pullSlots: true,
  pullLimitMs: true,
  slowPullMs: true,
  crashLoop: true,
  limitedSwap: true,
  topologyManager: true,
  reportsProcessOomKills: true,
  reportsDeviceHealth: true,
  reservedCgroups: true,
  garbage: true,
  eviction: true,
  imageGarbage: true,
  logCheckMs: true,
  endsAll: true,
};

/**
 * Returns the actors' input, which combines the configuration with the facts and pods that the previous agent has left
 * on disk.
 */
const createInput = (
  config: FullConfig,
  { statuses, allocations, kubeletAllocations, probes, containerEnds }: DurableFacts,
  leftPods: PodsAtStart,
): NodeInput => ({
  ...pickFields(config, INPUT_FIELDS),
  hostIps: currentAddresses(config.hostIps),
  statuses: Object.fromEntries(statuses),
  allocations: { ...existingAllocations(kubeletAllocations, leftPods), ...Object.fromEntries(allocations) },
  probed: Object.fromEntries(probes),
  containerEnds: Object.fromEntries(containerEnds),
  ...leftPods,
});

/**
 * Returns the allocations of pods that still have a directory. The kubelet leaves the others in its checkpoint until it
 * next writes the file.
 */
function existingAllocations(
  allocations: DurableFacts['kubeletAllocations'],
  { left, foreign }: PodsAtStart,
): Record<string, Allocation> {
  const uids = new Set([...left, ...foreign].map(({ uid }) => uid));
  return Object.fromEntries([...allocations].filter(([uid]) => uids.has(uid)));
}

function pickFields<T extends object, K extends keyof T>(from: T, keys: Readonly<Record<K, true>>): Pick<T, K> {
  // Safe cast: each of the picked keys retains its type.
  return Object.fromEntries(Object.entries(from).filter(([key]) => Object.hasOwn(keys, key))) as Pick<T, K>;
}
