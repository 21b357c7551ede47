/** What people are shown of how a node asks its API server. */
import type { ClusterAccess } from '../machines/node/cluster.ts';
import type { Kubeconfig } from './config/kubeconfig.ts';

/** Nothing in it is secret: names, paths and the address alone. */
export const clusterAccess = (
  kubeconfig: string,
  { cluster, user, names }: Pick<Kubeconfig, 'cluster' | 'user' | 'names'>,
): ClusterAccess => ({
  ...{ server: cluster.server, kubeconfig, ...names, means: meansOf(user) },
});

function meansOf(user: Kubeconfig['user']): string {
  const has = (...given: readonly (string | undefined)[]) => given.some((each) => each !== undefined && each !== '');
  const means = [
    ...(has(user['client-certificate-data'], user['client-certificate']) ? ['client certificate'] : []),
    ...(has(user.tokenFile) ? ['token of a file'] : has(user.token) ? ['token'] : []),
  ];
  return means.join(' and ') || 'no credentials';
}
