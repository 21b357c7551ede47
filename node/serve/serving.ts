/** The node's own API, over HTTPS, and what tells plainly that it lives. Loaded late: only an agent that stays serves. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { writePrivate } from '../../actors/cluster/certificates/privateFiles.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { tokenPredicate } from '../../host/sameToken.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { type Access, createAccess } from '../../kubelet-api/access/access.ts';
import type { TokenOwner } from '../../kubelet-api/access/authentication.ts';
import type { Caller, Route } from '../../kubelet-api/exchange.ts';
import { healthRoutes, PING } from '../../kubelet-api/listener/health.ts';
import { type Listener, listen, listenPlain } from '../../kubelet-api/listener/listener.ts';
import { issuedPair, readTextOrUndefined, selfSignedPair } from '../../kubelet-api/listener/servingCertificate.ts';
import type { NodeMetrics } from '../../kubelet-api/metrics/agent/nodeMetrics.ts';
import type { CgroupLocation } from '../../kubernetes/resources/cgroup.ts';
import type { ServedView } from '../../show/explain/explainServing.ts';
import type { Summary } from '../../stats/node/summary.ts';
import { ApiUse } from '../cluster/apiUse.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import type { ServingConfig } from '../config/serving.ts';
import { type NodeStats, nodeStats } from '../host/nodeStats.ts';
import { keptTrying } from '../start/keptTrying.ts';
import { servePodResources } from './podResources.ts';
import { servedRoutes } from './servedRoutes.ts';

export interface ServingParts {
  readonly config: NodeConfig;
  readonly agent: Pick<NodeAgent, 'knownPods' | 'pods' | 'health' | 'subscribe'>;
  readonly cri: Cri;
  /** How the API server is asked who may, and who tells of another certificate; absent: there is none. */
  readonly cluster?: { readonly reviewClient: KubeClient; followServing(listener: () => void): void } | undefined;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly files?: FileSystem;
  /** Changes how much is logged, by a kubelet's verbosity; absent: nobody can. */
  readonly setVerbosity?: (verbosity: number) => void;
  /** Where the cgroups of pods are; absent: they have none. */
  readonly place?: CgroupLocation | undefined;
  /** What is counted of the node; absent: nothing. */
  readonly metrics?: NodeMetrics | undefined;
}

export interface NodeServing {
  /** Where it is served; 0: nowhere, as yet. */
  port(): number;
  /** What an explanation of the node says of it; undefined where nothing but its health is served. */
  view(): ServedView | undefined;
  /** Measures the CPU and memory of the node and its pods. Undefined if nothing but its health is served. */
  usage(signal: AbortSignal): Promise<Summary | undefined>;
  close(): Promise<void>;
}

/**
 * Serves it. As a kubelet, a node of a cluster does not begin where it cannot: this rejects. Without a cluster nobody counts
 * on it, and it goes on trying.
 */
export async function serveApi(parts: ServingParts): Promise<NodeServing> {
  const { config, clock } = parts;
  const end = new AbortController();
  const ends = [
    alive(parts),
    servePodResources({ ...parts, pods: parts.agent.pods, onRequest: parts.metrics?.podResources }),
  ];
  const use = config.serving && new ApiUse(clock, config.serving);
  const close = async () => {
    end.abort();
    await Promise.all(ends.map((each) => each?.close()));
  };
  let provider: NodeStats['provider'] | undefined;
  try {
    const { serving } = config;
    if (serving !== undefined && use !== undefined) {
      const stats = await nodeStats({ ...parts, signal: end.signal });
      provider = stats.provider;
      parts.metrics?.showLogs(() => stats.logs.latest());
      const wanted = { ...parts, serving, use, stats, signal: end.signal };
      ends.push(await begun(wanted));
      if (serving.readOnlyPort) ends.push(await readOnly(wanted, serving.readOnlyPort));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    port: () => use?.port ?? 0,
    view: () => use?.view(),
    usage: async (signal) => provider?.usage(signal),
    close,
  };
}

interface Wanted extends ServingParts {
  readonly serving: ServingConfig;
  readonly use: ApiUse;
  readonly stats: NodeStats;
  /** Aborts when it ends. */
  readonly signal: AbortSignal;
}

async function begun(wanted: Wanted): Promise<{ close(): Promise<void> }> {
  const { cluster, clock, logger, use } = wanted;
  const onMade = ({ port }: Listener) => {
    use.noteServed(port);
    logger.info({ port }, `the node's API is served on port ${port}`);
  };
  if (cluster === undefined) {
    const onProblem = (why: string) => {
      use.noteNotServed(why);
      logger.warn(`the node's API is not served, trying again: ${why}`);
    };
    return keptTrying({ make: () => serveNodeApi(wanted), clock, onMade, onProblem });
  }
  const made = await serveNodeApi(wanted);
  onMade(made);
  return made;
}

const failing =
  ({ logger }: ServingParts) =>
  (error: unknown) =>
    logger.warn({ err: error }, `an answer of the node's API has failed: ${messageOf(error)}`);

/** That it answers at all is what is asked there (`cmd/kubelet/app/server.go`). */
function alive(parts: ServingParts): { close(): Promise<void> } | undefined {
  const { config, clock, logger, metrics } = parts;
  const { healthz: address } = config;
  if (address === undefined) return undefined;
  const routes = healthRoutes([PING], metrics?.check);
  return keptTrying({
    make: () => listenPlain({ address, routes, clock, onError: failing(parts) }),
    clock,
    onMade: () => {},
    onProblem: (why) => logger.warn(`no healthz, trying again: ${why}`),
  });
}

async function readOnly(wanted: Wanted, port: number) {
  const routes = await watchedRoutes(wanted, () => []);
  const { clock, serving, metrics } = wanted;
  const address = { host: serving.host, port };
  const onRequest = metrics?.servedRequest('readonly');
  return listenPlain({ address, routes, clock, onError: failing(wanted), onRequest });
}

async function watchedRoutes({ use, ...parts }: Wanted, trees: () => readonly string[]): Promise<readonly Route[]> {
  const routes = await servedRoutes({ ...parts, sessions: use.sessions }, trees);
  return routes.map((route) => use.scrapes.countRequests(route));
}

async function serveNodeApi(parts: Wanted): Promise<Listener> {
  const { config, serving, cluster, clock, logger, files = hostFiles } = parts;
  const { host, port, clientCaFile, isIssued, certificateDirectory: directory } = serving;
  const names = [config.nodeName, ...(cluster ? [] : ['localhost', '127.0.0.1', '::1'])];
  const own = isIssued ? issuedPair(directory) : serving.pair;
  const pair = own ?? (await selfSignedPair({ directory, names, files, now: clock.now() }));
  const ownTokens = cluster ? undefined : await ownToken(parts);
  const access = accessOf(parts, ownTokens);
  let trees: readonly string[] = [];
  const routes: readonly Route[] = await watchedRoutes(parts, () => trees);
  trees = routes.map(({ tree }) => tree).toSorted();
  const listener = await listen({
    address: { host, port },
    routes,
    pair,
    isAwaited: isIssued,
    files,
    clock,
    access,
    switches: serving.switches,
    tls: serving.tls,
    ...(clientCaFile === undefined ? {} : { clientCaFile }),
    onError: failing(parts),
    onRequest: parts.metrics?.servedRequest('readwrite'),
    onProblem: (why) => logger.warn(`the certificate of the node's API: ${why}; the one before stays in use`),
  });
  cluster?.followServing(() => void listener.look());
  return listener;
}

const accessOf =
  ({ config, serving, use, signal, cluster, clock, logger, metrics }: Wanted, ownTokens?: TokenOwner) =>
  (clientAuthorities: Parameters<typeof createAccess>[0]['clientAuthorities']): Access => {
    const { authentication, authorization } = serving;
    const told = oncePerReason((source, why) => logger.warn(`${source} of the node's API: ${why}`));
    const access = createAccess({
      nodeName: config.nodeName,
      clock,
      signal,
      authentication,
      authorization,
      ...(cluster ? { client: cluster.reviewClient } : {}),
      ...(clientAuthorities ? { clientAuthorities } : {}),
      ...(ownTokens ? { ownTokens } : {}),
      observer: metrics?.access,
      onError: (source, error) => told(source, messageOf(error)),
    });
    return use.askedBy(access);
  };

/** An API server that is away is away for each request: that is said once, until something else is wrong. */
function oncePerReason(tell: (source: string, why: string) => void) {
  const last = new Map<string, string>();
  return (source: string, why: string) => {
    if (last.get(source) === why) return;
    last.set(source, why);
    tell(source, why);
  };
}

const TOKEN_BYTES = 32;
/** A token that a client can send in a header and that is too long to be guessed. */
const TOKEN = /^[\x21-\x7e]{32,}$/;
const OWNER: Caller = { name: 'statelet:owner', groups: ['system:masters'], extra: new Map() };

/**
 * Reads the node's own token, or creates it. Its bearer may do everything, because a node without an API server knows no other
 * user. A damaged token is replaced, because the rest of a truncated one could be guessed.
 */
async function ownToken({ config, files = hostFiles, logger }: Wanted): Promise<TokenOwner> {
  const file = join(config.rootDirectory, 'statelet', 'server-token');
  const stored = (await readTextOrUndefined(files, file))?.trim();
  if (stored !== undefined && TOKEN.test(stored)) return ownerOf(stored);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await writePrivate(files, file, `${token}\n`);
  if (stored !== undefined)
    logger.warn(
      { file },
      `the token of the node's API in ${file} was damaged (expected at least 32 characters without spaces): a new one has replaced it, which clients have to read again`,
    );
  return ownerOf(token);
}

function ownerOf(token: string): TokenOwner {
  const isOwn = tokenPredicate(token);
  return async (offered) => (isOwn(offered) ? OWNER : undefined);
}
