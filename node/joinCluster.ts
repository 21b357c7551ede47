/** The connections of a node to the API server of its cluster. */
import { systemClock } from '../actors/clock.ts';
import { PodCache } from '../actors/cluster/podCache.ts';
import type { ClusterParts } from '../actors/nodeParts.ts';
import { KubeClient } from '../kube/client.ts';
import { Http2Transport } from '../kube/http2/http2Transport.ts';
import type { HostIdentity } from '../pod/node/nodeObject.ts';
import { clusterAccess } from './clusterAccess.ts';
import type { ClusterConfig } from './config/cluster.ts';
import { readKubeconfig } from './config/kubeconfig.ts';
import { KubeconfigCredentials } from './credentials/kubeconfigCredentials.ts';
import { kubeEndpoint } from './kubeEndpoint.ts';
import { packageVersion } from './places.ts';

export interface JoinedCluster extends ClusterParts {
  /** The same server, at a rate of its own. */
  readonly eventClient: KubeClient;
  /** Tells the UID of the node's own Node once there is one, and that of each other one in its place. */
  followNodeUid(listener: (uid: string) => void): void;
  close(): void;
}

interface JoinOptions {
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
  { onProblem = () => {}, keptDirectory }: JoinOptions = {},
): Promise<JoinedCluster> {
  const { rate, eventRate, leaseSeconds, registersNode, providerId } = config;
  const { statusCheckMs, statusReportMs, statusImages } = config;
  const kubeconfig = await readKubeconfig(config.kubeconfig);
  const credentials = new KubeconfigCredentials(kubeconfig, { clock: systemClock, onProblem });
  await credentials.load();
  const endpoint = kubeEndpoint(kubeconfig, credentials);
  const userAgent = `statelet/v${packageVersion()} (linux/${host.architecture})`;
  const [transport, leaseTransport] = [
    new Http2Transport(endpoint, systemClock),
    new Http2Transport(endpoint, systemClock),
  ];
  return {
    client: new KubeClient({ transport, clock: systemClock, userAgent, rate }),
    eventClient: new KubeClient({ transport, clock: systemClock, userAgent, rate: eventRate }),
    leaseClient: new KubeClient({ transport: leaseTransport, clock: systemClock, userAgent }),
    ...{ pods: new PodCache(), ...nodeUids() },
    access: clusterAccess(config.kubeconfig, kubeconfig),
    objects: { ...config.objects, ...(keptDirectory === undefined ? {} : { keptDirectory }) },
    ...{ host, leaseSeconds, providerId, statusCheckMs, statusReportMs, statusImages, registers: registersNode },
    hasTrustBundles: config.hasTrustBundles,
    close: () => {
      for (const each of [transport, leaseTransport]) each.close();
    },
  };
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
