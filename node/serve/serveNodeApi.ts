/**
 * Serves the node's own API over HTTPS, and its health endpoint over HTTP. Imported lazily, because short-lived agents
 * serve neither.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { writePrivate } from '../../actors/cluster/certificates/privateFiles.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { createTokenMatcher } from '../../host/tokenMatcher.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { type Access, createAccess } from '../../kubelet-api/access/access.ts';
import type { FindTokenOwner } from '../../kubelet-api/access/authentication.ts';
import type { Caller, Route } from '../../kubelet-api/exchange.ts';
import { healthRoutes, PING_CHECK } from '../../kubelet-api/listener/health.ts';
import { type Listener, listen, listenPlain } from '../../kubelet-api/listener/listener.ts';
import { PathTable } from '../../kubelet-api/listener/paths.ts';
import {
  ensureSelfSignedPair,
  issuedPair,
  readTextOrUndefined,
} from '../../kubelet-api/listener/servingCertificate.ts';
import type { NodeMetrics } from '../../kubelet-api/metrics/agent/nodeMetrics.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import type { ServedView } from '../../show/explain/explainServing.ts';
import type { Summary } from '../../stats/node/summary.ts';
import { NodeApiUse } from '../cluster/nodeApiUse.ts';
import type { ServingConfig } from '../config/compile/serving.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { createNodeStats, type NodeStats } from '../host/nodeStats.ts';
import { RETRY_MS, retryUntilStarted } from '../start/retryUntilStarted.ts';
import { nodeApiRoutes } from './nodeApiRoutes.ts';
import { servePodResources } from './podResources.ts';

export interface NodeApiDependencies {
  readonly config: NodeConfig;
  readonly agent: Pick<
    NodeAgent,
    'knownPods' | 'pods' | 'cpus' | 'memory' | 'claims' | 'devices' | 'health' | 'subscribe'
  >;
  readonly cri: Cri;
  /** Client for access reviews, and notifications of renewed serving certificates. Undefined without a cluster. */
  readonly cluster?: { readonly reviewClient: KubeClient; followServing(listener: () => void): void } | undefined;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly files?: FileSystem;
  /** Sets the log level that corresponds to the kubelet's verbosity. Undefined if the level is fixed. */
  readonly setVerbosity?: (verbosity: number) => void;
  /** The parent of the pods' cgroups. Undefined if pods have no cgroups. */
  readonly cgroupLocation?: CgroupLocation | undefined;
  readonly metrics?: NodeMetrics | undefined;
  /** Statistics collectors shared with the node. If undefined, the API creates its own. */
  readonly stats?: NodeStats | undefined;
}

export interface NodeApiServer {
  /** Returns the port of the API, or 0 while it is not served. */
  port(): number;
  /** Describes how the API is used, for `explain node`. Returns undefined if only the health endpoint is served. */
  view(): ServedView | undefined;
  /**
   * Measures the CPU and memory usage of the node and its pods. Returns undefined if only the health endpoint is
   * served.
   */
  usage(signal: AbortSignal): Promise<Summary | undefined>;
  close(): Promise<void>;
}

/**
 * Serves the API. If that fails, rejects on a node that belongs to a cluster, because a kubelet would exit as well, and
 * retries on a node without a cluster, because nothing depends on the API there.
 */
export async function serveNodeApi(dependencies: NodeApiDependencies): Promise<NodeApiServer> {
  const { config, clock } = dependencies;
  const abortController = new AbortController();
  const nodeServices = [
    serveHealth(dependencies),
    servePodResources({
      ...dependencies,
      pods: dependencies.agent.pods,
      cpus: dependencies.agent.cpus,
      memory: dependencies.agent.memory,
      devices: dependencies.agent.devices,
      claims: dependencies.agent.claims,
      onRequest: dependencies.metrics?.podResourcesListener,
    }),
  ];
  const use = config.serving && new NodeApiUse(clock, config.serving);
  const close = async () => {
    abortController.abort();
    await Promise.all(nodeServices.map((service) => service?.close()));
  };
  let provider: NodeStats['provider'] | undefined;
  try {
    const { serving } = config;
    if (serving !== undefined && use !== undefined) {
      const onVolumeMeasured = (ms: number) =>
        dependencies.metrics?.observers.onServiceAction({ action: 'volumeMeasured', ms });
      const stats =
        dependencies.stats ??
        (await createNodeStats({ ...dependencies, onVolumeMeasured, signal: abortController.signal }));
      provider = stats.provider;
      dependencies.metrics?.addLogUsage(() => stats.logUsages.latest());
      const routeDependencies = { ...dependencies, serving, use, stats, signal: abortController.signal };
      nodeServices.push(await listenWithRetries(routeDependencies));
      if (serving.readOnlyPort) nodeServices.push(await listenReadOnly(routeDependencies, serving.readOnlyPort));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    port: () => use?.port ?? 0,
    view: () => use?.view(),
    usage: async (signal) => provider?.usageWithRates(signal),
    close,
  };
}

interface ListenerDependencies extends NodeApiDependencies {
  readonly serving: ServingConfig;
  readonly use: NodeApiUse;
  readonly stats: NodeStats;
  /** Aborts when the API is closed. */
  readonly signal: AbortSignal;
}

/** Listens for connections to the API. Retries if the node does not belong to a cluster. */
async function listenWithRetries(dependencies: ListenerDependencies): Promise<{ close(): Promise<void> }> {
  const { cluster, clock, logger, use } = dependencies;
  const onStarted = ({ port }: Listener) => {
    use.setPort(port);
    logger.info({ port }, `the node's API is served on port ${port}`);
  };
  if (cluster === undefined) {
    const onProblem = (why: string) => {
      use.setFailure(why);
      logger.warn(`the node's API is not served, retrying every ${RETRY_MS / 1_000} s: ${why}`);
    };
    return retryUntilStarted({ startService: () => listenOnce(dependencies), clock, onStarted, onProblem });
  }
  const listener = await listenOnce(dependencies);
  onStarted(listener);
  return listener;
}

const errorLogger =
  ({ logger }: NodeApiDependencies) =>
  (error: unknown) =>
    logger.warn({ err: error }, `the node's API failed to respond to a request: ${messageOf(error)}`);

/** Serves the health endpoint, which only checks that the agent responds (`cmd/kubelet/app/server.go`). */
function serveHealth(dependencies: NodeApiDependencies): { close(): Promise<void> } | undefined {
  const { config, clock, logger, metrics } = dependencies;
  const { healthz: address } = config;
  if (address === undefined) return undefined;
  const routes = healthRoutes([PING_CHECK], metrics?.checkListener);
  return retryUntilStarted({
    startService: () => listenPlain({ address, routes, clock, onError: errorLogger(dependencies) }),
    clock,
    onStarted: () => {},
    onProblem: (why) => logger.warn(`the health endpoint is not served, retrying every ${RETRY_MS / 1_000} s: ${why}`),
  });
}

async function listenReadOnly(dependencies: ListenerDependencies, port: number) {
  const routes = await createCountedRoutes(dependencies, () => []);
  const { clock, serving, metrics } = dependencies;
  const address = { host: serving.host, port };
  const onRequest = metrics?.observeServedRequests('readonly');
  return listenPlain({ address, routes, clock, onError: errorLogger(dependencies), onRequest });
}

/** Returns the routes of the API, wrapped so that scrapes are counted. `paths` returns the paths that `/statusz` lists. */
async function createCountedRoutes(
  { use, ...parts }: ListenerDependencies,
  paths: () => readonly string[],
): Promise<readonly Route[]> {
  const routes = await nodeApiRoutes({ ...parts, sessions: use.sessions }, paths);
  return routes.map((route) => use.scrapes.countRequests(route));
}

async function listenOnce(dependencies: ListenerDependencies): Promise<Listener> {
  const { config, serving, cluster, clock, logger, files = hostFiles } = dependencies;
  const { host, port, clientCaFile, isIssuedByCluster, certificateDirectory: directory } = serving;
  const names = [config.nodeName, ...(cluster ? [] : ['localhost', '127.0.0.1', '::1'])];
  const configuredPair = isIssuedByCluster ? issuedPair(directory) : serving.certificatePair;
  const onProblem = (problem: string) => logger.warn(`the certificate of the node's API is damaged: ${problem}`);
  const certificatePair =
    configuredPair ?? (await ensureSelfSignedPair({ directory, names, files, now: clock.now(), onProblem }));
  const ownTokens = cluster ? undefined : await readOrCreateOwnToken(dependencies);
  const apiAccess = accessFactory(dependencies, ownTokens);
  let listedPaths: readonly string[] = [];
  const routes: readonly Route[] = await createCountedRoutes(dependencies, () => listedPaths);
  listedPaths = new PathTable(routes, serving.enabledFeatures).statuszPaths;
  const listener = await listen({
    address: { host, port },
    routes,
    certificatePair,
    isAwaited: isIssuedByCluster,
    files,
    clock,
    access: apiAccess,
    enabledFeatures: serving.enabledFeatures,
    tls: serving.tls,
    ...(clientCaFile === undefined ? {} : { clientCaFile }),
    onError: errorLogger(dependencies),
    onRequest: dependencies.metrics?.observeServedRequests('readwrite'),
    onProblem: (why) =>
      logger.warn(`cannot load the certificate of the node's API: ${why}; the previous certificate stays in use`),
  });
  cluster?.followServing(() => void listener.checkFilesNow());
  return listener;
}

/**
 * Returns a function that creates the access checks of a listener, given the listener's client certificate authorities.
 */
const accessFactory =
  (
    { config, serving, use, signal, cluster, clock, logger, metrics }: ListenerDependencies,
    findTokenOwner?: FindTokenOwner,
  ) =>
  (clientAuthorities: Parameters<typeof createAccess>[0]['clientAuthorities']): Access => {
    const { authentication, authorization } = serving;
    const warnOnce = oncePerReason((source, why) => logger.warn(`${source} of the node's API: ${why}`));
    const apiAccess = createAccess({
      nodeName: config.nodeName,
      clock,
      signal,
      authentication,
      authorization,
      ...(cluster ? { client: cluster.reviewClient } : {}),
      ...(clientAuthorities ? { clientAuthorities } : {}),
      ...(findTokenOwner ? { findTokenOwner } : {}),
      observer: metrics?.accessObserver,
      onError: (source, error) => warnOnce(source, messageOf(error)),
    });
    return use.trackAccess(apiAccess);
  };

/**
 * Returns a function that logs a warning about a source, unless the warning repeats the previous one. This prevents an
 * unreachable API server from causing a warning for every request.
 */
function oncePerReason(warn: (source: string, why: string) => void) {
  const lastReasonByKey = new Map<string, string>();
  return (source: string, why: string) => {
    if (lastReasonByKey.get(source) === why) return;
    lastReasonByKey.set(source, why);
    warn(source, why);
  };
}

const TOKEN_BYTES = 32;
/** Pattern of tokens that can be sent in a header and are too long to be guessed. */
const TOKEN_PATTERN = /^[\x21-\x7e]{32,}$/;
const OWNER_CALLER: Caller = { name: 'statelet:owner', groups: ['system:masters'], extra: new Map() };

/**
 * Reads the node's own token, or creates it. The bearer of the token has all permissions, because a node without an API
 * server has no other users. A damaged token is replaced, because a truncated token could be guessed.
 */
async function readOrCreateOwnToken({
  config,
  files = hostFiles,
  logger,
}: ListenerDependencies): Promise<FindTokenOwner> {
  const file = join(config.rootDirectory, 'statelet', 'server-token');
  const storedToken = (await readTextOrUndefined(files, file))?.trim();
  if (storedToken !== undefined && TOKEN_PATTERN.test(storedToken)) return tokenOwner(storedToken);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await writePrivate(files, file, `${token}\n`);
  if (storedToken !== undefined)
    logger.warn(
      { file },
      `the token of the node's API in ${file} was damaged (expected at least 32 characters without spaces) and has been replaced; clients must read it again`,
    );
  return tokenOwner(token);
}

function tokenOwner(token: string): FindTokenOwner {
  const isOwnToken = createTokenMatcher(token);
  return async (offered) => (isOwnToken(offered) ? OWNER_CALLER : undefined);
}
