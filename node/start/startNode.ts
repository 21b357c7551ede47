/** Starts a node on this host for the command line, with a log, events and the node's API. */
import { createEventRecorder } from '../../actors/events/eventRecorder.ts';
import type { ResourceMeter } from '../../actors/services/eviction/eviction.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { MISSING_CLUSTER_DNS_EVENT } from '../../cri/config/dns.ts';
import type { InspectedNode } from '../../inspect/inspected.ts';
import { createAudience } from '../../inspect/live/audience.ts';
import type { HealthCheck } from '../../kubelet-api/listener/health.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { type EventMessage, involvedNode, recordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import type { EvictionFigures } from '../../kubernetes/eviction/outlook.ts';
import { withContainerFsThresholds } from '../../kubernetes/eviction/thresholds.ts';
import type { FlightRecorder } from '../../recording/flightRecorder.ts';
import type { AgentPort } from '../../socket/agent.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { AgentPlacement } from '../host/agentPlacement.ts';
import { setUpHost } from '../host/hostSetup.ts';
import type { NodeStats } from '../host/nodeStats.ts';
import { enforceReservedCgroups } from '../host/reservedCgroups.ts';
import { assertPodDirectoriesUsable } from '../host/rootDirectory.ts';
import { watchRoot } from '../host/rootWatch.ts';
import { createErrorLog, type ErrorLog } from '../log/errorLog.ts';
import { toPinoLevel } from '../log/logger.ts';
import { logStatuses } from '../log/logStatuses.ts';
import type { NodeApiServer } from '../serve/serveNodeApi.ts';
import { createAgentPort } from './agentPort.ts';
import { connectRuntime } from './connectRuntime.ts';
import { createHostNode, type HostNode } from './createHostNode.ts';
import { createNodeFlightRecorder, readRecording } from './observation/flightRecorder.ts';
import type { NodeMetering } from './observation/nodeMetering.ts';
import { combineObservers, recorderAndPageObservers } from './observation/nodeObservers.ts';
import { releaseWhenQuiet } from './observation/releaseWhenQuiet.ts';
import { sendEventsToCluster } from './sendEventsToCluster.ts';
import type { StartNodeOptions } from './startNodeOptions.ts';

/** A running node agent. */
export interface StartedNode {
  readonly agent: AgentPort;
  /** Creates the view of the node that its web page shows. Undefined if the node has no web page. */
  readonly createInspected?: () => Promise<InspectedNode>;
  /** Stops the agent and leaves all pods running. */
  stop(): Promise<void>;
  /** Terminates all pods gracefully, and resolves when they are gone. */
  drain(): Promise<void>;
  /** Returns the health checks of the agent, each of which throws if it fails. Undefined if the node has none. */
  readonly createChecks?: () => Promise<readonly HealthCheck[]>;
  /** Rejects when the agent itself has failed. The agent is then inactive but must still be stopped. */
  readonly agentFailure: Promise<never>;
}

/** Starts a node agent that uses the given runtime. */
export type StartNode = (options: StartNodeOptions) => Promise<StartedNode>;

export const startNode: StartNode = async (options) => {
  const { config, logger, redaction } = options;
  await assertPodDirectoriesUsable(config);
  const agentPlacement = await placeAgent(options);
  const errorLog = createErrorLog(logger);
  const nodeMetering = await createMetering(options, errorLog);
  const runtime = await connectRuntime(options);
  const cri = nodeMetering?.withCallMetrics(runtime.cri) ?? runtime.cri;

  const recorder = createEventRecorder(config.nodeName, systemClock.now);
  const flightRecorder = createNodeFlightRecorder(config, options);
  const audience = createAudience(redaction.redact);
  const combinedObservers = combineObservers([
    { events: recorder.record, ...nodeMetering?.observers },
    ...recorderAndPageObservers(flightRecorder, audience),
  ]);
  const publish = (message: EventMessage) =>
    combinedObservers.events?.({ ...recordedEvent(involvedNode(config.nodeName), message), at: systemClock.now() });
  const startupBuffer = bufferUntilStarted(publish);

  // Assigned later, because the API is served only after the node has been created. Until then, the node reports port
  // 0.
  let api: NodeApiServer | undefined;
  const apiPort = () => api?.port() ?? 0;
  const stats = createSharedStats();
  const node = await createHostNode(options, {
    ...runtime,
    cri,
    errorLog,
    metering: nodeMetering,
    observers: combinedObservers,
    publish: startupBuffer.publish,
    resourceMeter: stats.resourceMeter,
    apiPort,
  });
  let stopHostUpkeep = () => {};
  try {
    if (!options.isSimulated) stopHostUpkeep = await setUpHost(config.hostSetup, { logger, clock: systemClock });
    nodeMetering?.start(node.agent, { flightRecorder, api: () => api });
    await stats.create(options, { node, cri, metering: nodeMetering });
    api = await serveApi(options, { node, cri, metering: nodeMetering, stats: stats.current() });
  } catch (error) {
    stopHostUpkeep();
    stats.stop();
    await releaseNode(node, { cri, flight: flightRecorder, leaveCluster: async () => node.cluster?.close() });
    throw error;
  }

  const leaveCluster = sendEventsToCluster(node, { recorder, onError: errorLog.onError });
  if (node.cgroupLocation !== undefined) {
    const { cgroupDriver } = node.cgroupLocation;
    const { reservedCgroups } = config.resources;
    await enforceReservedCgroups(reservedCgroups, { cgroupDriver, publish, cgroups: node.cgroups }).catch(
      async (error) => {
        stopHostUpkeep();
        stats.stop();
        await api?.close();
        await releaseNode(node, { cri, flight: flightRecorder, leaveCluster });
        throw error;
      },
    );
  }
  const root = watchRoot({ rootDirectory: config.rootDirectory, clock: systemClock, logger, publish });
  const agent = createAgentPort({
    agent: node.agent,
    nodeObject: node.nodeObject,
    config,
    isSimulated: options.isSimulated,
    cri,
    recorder,
    root,
    recording: () => readRecording(flightRecorder, config),
    apiView: () => api?.view(),
    usage: async (signal) => api?.usage(signal),
    evictionFigures: (signal) => stats.evictionFigures(config, node.agent.pods(), signal),
  });
  const subscriptions = [
    logStatuses(agent, logger),
    releaseWhenQuiet(agent.subscribe, { clock: systemClock }),
    root.stop,
    stopHostUpkeep,
  ];
  if (agentPlacement !== undefined) subscriptions.push(agentPlacement.repeat());
  if (config.clusterDns.length === 0) publish(MISSING_CLUSTER_DNS_EVENT);
  flightRecorder?.start(node.agent);
  node.agent.start();
  startupBuffer.flush();

  return {
    agent,
    createInspected: async () => {
      const { createInspectedNode } = await import('../serve/inspectedNode.ts');
      return createInspectedNode({ agent, audience, flightRecorder, config, redaction, logger });
    },
    createChecks: async () => {
      const { healthChecks } = await import('../serve/healthChecks.ts');
      return healthChecks({ agent: node.agent, config, clock: systemClock });
    },
    stop: async () => {
      await api?.close();
      stats.stop();
      for (const unsubscribe of subscriptions) unsubscribe();
      await releaseNode(node, { cri, flight: flightRecorder, leaveCluster });
    },
    drain: node.agent.drain,
    agentFailure: errorLog.rootFailure,
  };
};

/**
 * Moves the agent's process into its cgroup and sets its OOM score adjustment. Returns undefined for a simulated node.
 */
async function placeAgent({ config, logger, isSimulated }: StartNodeOptions): Promise<AgentPlacement | undefined> {
  if (isSimulated) return undefined;
  const placement = new AgentPlacement({ resources: config.resources, logger, clock: systemClock });
  await placement.apply();
  return placement;
}

/** Whether the agent runs only to complete or terminate pods, in which case it does not serve an API. */
const isOneShot = ({ config, endsAll = false }: StartNodeOptions): boolean => config.runOnce || endsAll;

/** Creates the node's metrics. Returns undefined if no API serves them. */
async function createMetering(options: StartNodeOptions, { onError }: ErrorLog): Promise<NodeMetering | undefined> {
  const { config } = options;
  if (isOneShot(options) || config.serving === undefined) return undefined;
  return (await import('./observation/nodeMetering.ts')).createNodeMetering(config, onError);
}

/** Buffers events until `flush`, because nothing subscribes before the node has started. */
function bufferUntilStarted(publish: (message: EventMessage) => void) {
  const { promise: started, resolve: flush } = Promise.withResolvers<void>();
  return { publish: (message: EventMessage) => void started.then(() => publish(message)), flush };
}

interface HostDependencies {
  readonly node: HostNode;
  readonly cri: Cri;
  readonly metering: NodeMetering | undefined;
}

/**
 * Provides the statistics collectors that the eviction manager and the API share. The collectors measure the agent's
 * pods, so they are created after the agent.
 */
function createSharedStats() {
  const abortController = new AbortController();
  const { promise: statsPromise, resolve } = Promise.withResolvers<NodeStats>();
  let createdStats: NodeStats | undefined;
  const resourceMeter: ResourceMeter = {
    measureNode: async (signal) => (await statsPromise).resourceMeter.measureNode(signal),
    readMemory: () => createdStats?.resourceMeter.readMemory() ?? {},
    measureDiskUsage: async (uids, signal) => (await statsPromise).resourceMeter.measureDiskUsage(uids, signal),
    measurePods: async (uids, resource, signal) =>
      (await statsPromise).resourceMeter.measurePods(uids, resource, signal),
  };
  const create = async ({ config, isSimulated }: StartNodeOptions, { node, cri, metering }: HostDependencies) => {
    if (isSimulated) return;
    const { createNodeStats } = await import('../host/nodeStats.ts');
    const onVolumeMeasured = (ms: number) =>
      metering?.metrics.observers.onServiceAction({ action: 'volumeMeasured', ms });
    const { agent, cgroupLocation } = node;
    const { signal } = abortController;
    createdStats = await createNodeStats({
      config,
      agent,
      cri,
      clock: systemClock,
      cgroupLocation,
      onVolumeMeasured,
      signal,
    });
    resolve(createdStats);
  };
  return {
    resourceMeter,
    create,
    current: () => createdStats,
    /** Measures the node and its pods. Returns undefined for a node that never evicts pods. */
    evictionFigures: async (
      { resources }: NodeConfig,
      pods: readonly Pod[],
      signal: AbortSignal,
    ): Promise<EvictionFigures | undefined> => {
      if (createdStats === undefined) return undefined;
      const uids = pods.map(({ metadata }) => metadata.uid);
      const [{ layout, observations }, usages] = await Promise.all([
        createdStats.resourceMeter.measureNode(signal),
        createdStats.resourceMeter.measurePods(uids, 'everything', signal),
      ]);
      const thresholds = withContainerFsThresholds(resources.eviction.thresholds, layout);
      return { thresholds, layout, observations, usages };
    },
    stop: () => abortController.abort(),
  };
}

/** Serves the node's API and its health endpoint. Returns undefined if neither is configured. */
async function serveApi(
  options: StartNodeOptions,
  { node, cri, metering, stats }: HostDependencies & { stats: NodeStats | undefined },
): Promise<NodeApiServer | undefined> {
  const { config, logger } = options;
  if (isOneShot(options) || (config.serving === undefined && config.healthz === undefined)) return undefined;
  const { serveNodeApi } = await import('../serve/serveNodeApi.ts');
  const setVerbosity = (verbosity: number) => {
    logger.level = toPinoLevel(verbosity);
  };
  const { agent, cluster, cgroupLocation } = node;
  const metrics = metering?.metrics;
  return serveNodeApi({
    config,
    agent,
    cri,
    cluster,
    cgroupLocation,
    clock: systemClock,
    logger,
    setVerbosity,
    metrics,
    stats,
  });
}

/** Stops the agent, then releases its resources. */
async function releaseNode(
  { agent, stopCredentialPlugins }: HostNode,
  { cri, flight, leaveCluster }: { cri: Cri; flight: FlightRecorder | undefined; leaveCluster: () => Promise<void> },
): Promise<void> {
  await agent.stop();
  await flight?.close();
  stopCredentialPlugins();
  await leaveCluster();
  cri.close();
}
