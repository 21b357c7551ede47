import { PodCache } from '../../actors/cluster/pods/podCache.ts';
import type { ClusterParts } from '../../actors/node/nodeParts.ts';
import { systemClock } from '../../base/time/clock.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import type { KubeEndpoint } from '../../kubeclient/endpoint.ts';
import { Http2Transport } from '../../kubeclient/http2/http2Transport.ts';
import type { RequestObserver } from '../../kubeclient/requestObserver.ts';
import type { CredentialObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import type { ClusterConfig } from '../config/compile/cluster.ts';
import { type Kubeconfig, readKubeconfig } from '../config/files/kubeconfig.ts';
import { writeBootstrappedKubeconfig } from '../credentials/bootstrap.ts';
import { type CredentialDependencies, KubeconfigCredentials } from '../credentials/kubeconfigCredentials.ts';
import { createNodeCredentials, currentCertificatePath, managedCertificates } from '../credentials/nodeCertificates.ts';
import { packageVersion } from '../host/paths.ts';
import { clusterAccess } from './clusterAccess.ts';
import { kubeEndpoint } from './kubeEndpoint.ts';

export interface JoinedCluster extends ClusterParts {
  /** API client for events, with a rate limit of its own. */
  readonly eventClient: KubeClient;
  /**
   * Calls the listener with the UID of the node's Node object once it is known, and again whenever the object is
   * replaced.
   */
  followNodeUid(listener: (uid: string) => void): void;
  /** API client for access reviews, without a rate limit. */
  readonly reviewClient: KubeClient;
  /** Calls the listener when the node has received a new serving certificate. */
  followServing(listener: () => void): void;
  close(): void;
}

/** Rate limit for certificate signing requests, as in the kubelet. */
const CERTIFICATE_RATE = { qps: 5, burst: 10 };

interface ClusterObserver {
  readonly createRequestObserver: (host: string) => RequestObserver;
  readonly credentials: CredentialObserver;
  readonly onTransportCreated: () => void;
}

export interface JoinOptions {
  readonly observer?: ClusterObserver | undefined;
  readonly onProblem?: (problem: string) => void;
  /**
   * Directory in which the API objects of pods are stored across restarts of the agent. Undefined if they are not
   * stored.
   */
  readonly cacheDirectory?: string;
}

/**
 * Reads the kubeconfig and the files that it names, without sending any request. Throws a `ConfigError` if any of them
 * is invalid. Reports each later problem with these files once, to `onProblem`.
 */
export async function joinCluster(
  config: ClusterConfig,
  host: HostIdentity,
  { onProblem = () => {}, cacheDirectory, observer }: JoinOptions = {},
): Promise<JoinedCluster> {
  const { rateLimit, eventRate } = config;
  const servingListeners = createListeners();
  const { connect, reconnect, abortController } = createConnections(observer?.onTransportCreated);
  const clusterConnection = await readClusterConnection(config, {
    clock: systemClock,
    onProblem,
    onRenewed: reconnect,
    signal: abortController.signal,
    observer: observer?.credentials,
  });
  const { kubeconfig, endpoint, certificates, bootstrapEndpoint } = clusterConnection;
  const userAgent = `statelet/v${packageVersion()} (linux/${host.architecture})`;
  const createObserver = ({ origin }: KubeEndpoint) => observer?.createRequestObserver(new URL(origin).host);
  const commonOptions = { clock: systemClock, userAgent, observer: createObserver(endpoint) };
  const clusterTransport = connect(endpoint);
  const bootstrapClient =
    bootstrapEndpoint &&
    new KubeClient({
      transport: connect(bootstrapEndpoint),
      ...commonOptions,
      observer: createObserver(bootstrapEndpoint),
      rateLimit: CERTIFICATE_RATE,
    });
  return {
    client: new KubeClient({ transport: clusterTransport, ...commonOptions, rateLimit }),
    eventClient: new KubeClient({ transport: clusterTransport, ...commonOptions, rateLimit: eventRate }),
    reviewClient: new KubeClient({ transport: clusterTransport, ...commonOptions }),
    followServing: servingListeners.add,
    leaseClient: new KubeClient({ transport: connect(endpoint), ...commonOptions }),
    pods: new PodCache(),
    ...createNodeUidListeners(),
    access: clusterAccess(config.kubeconfig, kubeconfig),
    ...(certificates.length > 0 && {
      certificates: {
        certificates,
        directory: config.certificates.directory,
        bootstrapClient,
        onRenewed: (name) => (name === 'client' ? reconnect() : servingListeners.notify()),
      },
    }),
    objects: { ...config.objects, ...(cacheDirectory === undefined ? {} : { cacheDirectory }) },
    host,
    ...nodeSettings(config),
    close: () => abortController.abort(new Error('the node leaves its cluster')),
  };
}

/**
 * Returns a function that opens connections to the API server, and one that reconnects all of them. Aborting
 * `abortController` closes them.
 */
function createConnections(onCreated: () => void = () => {}) {
  const transports: Http2Transport[] = [];
  const abortController = new AbortController();
  const createTransport = (endpoint: KubeEndpoint) => {
    const transport = new Http2Transport(endpoint, systemClock);
    transports.push(transport);
    onCreated();
    abortController.signal.addEventListener('abort', () => transport.close(), { once: true });
    return transport;
  };
  const reconnect = () => {
    for (const transport of transports) transport.reconnect();
  };
  return { connect: createTransport, reconnect, abortController };
}

/**
 * Creates the notifier for the UID of the Node object. A listener that is added late is immediately called with the
 * latest UID.
 */
function createNodeUidListeners(): Required<Pick<JoinedCluster, 'onNodeUid' | 'followNodeUid'>> {
  const listeners: ((uid: string) => void)[] = [];
  let lastNodeUid: string | undefined;
  return {
    onNodeUid: (uid) => {
      lastNodeUid = uid;
      for (const listener of listeners) listener(uid);
    },
    followNodeUid: (listener) => {
      listeners.push(listener);
      if (lastNodeUid !== undefined) listener(lastNodeUid);
    },
  };
}

/** Returns the cluster settings under the names that the agent uses for them. */
function nodeSettings(config: ClusterConfig) {
  const { leaseSeconds, registersNode: createsNode, attachesByController, providerId, cloud, hasTrustBundles } = config;
  const { statusCheckMs, statusReportMs, statusImages } = config;
  return {
    leaseSeconds,
    createsNode,
    attachesByController,
    providerId,
    cloud,
    hasTrustBundles,
    statusCheckMs,
    statusReportMs,
    statusImages,
  };
}

function createListeners() {
  const listeners: (() => void)[] = [];
  return {
    notify: () => {
      for (const listener of listeners) listener();
    },
    add: (listener: () => void) => void listeners.push(listener),
  };
}

interface ClusterConnection {
  readonly kubeconfig: Kubeconfig;
  readonly endpoint: KubeEndpoint;
  readonly certificates: ReturnType<typeof managedCertificates>;
  /** Endpoint for the first certificate signing request. Undefined if the node requests certificates with its own credentials. */
  readonly bootstrapEndpoint: KubeEndpoint | undefined;
}

async function readClusterConnection(
  config: ClusterConfig,
  dependencies: CredentialDependencies,
): Promise<ClusterConnection> {
  const { kubeconfig: path, bootstrapKubeconfig, certificates: certificateConfig } = config;
  const currentCertificate = currentCertificatePath(certificateConfig);
  const credentialPaths = bootstrapKubeconfig && {
    kubeconfig: path,
    bootstrapKubeconfig,
    certificate: currentCertificate,
  };
  const usedBootstrapKubeconfig = credentialPaths
    ? await writeBootstrappedKubeconfig(credentialPaths, dependencies)
    : undefined;
  const kubeconfig = await readKubeconfig(path);
  const certificates = managedCertificates(config, kubeconfig);
  const managesClientCertificate = certificates.some(({ name }) => name === 'client');
  const credentials = await createNodeCredentials(
    kubeconfig,
    { managesClient: managesClientCertificate, current: currentCertificate },
    dependencies,
  );
  const bootstrapEndpoint = managesClientCertificate
    ? await readBootstrapEndpoint(usedBootstrapKubeconfig, bootstrapKubeconfig, dependencies)
    : undefined;
  return { kubeconfig, endpoint: kubeEndpoint(kubeconfig, credentials), certificates, bootstrapEndpoint };
}

/**
 * Returns the endpoint of the bootstrap kubeconfig, which is needed again once the client certificate has expired.
 * Returns undefined if the file is missing, which does not prevent the node from starting.
 */
async function readBootstrapEndpoint(
  writtenKubeconfig: Kubeconfig | undefined,
  path: string | undefined,
  dependencies: CredentialDependencies,
): Promise<KubeEndpoint | undefined> {
  if (path === undefined) return undefined;
  const kubeconfig = writtenKubeconfig ?? (await readKubeconfig(path, '--bootstrap-kubeconfig').catch(() => undefined));
  if (kubeconfig === undefined) return undefined;
  const credentials = new KubeconfigCredentials(kubeconfig, dependencies);
  if (writtenKubeconfig !== undefined) await credentials.load();
  return kubeEndpoint(kubeconfig, credentials);
}
