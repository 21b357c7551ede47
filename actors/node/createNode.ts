/** Puts a node together of its configuration and its parts: the one way to make one. */

import { systemClock, systemJitter } from '../../base/clock.ts';
import { NodeFailure } from '../../base/failure.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { listPodDirectories } from '../../host/pods/podDirectory.ts';
import { createUserNamespaces } from '../../host/pods/userNamespaces.ts';
import { involvedNode, recordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import type { NodeInput } from '../../machines/node/context.ts';
import { withUnwrittenFiles } from '../../show/explain/explainNode.ts';
import { hostMounter } from '../../volume/mount/hostMounter.ts';
import type { ClusterContent } from '../../volume/plugins/plugin.ts';
import { createBoundary, type World } from '../boundary.ts';
import { clusterCaches } from '../cluster/caches.ts';
import { Certificates } from '../cluster/certificates/certificates.ts';
import { ClusterNode, noCertificates, noCluster } from '../cluster/node/clusterNode.ts';
import { describer } from '../cluster/node/describeNode.ts';
import { NodeImages } from '../cluster/node/nodeImages.ts';
import { API_SOURCE } from '../cluster/pods/apiPods.ts';
import { ApiStatusSink } from '../cluster/pods/apiStatusSink.ts';
import { mirrorPorts } from '../cluster/pods/mirrorPods.ts';
import { serviceAccountsAt } from '../cluster/serviceAccounts.ts';
import { noServices } from '../cluster/services.ts';
import type { ClusterCaches } from '../cluster/watches.ts';
import { addressesNow } from '../feeds/addresses.ts';
import { type LocalObjects, localObjectsOf } from '../objects/localObjects.ts';
import { objectsBySource } from '../objects/objectsBySource.ts';
import { createRedaction, type Redaction } from '../replay/redaction.ts';
import { defaultLogPolicy } from '../services/containers/logs.ts';
import { hostNetwork } from '../services/http/hostNetwork.ts';
import { noCredentials } from '../services/images/nodeCredentials.ts';
import { createHandlerFinder } from '../services/sandboxes/runtimeClasses.ts';
import { sourcePlaces } from '../sources/sources.ts';
import { StatusReports } from '../status/statusReports.ts';
import { type DurableFacts, type NodeStore, openNodeStore } from '../store/durableFacts.ts';
import { createFactWriter, type FactWriter } from '../store/factWriter.ts';
import { type FoundAtStart, makerOf, podsLeftOnDisk } from '../store/leftOnDisk.ts';
import { createOwnership } from '../store/ownership.ts';
import { type StoreFailure, storeEvent } from '../store/unwrittenFacts.ts';
import { withErrorHandler } from '../withErrorHandler.ts';
import { checkNode } from './checkNode.ts';
import { agentBehind, type NodeAgent } from './nodeAgent.ts';
import { completeConfig, type NodeAgentConfig, withoutUndefined } from './nodeAgentConfig.ts';
import { nodeFeeds } from './nodeFeeds.ts';
import type { NodeParts } from './nodeParts.ts';
import { nodeServices } from './nodeServices.ts';

type FullConfig = ReturnType<typeof completeConfig>;

/** The parts with what all of them need. */
interface Ground
  extends Omit<NodeParts, 'clock' | 'files' | 'onError' | 'redaction' | keyof ClusterContent>,
    ClusterCaches,
    Required<Pick<NodeParts, 'clock' | 'files' | 'onError'>> {
  readonly fullConfig: FullConfig;
  readonly store: NodeStore;
  readonly durable: DurableFacts;
  readonly redaction: Redaction;
  /** What pods get of a cluster, where that is not the cluster's own. */
  readonly given: ClusterContent;
  readonly localObjects: LocalObjects;
  /** The files of the static pods, by uid. */
  readonly manifestFiles: { now: ReadonlyMap<string, string> };
}

/**
 * Makes a node, which `start` starts: opens its store and looks at what a former run has left. Rejects at once where
 * something is missing or wrong of what is given, and where the pods on disk are of another runtime.
 */
export async function createNode(config: NodeAgentConfig, parts: NodeParts): Promise<NodeAgent> {
  checkNode(config, parts);
  const ground = await openGround(completeConfig(withCluster(config, parts)), withStatuses(parts));
  const { fullConfig, durable, files, store } = ground;
  const left = await podsLeftOnDisk(fullConfig, durable, { ...config, files, onAdopted: ground.onAdopted }).catch(
    async (error) => {
      await store.close();
      throw error;
    },
  );
  return nodeOn(ground, left);
}

/** The pods of a cluster are one more source. */
const withCluster = (config: NodeAgentConfig, { cluster }: NodeParts): NodeAgentConfig =>
  cluster === undefined ? config : { ...config, sources: [...(config.sources ?? []), API_SOURCE] };

/** A cluster is told the statuses of its pods. */
const withStatuses = (parts: NodeParts): NodeParts => {
  const { cluster, sinks = [] } = parts;
  return cluster === undefined
    ? parts
    : { ...parts, sinks: [...sinks, new ApiStatusSink(cluster.client, cluster.pods)] };
};

/** What the actors are told of the cluster. */
function inCluster({ cluster }: NodeParts): Pick<NodeInput, 'cluster'> {
  if (cluster === undefined) return {};
  const { leaseSeconds, statusCheckMs, access, certificates } = cluster;
  const own = certificates ? { certificates: certificates.certificates } : {};
  return { cluster: { leaseMs: leaseSeconds * 1_000, statusCheckMs, ...(access ? { access } : {}), ...own } };
}

/** The node over an open store. */
function nodeOn(ground: Ground, left: FoundAtStart): NodeAgent {
  const { fullConfig: told, store, durable, clock, onError, moves, inspect, events, decisions } = ground;
  const reports = new StatusReports({ sinks: [], ...ground, unacknowledged: durable.unacknowledged });
  const kept = createFactWriter({ ...ground, keepEnd: (...end) => reports.persistTerminal(...end) });
  const boundary = createBoundary(
    worldOf(ground, kept, reports, { facts: () => agent.facts(), health: () => agent.health() }),
    ground,
  );
  const agent: NodeAgent = agentBehind(
    boundary,
    { ...inputOf(told, durable, left), ...inCluster(ground), sinks: reports.previouslyUnsent() },
    {
      clock,
      onError,
      inspect,
      events,
      moves,
      decisions,
      keep: kept.keep,
      report: (change) => reports.recordPublished(change),
    },
  );
  const { stop, explainNode } = agent;
  return Object.assign(agent, {
    stop: async () => {
      await stop();
      await store.close();
    },
    explainNode: () => withUnwrittenFiles(explainNode(), store.failure()),
    manifestFile: (uid: string) => ground.manifestFiles.now.get(uid),
  });
}

/** Opens the store; what is wrong with it is told of the node. */
async function openGround(told: FullConfig, parts: NodeParts): Promise<Ground> {
  const {
    clock = systemClock,
    onError = () => {},
    openStore = openNodeStore,
    events = () => {},
    files = hostFiles,
    redaction = createRedaction(),
  } = parts;
  const tell = withErrorHandler('events', events, onError);
  const node = involvedNode(told.nodeName);
  const onFailure = (failure: StoreFailure | undefined) =>
    tell({ ...recordedEvent(node, storeEvent(failure)), at: clock.now() });
  const { store, durable } = await openStore(told.rootDir, { clock, onFailure, files });
  for (const message of durable.damaged) onError('store', new NodeFailure('StoreDamaged', message));
  redaction.learnPods([...durable.manifests.values()].flatMap(({ pods }) => pods));
  redaction.learnPods([...durable.fetched.values()].flat());
  const manifestFiles = { now: new Map() };
  const podsLeft = () => listPodDirectories(createLayout(told, files));
  const caches = clusterCaches(parts, { clock, files, podsLeft, onError });
  const localObjects = localObjectsOf(sourcePlaces(told), parts.keptObjects, { clock, files, podsLeft, onError });
  const common = { clock, files, onError, redaction, store, durable, manifestFiles, localObjects };
  const { objects, tokens, trustBundles, ...others } = parts;
  const given = withoutUndefined({ objects, tokens, trustBundles });
  return { ...others, ...caches, ...common, given, fullConfig: told };
}

/** What is behind the ports and feeds: real services, but those that the parts bring themselves. */
function worldOf(
  ground: Ground,
  { isEvidence }: FactWriter,
  reports: StatusReports,
  agent: Pick<NodeAgent, 'facts' | 'health'>,
): World {
  const { fullConfig: told, jitter = systemJitter, readClasses, findCredentials = noCredentials } = ground;
  const { mounter = hostMounter, network = hostNetwork } = ground;
  const { owner, podLogsDir } = told;
  const layout = createLayout(told, ground.files);
  const shared = {
    ...ground,
    network,
    ownership: createOwnership({ layout, maker: makerOf(told), podLogsDir, owner, onAdopted: ground.onAdopted }),
  };
  const inUse = objectsBySource({ local: ground.localObjects, cluster: ground.objects });
  const { ports, doings } = nodeServices({
    ...shared,
    node: () => ({ ...told, ...agent.facts() }),
    layout,
    mounter,
    isEvidence,
    jitter,
    findCredentials,
    inUse,
    objects: inUse,
    ...ground.given,
    users: createUserNamespaces({
      layout,
      maxPods: told.userNamespaces?.pods ?? told.capacity.pods,
      idsPerPod: told.userNamespaces?.idsPerPod,
    }),
    findHandler: createHandlerFinder(readClasses, (name) => ground.classes.handlerOf(name)),
    learnValues: ({ metadata }, values) => ground.redaction.learnValues(metadata.uid, values),
    rootDir: told.rootDir,
    verification: told.imageVerification,
    findServiceAccount: ground.cluster && serviceAccountsAt(ground.cluster.client),
    serviceVariables: ground.cluster === undefined ? noServices : ground.services.variables,
    policy: told.logs ?? defaultLogPolicy,
  });
  const onFiles = (files: ReadonlyMap<string, string>) => void Object.assign(ground.manifestFiles, { now: files });
  const feeds = nodeFeeds({ ...shared, ...told, jitter, onFiles }, doings);
  return {
    ports: {
      ...ports,
      ...clusterPorts(ground, agent),
      putStatus: reports.put,
      ...withoutUndefined(ground.ports ?? {}),
    },
    feeds: { ...feeds, ...withoutUndefined(ground.feeds ?? {}) },
  };
}

/** What keeps the Node of a cluster; without one nobody asks. */
function clusterPorts(
  { cluster, clock, fullConfig, ownNode, cri, files, onError, jitter = systemJitter }: Ground,
  agent: Pick<NodeAgent, 'facts' | 'health'>,
) {
  if (cluster === undefined) return noCluster;
  const { nodeName, admissionNode: born = {} } = fullConfig;
  const { host, providerId, cloud, servedPort, statusImages: most } = cluster;
  const describe = describer(agent, { name: nodeName, born, host, providerId, cloud, servedPort, clock });
  const images = new NodeImages({ cri, clock, most });
  return {
    ...new ClusterNode({ ...cluster, nodeName, clock, jitter, ownNode, describe, images }).ports,
    ...mirrorPorts(cluster.client, nodeName),
    ...(cluster.certificates
      ? new Certificates({ ...cluster, ...cluster.certificates, nodeName, files, clock, jitter, onError }).ports
      : noCertificates),
  };
}

/** What of the configuration the actors are told: all of their input that no former run has left. */
const INPUT: Readonly<
  Record<
    Exclude<
      keyof NodeInput,
      keyof FoundAtStart | 'cluster' | 'hostIps' | 'sinks' | 'statuses' | 'allocations' | 'probed' | 'containerEnds'
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
  garbage: true,
  logCheckMs: true,
  endsAll: true,
};

/** What the actors begin with: what they are told, and what is left of a former run. */
const inputOf = (
  told: FullConfig,
  { statuses, allocations, probes, containerEnds }: DurableFacts,
  left: FoundAtStart,
): NodeInput => ({
  ...picked(told, INPUT),
  hostIps: addressesNow(told.hostIps),
  statuses: Object.fromEntries(statuses),
  allocations: Object.fromEntries(allocations),
  probed: Object.fromEntries(probes),
  containerEnds: Object.fromEntries(containerEnds),
  ...left,
});

function picked<T extends object, K extends keyof T>(from: T, keys: Readonly<Record<K, true>>): Pick<T, K> {
  // Each of the keys that is there has its own type.
  return Object.fromEntries(Object.entries(from).filter(([key]) => Object.hasOwn(keys, key))) as Pick<T, K>;
}
