/** Starts the node of the command line: `createNode` over this host, with its log, its events and the agent's socket. */
import type { Logger } from 'pino';
import { describer } from '../../actors/cluster/node/describeNode.ts';
import { createEventRecorder, type EventRecorder } from '../../actors/events/eventRecorder.ts';
import { EventSender } from '../../actors/events/eventSender.ts';
import { createNode } from '../../actors/node/createNode.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../actors/node/nodeParts.ts';
import { readRuntimeClasses } from '../../actors/services/sandboxes/runtimeClasses.ts';
import { systemClock, systemJitter } from '../../base/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { connectCri } from '../../cri/client/grpc.ts';
import { NO_CLUSTER_DNS } from '../../cri/config/dns.ts';
import { readHierarchies } from '../../host/cgroup/hierarchies.ts';
import type { Inspected } from '../../inspect/inspected.ts';
import { createAudience } from '../../inspect/live/audience.ts';
import type { Check } from '../../kubelet-api/listener/health.ts';
import { type EventMessage, involvedNode, recordedEvent, warning } from '../../kubernetes/events/recordedEvent.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import type { AgentPort } from '../../socket/agent.ts';
import type { JoinedCluster, JoinOptions } from '../cluster/joinCluster.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { credentialsOn } from '../credentials/credentialsOn.ts';
import { AgentPlacement } from '../host/agentPlacement.ts';
import { ownCgroups, processRoom } from '../host/cgroups.ts';
import { hostConfig } from '../host/hostConfig.ts';
import { hostIdentity } from '../host/hostIdentity.ts';
import { objectsDirectory } from '../host/places.ts';
import { expectPlaces } from '../host/rootDirectory.ts';
import { watchRoot } from '../host/rootWatch.ts';
import { type ErrorLog, logErrors } from '../log/errorLog.ts';
import { type AgentLog, levelOf } from '../log/logger.ts';
import { logStatuses } from '../log/statusLog.ts';
import type { NodeServing } from '../serve/serving.ts';
import { agentPort } from './agentPort.ts';
import type { CountedNode } from './countedNode.ts';
import { flightRecorder, recordingOf } from './flightRecorder.ts';
import { onlookersOf, watchersOf } from './onlookers.ts';
import { releaseWhenQuiet } from './quietRelease.ts';

/** A node agent at work. */
export interface StartedNode {
  readonly agent: AgentPort;
  /** It as the page shows it; absent: it has none. */
  readonly inspected?: () => Promise<Inspected>;
  /** Stops the agent and leaves every pod running. */
  stop(): Promise<void>;
  /** Terminates all pods gracefully, and resolves when they are gone. */
  drain(): Promise<void>;
  /** What has to hold for it to be well, each of which throws why it does not; absent: nothing is known of that. */
  readonly checks?: () => Promise<readonly Check[]>;
  /** Rejects when the agent itself has failed: it does nothing any more, and is still to be stopped. */
  readonly failed: Promise<never>;
}

interface StartNodeOptions extends AgentLog {
  readonly config: NodeConfig;
  /** Stands in for the runtime with one that runs no containers. */
  readonly simulated: boolean;
  /** The pods of others that have a directory below the root are this agent's from now on. */
  readonly takesOver?: boolean;
  /** It is started only to end all pods, each within its own grace. */
  readonly endsAll?: boolean;
  /** Restarts the runtime where it is the node's own; its pods go on meanwhile. */
  readonly restartRuntime?: ((why: string) => void) | undefined;
}

/** Starts a node agent over a runtime. */
export type StartNode = (options: StartNodeOptions) => Promise<StartedNode>;

export const startNode: StartNode = async (options) => {
  const { config, logger, simulated, redaction } = options;
  await expectPlaces(config);
  const placement = simulated
    ? undefined
    : new AgentPlacement({ resources: config.resources, logger, clock: systemClock });
  await placement?.apply();
  const { errors, counted, cri } = await watchedRuntime(options);
  const recorder = createEventRecorder(config.nodeName, systemClock.now);
  const flight = flightRecorder(config, options);
  const audience = createAudience(redaction.redact);
  const onlookers = onlookersOf([{ events: recorder.record, ...counted?.onlookers }, ...watchersOf(flight, audience)]);
  const tell = (message: EventMessage) =>
    onlookers.events?.({ ...recordedEvent(involvedNode(config.nodeName), message), at: systemClock.now() });
  const early = keptUntilBegun(tell);
  const served: Served = {};
  const node = await nodeOnHost(options, { cri, errors, onlookers, tell: early.tell, served, counted });
  served.by = await servedBy(options, { ...node, cri, counted }, flight);
  const root = watchRoot({ rootDirectory: config.rootDirectory, clock: systemClock, logger, tell });
  const leave = tellCluster(node, { recorder, errors });
  const more: Pick<AgentPort, 'recording' | 'usage'> & Pick<Parameters<typeof agentPort>[0], 'served'> = {
    recording: () => recordingOf(flight, config),
    served: () => served.by?.view(),
    usage: async (signal) => served.by?.usage(signal),
  };
  const port = agentPort({ ...node, cri, recorder, config, simulated, root, ...more });
  const ends = [logStatuses(port, logger), releaseWhenQuiet(port.subscribe, { clock: systemClock }), root.end];
  if (placement !== undefined) ends.push(placement.repeat());
  if (config.clusterDns.length === 0) tell(NO_CLUSTER_DNS);
  flight?.start(node.agent);
  node.agent.start();
  early.begin();
  const stop = async () => {
    await served.by?.close();
    for (const end of ends) end();
    await endNode({ ...node, cri }, { flight, leave });
  };
  const inspected = async () =>
    (await import('../serve/inspectedNode.ts')).inspectedNode({
      agent: port,
      audience,
      flight,
      config,
      redaction,
      logger,
    });
  const { drain } = node.agent;
  return { agent: port, inspected, checks: checksOf(node, config), stop, drain, failed: errors.failed };
};

/** Few ask for them but over the node's API. */
const checksOf =
  ({ agent }: { readonly agent: NodeAgent }, config: NodeConfig) =>
  async () =>
    (await import('../serve/healthChecks.ts')).healthChecks({ agent, config, clock: systemClock });

/** The runtime, whose calls are counted by whoever counts what the node does. */
async function watchedRuntime(options: StartNodeOptions): Promise<Pick<Reports, 'errors' | 'counted' | 'cri'>> {
  const { config, logger, simulated } = options;
  const errors = logErrors(logger);
  const counted = await countedOn(options, errors);
  const runtime = simulated ? await simulatedCri() : connect(config);
  return { errors, counted, cri: counted?.timed(runtime) ?? runtime };
}

/** What is told before the node has begun is told then: until then nobody listens. */
function keptUntilBegun(tell: (message: EventMessage) => void) {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  return { tell: (message: EventMessage) => void begun.then(() => tell(message)), begin };
}

/** Most nodes belong to none: what speaks with an API server is loaded for those that do. */
async function clusterOn(
  { cluster, rootDirectory }: NodeConfig,
  identity: HostIdentity,
  parts: { readonly onProblem: (problem: string) => void; readonly observer: JoinOptions['observer'] },
): Promise<JoinedCluster | undefined> {
  if (cluster === undefined) return undefined;
  const { joinCluster } = await import('../cluster/joinCluster.ts');
  return joinCluster(cluster, identity, { ...parts, keptDirectory: objectsDirectory(rootDirectory) });
}

/** The cluster hears what happens on the node; gives what ends that. */
function tellCluster(
  {
    cluster,
    agent,
  }: { readonly cluster: JoinedCluster | undefined; readonly agent: Pick<NodeAgent, 'send' | 'hasQueuedStarts'> },
  { recorder, errors: { onError } }: { readonly recorder: EventRecorder; readonly errors: ErrorLog },
): () => Promise<void> {
  if (cluster === undefined) return async () => {};
  const end = new AbortController();
  const { eventClient: client, followNodeUid } = cluster;
  const sender = new EventSender({
    client,
    clock: systemClock,
    jitter: systemJitter,
    onError,
    signal: end.signal,
    hasQueuedStarts: agent.hasQueuedStarts,
    onState: (state) => agent.send({ type: 'cluster.eventsChanged', state }),
  });
  followNodeUid((uid) => sender.learnNode(uid));
  recorder.subscribe(({ event, removed }) => {
    if (!removed) sender.take(event);
  });
  return async () => {
    await sender.finish();
    end.abort();
    cluster.close();
  };
}

/** Who counts what it does, where its API is served. */
async function countedOn(
  { config, endsAll }: StartNodeOptions,
  { onError }: ErrorLog,
): Promise<CountedNode | undefined> {
  if (config.runOnce || endsAll || config.serving === undefined) return undefined;
  return (await import('./countedNode.ts')).countedNode(config, onError);
}

/** Who serves the node's API, once that is so. */
interface Served {
  by?: NodeServing | undefined;
}

type OnHost = Awaited<ReturnType<typeof nodeOnHost>>;

/** Nothing has begun yet: where the API cannot be served, all of it is given up. */
async function servedBy(
  { config, logger, endsAll = false }: StartNodeOptions,
  { agent, cluster, cri, place, end, counted }: OnHost & Pick<Reports, 'cri' | 'counted'>,
  flight: ReturnType<typeof flightRecorder>,
): Promise<NodeServing | undefined> {
  if (config.runOnce || endsAll || (config.serving === undefined && config.healthz === undefined)) return undefined;
  try {
    const { serveApi } = await import('../serve/serving.ts');
    const setVerbosity = (verbosity: number) => {
      logger.level = levelOf(verbosity);
    };
    const metrics = counted?.metrics;
    let by: NodeServing | undefined;
    counted?.begin(agent, { flight, served: () => by });
    by = await serveApi({ config, agent, cri, cluster, place, clock: systemClock, logger, setVerbosity, metrics });
    return by;
  } catch (error) {
    await endNode({ agent, cri, end }, { flight, leave: async () => cluster?.close() });
    throw error;
  }
}

async function endNode(
  { agent, cri, end }: { readonly agent: NodeAgent; readonly cri: Cri; readonly end: () => void },
  { flight, leave }: { readonly flight: ReturnType<typeof flightRecorder>; readonly leave: () => Promise<void> },
): Promise<void> {
  await agent.stop();
  await flight?.close();
  end();
  await leave();
  cri.close();
}

interface Reports {
  readonly served: Served;
  readonly counted: CountedNode | undefined;
  readonly cri: Cri;
  readonly errors: ErrorLog;
  readonly onlookers: Partial<NodeParts>;
  /** Of the node itself. */
  readonly tell: (message: EventMessage) => void;
}

/** The node over this host's runtime, cgroups and files. */
async function nodeOnHost(options: StartNodeOptions, { cri, errors, onlookers, tell, served, counted }: Reports) {
  const { config, logger, redaction, simulated, restartRuntime, takesOver = false, endsAll = false } = options;
  const hierarchies = await readHierarchies();
  const [host, pids, identity] = await Promise.all([
    hostConfig(config, { cri, hierarchies, simulated }),
    processRoom(),
    hostIdentity(),
  ]);
  const onProblem = (problem: string) => tell(warning('CredentialsUnusable', problem));
  const cluster = await clusterOn(config, identity, { onProblem, observer: counted?.metrics.cluster });
  const ending = new AbortController();
  const warn = (message: string, about: object) => logger.warn(about, message);
  const parts: NodeParts = {
    cluster: cluster && { ...cluster, servedPort: () => served.by?.port() ?? 0 },
    cri,
    redaction,
    restartRuntime,
    ...onlookers,
    onError: errors.onError,
    keptObjects: objectsDirectory(config.rootDirectory),
    cgroups: simulated ? undefined : ownCgroups({ config, node: host, hierarchies, pids, logger }),
    ...(simulated
      ? {}
      : {
          findCredentials: await credentialsOn(config, {
            warn,
            signal: ending.signal,
            observer: counted?.metrics.providers,
          }),
        }),
    ...(config.runtimeClassPath ? { readClasses: classesIn(config.runtimeClassPath, logger) } : {}),
    ...logged(logger, errors),
    onRelisted: counted?.metrics.onlookers.onRelisted,
  };
  const agent = await createNode({ ...host, takesOver, endsAll }, parts);
  const described = {
    name: host.nodeName,
    born: host.admissionNode,
    host: identity,
    clock: systemClock,
    cloud: config.cluster?.cloud,
    servedPort: () => served.by?.port() ?? 0,
  };
  const place = simulated ? undefined : { cgroupRoot: host.cgroupRoot, cgroupDriver: host.cgroupDriver };
  return { agent, nodeObject: describer(agent, described), cluster, place, end: () => ending.abort() };
}

/** What the log tells beside statuses and failures. */
const logged = (
  logger: Logger,
  { settled }: ErrorLog,
): Pick<NodeParts, 'onRuntimeHealth' | 'onAdopted' | 'onManifestProblem'> => ({
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

function classesIn(directory: string, logger: Logger) {
  const warned = new Set<string>();
  return () =>
    readRuntimeClasses(directory, (file, why) => {
      const message = `${file}: RuntimeClass not read: ${why}`;
      if (!warned.has(message)) logger.warn({ file }, message);
      warned.add(message);
    });
}

const connect = (config: NodeConfig): Cri =>
  connectCri({
    runtimeEndpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    requestTimeoutMs: config.runtimeRequestTimeoutMs,
  });

/** A runtime that runs no containers, for hosts that cannot. */
async function simulatedCri(): Promise<Cri> {
  const [{ createSimulatedRuntime }, { inProcessCri }, { serveSimulatedStreams }] = await Promise.all([
    import('../../cri/simulated/runtime.ts'),
    import('../../cri/simulated/inProcess.ts'),
    import('../../cri/simulated/streams/streamingServer.ts'),
  ]);
  const { streams } = serveSimulatedStreams(systemClock);
  return inProcessCri(createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true }, streams }));
}
