/** Puts a node agent together from its configuration: the runtime, the facts of the host, the store. */
import { availableParallelism, homedir, totalmem } from 'node:os';
import { systemClock } from '../actors/clock.ts';
import { createNodeAgent, type NodeAgent } from '../actors/createNodeAgent.ts';
import { createEventRecorder, type EventRecorder } from '../actors/events/eventRecorder.ts';
import { nodeServices } from '../actors/nodeServices.ts';
import { readLogTails } from '../actors/services/logTails.ts';
import { nodeCredentials } from '../actors/services/nodeCredentials.ts';
import { readRuntimeClasses, runtimeClassesIn } from '../actors/services/runtimeClasses.ts';
import { sourceNames } from '../actors/sources/sources.ts';
import { type NodeStore, openNodeStore } from '../actors/store/durableFacts.ts';
import { podsLeftOnDisk, SIMULATED } from '../actors/store/leftOnDisk.ts';
import { storeEvent } from '../actors/store/storeBatches.ts';
import type { Cri } from '../cri/calls.ts';
import { NO_CLUSTER_DNS } from '../cri/dns.ts';
import { CgroupDriver } from '../cri/generated/runtime.ts';
import { connectCri } from '../cri/grpc.ts';
import { ownerMark } from '../cri/labels.ts';
import { mayLowerOomScore } from '../cri/managed/host.ts';
import type { NodeFacts } from '../cri/nodeFacts.ts';
import { localResolver, readResolvConf } from '../cri/resolvConf.ts';
import { type Hierarchy, readHierarchies } from '../host/cgroup/hierarchies.ts';
import { type EventMessage, involvedNode, recordedEvent } from '../pod/events/recordedEvent.ts';
import { addressesNow } from '../pod/node/hostAddresses.ts';
import { nodeObject } from '../pod/node/nodeObject.ts';
import { allocatable } from '../pod/resources/allocatable.ts';
import { withLostRoot, withUnwritten } from '../pod/show/explainNode.ts';
import type { RuntimeView } from '../pod/show/view.ts';
import type { AgentPort, NodeSummary } from '../server/agent.ts';
import { admissionFacts, extraCapacity, throttlePaths } from './admission.ts';
import { capacityOf, cgroupFacts, mayPodsSwap, ownCgroups, processRoom } from './cgroups.ts';
import type { NodeConfig } from './config/nodeConfig.ts';
import { logErrors } from './errorLog.ts';
import { followedAddresses } from './hostAddresses.ts';
import { hostIdentity } from './hostIdentity.ts';
import { releaseWhenQuiet } from './quietRelease.ts';
import { expectPlaces } from './rootDirectory.ts';
import { type RootWatch, watchRoot } from './rootWatch.ts';
import type { StartNode } from './startNode.ts';
import { logStatuses } from './statusLog.ts';

/** The first wait of the crash-loop back-off (C7). */
const CRASH_BASE_MS = 10_000;

/**
 * How many sandboxes and containers are started at a time. Much of each start is waiting (for the kernel, the network
 * plugins, a shim to come up): twice the cores keeps them busy, and more makes all starts slower.
 */
const startSlots = (): number => 2 * availableParallelism();

export const startNode: StartNode = async ({
  config,
  simulated,
  logger,
  restartRuntime,
  takesOver = false,
  endsAll = false,
}) => {
  await expectPlaces(config);
  const cri = simulated ? await simulatedCri() : connect(config);
  const { onError, settled, failed } = logErrors(logger);
  const recorder = createEventRecorder(config.nodeName, systemClock.now);
  const tell = (note: EventMessage) =>
    recorder.record({ ...recordedEvent(involvedNode(config.nodeName), note), at: systemClock.now() });
  const hierarchies = await readHierarchies();
  const [facts, { store, durable }, extra, pids, admission, host] = await Promise.all([
    nodeFacts(config, { cri, hierarchies, simulated }),
    openNodeStore(config.rootDirectory, { clock: systemClock, onFailure: (failure) => tell(storeEvent(failure)) }),
    extraCapacity(config.rootDirectory),
    processRoom(),
    admissionFacts(config),
    hostIdentity(),
  ]);
  for (const message of durable.damaged) logger.error(message);
  const whole = { ...capacityOf(config, facts), extra };
  const capacity = allocatable(whole, config.resources.reserved);
  const node = { ...facts, allocatable: capacity };
  // Before the cgroups: only then it is known which of those that are there are this agent's.
  const left = await podsLeftOnDisk(node, durable, { takesOver });
  const cgroups = simulated ? undefined : ownCgroups({ config, node, hierarchies, pids, logger });
  const services = nodeServices({
    cri,
    clock: systemClock,
    node,
    ...(cgroups ? { cgroups } : {}),
    ...(restartRuntime ? { restartRuntime } : {}),
    ...(simulated ? {} : { findCredentials: credentialsOn(config.rootDirectory, logger) }),
    ...(config.runtimeClassPath ? classesIn(config.runtimeClassPath, logger) : {}),
    store,
    durable,
    ...(config.staticPodPath === undefined ? {} : { staticPodPath: config.staticPodPath }),
    isLenient: config.lenientManifests,
    ...(config.manifestUrl ? { manifestUrl: config.manifestUrl } : {}),
    fileCheckMs: config.fileCheckFrequencyMs,
    logs: config.logs,
    onError,
    onRuntimeHealth: ({ ready, name, version, message }) => {
      if (ready) settled();
      if (ready) logger.info({ runtime: name, version }, `the container runtime ${name} ${version} is ready`);
      else logger.warn({ runtime: name }, `the container runtime is not ready: ${message ?? ''}`);
    },
    onAdopted: ({ namespace, name, uid }, why) =>
      logger.info({ pod: `${namespace}/${name}`, uid }, `adopted the directory of pod ${namespace}/${name}: ${why}`),
    onManifestProblem: (level, file, path, message) =>
      logger[level === 'error' ? 'error' : 'warn']({ file, path }, `${file}: ${path ? `${path}: ` : ''}${message}`),
  });
  const agent = createNodeAgent(
    {
      nodeName: config.nodeName,
      endsAll,
      owner: node.owner,
      hostIps: addressesNow(node.hostIps),
      sources: sourceNames(config),
      capacity,
      admissionNode: admission,
      startSlots: startSlots(),
      pullSlots: config.maxParallelImagePulls,
      ...(config.imagePullTimeoutMs > 0 ? { pullLimitMs: config.imagePullTimeoutMs } : {}),
      ...(config.slowImagePullAfterMs > 0 ? { slowPullMs: config.slowImagePullAfterMs } : {}),
      limitedSwap: mayPodsSwap(node.cgroups),
      crashLoop: {
        baseMs: Math.min(CRASH_BASE_MS, config.maxContainerRestartPeriodMs),
        maxMs: config.maxContainerRestartPeriodMs,
      },
      garbage: config.garbage,
      logCheckMs: config.logs.checkMs,
      statuses: Object.fromEntries(durable.statuses),
      allocations: Object.fromEntries(durable.allocations),
      probed: Object.fromEntries(durable.probes),
      ...left,
    },
    { ...services, events: recorder.record },
    { clock: systemClock, onError },
  );
  const startedAt = systemClock.now();
  const known = { name: config.nodeName, ...admission, host, capacity: whole, startedAt };
  const describeSelf = () => {
    const [{ runtime, state, since, facts }, now] = [agent.overview(), systemClock.now()];
    const drains = state === 'draining' ? { drainsSince: since } : {};
    const { hostIps: addresses, capacity: allocatable, admissionNode } = facts;
    return nodeObject({ ...known, ...admissionNode, addresses, allocatable, runtime, ...drains, now });
  };
  const { rootDirectory } = config;
  const root = watchRoot({ rootDirectory, clock: systemClock, logger, tell });
  const port = agentPort({ agent, recorder, store, config, simulated, root, describeSelf });
  const endLog = logStatuses(port, logger);
  const endRelease = releaseWhenQuiet(port.subscribe, { clock: systemClock });
  if (config.clusterDns.length === 0) tell(NO_CLUSTER_DNS);
  agent.start();
  const stop = async () => {
    endLog();
    endRelease();
    root.end();
    agent.stop();
    await store.close();
    cri.close();
  };
  return { agent: port, stop, drain: agent.drain, failed };
};

function credentialsOn(rootDir: string, logger: Parameters<StartNode>[0]['logger']) {
  const onUnusable = (file: string, why: string) =>
    logger.warn({ file }, `${file}: not read for the credentials of registries: ${why}`);
  return nodeCredentials({ rootDir, workingDir: process.cwd(), homeDir: homedir(), onUnusable });
}

function classesIn(directory: string, logger: Parameters<StartNode>[0]['logger']) {
  const told = new Set<string>();
  const onSkipped = (file: string, why: string) => {
    const message = `${file}: not read for RuntimeClasses: ${why}`;
    if (!told.has(message)) logger.warn({ file }, message);
    told.add(message);
  };
  return {
    findRuntimeHandler: runtimeClassesIn(directory, onSkipped),
    readClasses: () => readRuntimeClasses(directory, onSkipped),
  };
}

interface PortParts {
  readonly agent: NodeAgent;
  readonly recorder: EventRecorder;
  readonly store: NodeStore;
  readonly config: NodeConfig;
  readonly simulated: boolean;
  readonly root: RootWatch;
  readonly describeSelf: AgentPort['nodeObject'];
}

/** The agent as the socket, the tables and the explanations see it. */
function agentPort({ agent, recorder, store, config, simulated, root, describeSelf }: PortParts): AgentPort {
  const { nodeName, rootDirectory, podLogsDirectory } = config;
  return {
    pods: agent.pods,
    views: agent.views,
    subscribe: agent.subscribe,
    events: recorder.events,
    subscribeEvents: recorder.subscribe,
    explain: agent.explainUid,
    logTails: async (uid) => {
      const view = agent.views().find(({ pod }) => pod.metadata.uid === uid);
      return view ? readLogTails(view, { rootDir: rootDirectory, podLogsDir: podLogsDirectory }) : new Map();
    },
    nodeObject: describeSelf,
    explainNode: () => withLostRoot(withUnwritten(agent.explainNode(), store.failure()), root.lost()),
    node: () => {
      const lost = root.lost();
      const { state, waitingFor, until, runtime, foreign, problems, warnings, limiters } = agent.overview();
      return {
        name: nodeName,
        state,
        ...(waitingFor === undefined ? {} : { waitingFor }),
        ...(until === undefined ? {} : { until }),
        runtime: shownRuntime(runtime),
        ...(lost === undefined ? {} : { trouble: lost.message }),
        ...{ simulated, foreign, problems, warnings, limiters },
      };
    },
  };
}

const shownRuntime = ({ ready, networkNotReady: _, ...runtime }: RuntimeView): NodeSummary['runtime'] => ({
  ...runtime,
  state: ready ? 'ready' : 'not ready',
});

const connect = (config: NodeConfig): Cri =>
  connectCri({
    runtimeEndpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    requestTimeoutMs: config.runtimeRequestTimeoutMs,
  });

/** A runtime that runs no containers, for hosts that cannot. */
async function simulatedCri(): Promise<Cri> {
  const [{ createSimulatedRuntime }, { inProcessCri }] = await Promise.all([
    import('../cri/simulated/runtime.ts'),
    import('../cri/simulated/inProcess.ts'),
  ]);
  return inProcessCri(createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true } }));
}

async function nodeFacts(
  config: NodeConfig,
  { cri, hierarchies, simulated }: { cri: Cri; hierarchies: readonly Hierarchy[]; simulated: boolean },
): Promise<NodeFacts> {
  const { rootDirectory: rootDir, podLogsDirectory: podLogsDir, nodeName, resolvConf } = config;
  const [canLowerOomScoreAdj, cgroupDriver, cgroups] = await Promise.all([
    mayLowerOomScore().catch(() => false),
    askCgroupDriver(cri, config.cgroupDriver),
    cgroupFacts(config.resources, hierarchies),
  ]);
  return {
    nodeName,
    rootDir,
    podLogsDir,
    runtimeEndpoint: simulated ? SIMULATED : config.containerRuntimeEndpoint,
    owner: ownerMark(rootDir, nodeName),
    cgroupRoot: config.cgroupRoot ?? '',
    cgroupDriver,
    cgroups,
    hostIps: config.followsHostAddresses ? followedAddresses(systemClock, config.nodeIps) : config.nodeIps,
    resolvConf: localResolver,
    ...(resolvConf === '' ? {} : { readResolvConf: () => readResolvConf(resolvConf) }),
    clusterDns: config.clusterDns,
    clusterDomain: config.clusterDomain,
    memoryCapacityBytes: totalmem(),
    cpuCount: availableParallelism(),
    canLowerOomScoreAdj,
    seccompDefault: config.seccompDefault,
    maskedPaths: await throttlePaths(),
    userNamespaces: { pods: config.maxPods, idsPerPod: config.idsPerPod },
    podDirectory: (uid) => `${rootDir}/pods/${uid}`,
  };
}

/** The driver that the runtime reports; older runtimes and those that are away leave it to the configuration. */
async function askCgroupDriver(cri: Cri, configured: NodeFacts['cgroupDriver']): Promise<NodeFacts['cgroupDriver']> {
  try {
    const { linux } = await cri.runtimeConfig({}, { signal: new AbortController().signal, timeoutMs: 2_000 });
    if (linux === undefined) return configured;
    return linux.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch {
    return configured;
  }
}
