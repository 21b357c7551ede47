/** The API server of a kubeconfig. */
import type { CredentialSource, KubeEndpoint } from '../kube/endpoint.ts';
import type { Kubeconfig } from './config/kubeconfig.ts';

export function kubeEndpoint({ cluster }: Pick<Kubeconfig, 'cluster'>, credentials: CredentialSource): KubeEndpoint {
  const { origin, pathname } = new URL(cluster.server);
  const serverName = cluster['tls-server-name'];
  return {
    origin,
    basePath: pathname.replace(/\/+$/, ''),
    ...(serverName ? { serverName } : {}),
    isInsecure: cluster['insecure-skip-tls-verify'] ?? false,
    credentials,
  };
}
