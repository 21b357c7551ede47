/** What people are shown of how a node asks its API server. */
import { basename } from 'node:path';
import { printableLine } from '../../base/printable.ts';
import type { ClusterAccess } from '../../machines/node/cluster.ts';
import type { Kubeconfig } from '../config/kubeconfig.ts';

/** Nothing in it is secret: names, paths and the address alone. */
export const clusterAccess = (
  kubeconfig: string,
  { cluster, user, names }: Pick<Kubeconfig, 'cluster' | 'user' | 'names'>,
): ClusterAccess => ({
  server: cluster.server,
  kubeconfig,
  ...names,
  means: meansOf(user),
});

function meansOf(user: Kubeconfig['user']): string {
  const has = (...given: readonly (string | undefined)[]) => given.some((each) => each !== undefined && each !== '');
  const means = [
    ...(has(user['client-certificate-data'], user['client-certificate']) ? ['client certificate'] : []),
    ...(has(user.username) ? ['password'] : []),
    ...(has(user.tokenFile) ? ['token of a file'] : has(user.token) ? ['token'] : []),
  ];
  const program = user.exec ? [`program ${printableLine(basename(user.exec.command))}`] : [];
  const known = means.length > 0 ? means : program;
  const asked = has(user.as) ? `, for ${printableLine(user.as ?? '')}` : '';
  return `${known.join(' and ') || 'no credentials'}${asked}`;
}
