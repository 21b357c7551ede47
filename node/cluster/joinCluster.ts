/** The connections of a node to the API server of its cluster. */

import { PodCache } from '../../actors/cluster/pods/podCache.ts';
import type { ClusterParts } from '../../actors/node/nodeParts.ts';
import { systemClock } from '../../base/clock.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import type { KubeEndpoint } from '../../kubeclient/endpoint.ts';
import { Http2Transport } from '../../kubeclient/http2/http2Transport.ts';
import type { RequestObserver } from '../../kubeclient/requestObserver.ts';
import type { CredentialObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import type { HostIdentity } from '../../kubernetes/node/nodeObject.ts';
import type { ClusterConfig } from '../config/cluster.ts';
import { type Kubeconfig, readKubeconfig } from '../config/kubeconfig.ts';
import { bootstrapped } from '../credentials/bootstrap.ts';
import { type CredentialParts, KubeconfigCredentials } from '../credentials/kubeconfigCredentials.ts';
import { certificatesKept, credentialsOf, currentOf } from '../credentials/nodeCertificates.ts';
import { packageVersion } from '../host/places.ts';
import { clusterAccess } from './clusterAccess.ts';
import { kubeEndpoint } from './kubeEndpoint.ts';

export interface JoinedCluster extends ClusterParts {
  /** The same server, at a rate of its own. */
  readonly eventClient: KubeClient;
  /** Tells the UID of the node's own Node once there is one, and that of each other one in its place. */
  followNodeUid(listener: (uid: string) => void): void;
  /** The same server, at no rate: of those who ask who may use the node. */
  readonly reviewClient: KubeClient;
  /** Tells of each serving certificate that the node gets. */
  followServing(listener: () => void): void;
  close(): void;
}

/** Of requests for certificates, as a kubelet makes them. */
const CERTIFICATE_RATE = { qps: 5, burst: 10 };

interface ClusterObserver {
  /** Creates the observer of the requests to a host. */
  readonly requestsTo: (host: string) => RequestObserver;
  readonly credentials: CredentialObserver;
}

export interface JoinOptions {
  readonly observer?: ClusterObserver | undefined;
  readonly onProblem?: (problem: string) => void;
  /** Where the objects of pods outlive the agent; absent: nowhere. */
  readonly keptDirectory?: string;
}

/**
 * Reads the kubeconfig and the files that it names; throws a `ConfigError` where anything is wrong with them. What goes wrong
 * with them later is told once. Nothing is asked of the server yet.
 */
export async function joinCluster(
  config: ClusterConfig,
  host: HostIdentity,
  { onProblem = () => {}, keptDirectory, observer }: JoinOptions = {},
): Promise<JoinedCluster> {
  const { rate, eventRate } = config;
  const serving = servingNews();
  const { over, onRenewed, end } = connections();
  const access = await accessOf(config, {
    clock: systemClock,
    onProblem,
    onRenewed,
    signal: end.signal,
    observer: observer?.credentials,
  });
  const { kubeconfig, endpoint, certificates, beginning } = access;
  const userAgent = `statelet/v${packageVersion()} (linux/${host.architecture})`;
  const observerOf = ({ origin }: KubeEndpoint) => observer?.requestsTo(new URL(origin).host);
  const common = { clock: systemClock, userAgent, observer: observerOf(endpoint) };
  const [transport, leaseTransport, first] = [over(endpoint), over(endpoint), beginning && over(beginning)];
  const bootstrap = beginning && { ...common, observer: observerOf(beginning), rate: CERTIFICATE_RATE };
  return {
    client: new KubeClient({ transport, ...common, rate }),
    eventClient: new KubeClient({ transport, ...common, rate: eventRate }),
    reviewClient: new KubeClient({ transport, ...common }),
    followServing: serving.follow,
    leaseClient: new KubeClient({ transport: leaseTransport, ...common }),
    pods: new PodCache(),
    ...nodeUids(),
    access: clusterAccess(config.kubeconfig, kubeconfig),
    ...(certificates.length > 0 && {
      certificates: {
        certificates,
        directory: config.certificates.directory,
        bootstrapClient: first && bootstrap && new KubeClient({ transport: first, ...bootstrap }),
        onRenewed: (name) => (name === 'client' ? onRenewed() : serving.tell()),
      },
    }),
    objects: { ...config.objects, ...(keptDirectory === undefined ? {} : { keptDirectory }) },
    host,
    ...saidOfNode(config),
    close: () => end.abort(new Error('the node leaves its cluster')),
  };
}

/** What requests go over, until the end of all. */
function connections() {
  const transports: Http2Transport[] = [];
  const end = new AbortController();
  const over = (to: KubeEndpoint) => {
    const made = new Http2Transport(to, systemClock);
    transports.push(made);
    end.signal.addEventListener('abort', () => made.close(), { once: true });
    return made;
  };
  return { over, onRenewed: () => void transports.map((each) => each.reconnect()), end };
}

/** Whoever comes later hears of the last one as well. */
function nodeUids(): Required<Pick<JoinedCluster, 'onNodeUid' | 'followNodeUid'>> {
  const listeners: ((uid: string) => void)[] = [];
  let known: string | undefined;
  return {
    onNodeUid: (uid) => {
      known = uid;
      for (const tell of listeners) tell(uid);
    },
    followNodeUid: (listener) => {
      listeners.push(listener);
      if (known !== undefined) listener(known);
    },
  };
}

/** What the configuration says of the Node, under the names of the agent. */
function saidOfNode(config: ClusterConfig) {
  const { leaseSeconds, registersNode: registers, attachesByController, providerId, cloud, hasTrustBundles } = config;
  const { statusCheckMs, statusReportMs, statusImages } = config;
  return {
    leaseSeconds,
    registers,
    attachesByController,
    providerId,
    cloud,
    hasTrustBundles,
    statusCheckMs,
    statusReportMs,
    statusImages,
  };
}

function servingNews() {
  const listeners: (() => void)[] = [];
  return {
    tell: () => void listeners.map((each) => each()),
    follow: (listener: () => void) => void listeners.push(listener),
  };
}

interface Access {
  readonly kubeconfig: Kubeconfig;
  readonly endpoint: KubeEndpoint;
  readonly certificates: ReturnType<typeof certificatesKept>;
  /** Where a node that has no certificate asks for one; absent: as the node itself. */
  readonly beginning: KubeEndpoint | undefined;
}

async function accessOf(config: ClusterConfig, parts: CredentialParts): Promise<Access> {
  const { kubeconfig: path, bootstrapKubeconfig, certificates: kept } = config;
  const current = currentOf(kept);
  const paths = bootstrapKubeconfig && { kubeconfig: path, bootstrapKubeconfig, certificate: current };
  const written = paths ? await bootstrapped(paths, parts) : undefined;
  const kubeconfig = await readKubeconfig(path);
  const certificates = certificatesKept(config, kubeconfig);
  const keepsClient = certificates.some(({ name }) => name === 'client');
  const credentials = await credentialsOf(kubeconfig, { keepsClient, current }, parts);
  const beginning = keepsClient ? await beginningOf(written, bootstrapKubeconfig, parts) : undefined;
  return { kubeconfig, endpoint: kubeEndpoint(kubeconfig, credentials), certificates, beginning };
}

/** It may be needed again once the certificate has expired; that it is gone by then is no reason not to start. */
async function beginningOf(
  written: Kubeconfig | undefined,
  path: string | undefined,
  parts: CredentialParts,
): Promise<KubeEndpoint | undefined> {
  if (path === undefined) return undefined;
  const kubeconfig = written ?? (await readKubeconfig(path, '--bootstrap-kubeconfig').catch(() => undefined));
  if (kubeconfig === undefined) return undefined;
  const credentials = new KubeconfigCredentials(kubeconfig, parts);
  if (written !== undefined) await credentials.load();
  return kubeEndpoint(kubeconfig, credentials);
}
