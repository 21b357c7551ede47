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
import { kubeEndpoint } from './kubeEndpoint.ts';
import { packageVersion } from './places.ts';

export interface JoinedCluster extends ClusterParts {
  /** The same server, at a rate of its own. */
  readonly eventClient: KubeClient;
  /** That of the node's own Node, once it is registered. */
  readonly nodeUid: Promise<string>;
  close(): void;
}

/**
 * Reads the kubeconfig; throws a `ConfigError` where that is wrong. Nothing is asked of the server yet. `keptDirectory` is
 * where the objects of pods outlive the agent.
 */
export async function joinCluster(
  config: ClusterConfig,
  host: HostIdentity,
  keptDirectory?: string,
): Promise<JoinedCluster> {
  const { rate, eventRate, leaseSeconds, registersNode, providerId } = config;
  const { statusCheckMs, statusReportMs, statusImages } = config;
  const kubeconfig = await readKubeconfig(config.kubeconfig);
  const endpoint = kubeEndpoint(kubeconfig, systemClock.monotonic);
  const userAgent = `statelet/v${packageVersion()} (linux/${host.architecture})`;
  const { promise: nodeUid, resolve: onNodeUid } = Promise.withResolvers<string>();
  const [transport, leaseTransport] = [
    new Http2Transport(endpoint, systemClock),
    new Http2Transport(endpoint, systemClock),
  ];
  return {
    client: new KubeClient({ transport, clock: systemClock, userAgent, rate }),
    eventClient: new KubeClient({ transport, clock: systemClock, userAgent, rate: eventRate }),
    leaseClient: new KubeClient({ transport: leaseTransport, clock: systemClock, userAgent }),
    ...{ pods: new PodCache(), onNodeUid, nodeUid },
    access: clusterAccess(config.kubeconfig, kubeconfig),
    objects: { ...config.objects, ...(keptDirectory === undefined ? {} : { keptDirectory }) },
    ...{ host, leaseSeconds, providerId, statusCheckMs, statusReportMs, statusImages, registers: registersNode },
    close: () => {
      for (const each of [transport, leaseTransport]) each.close();
    },
  };
}
