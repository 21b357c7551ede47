import { basename } from 'node:path';
import { printableLine } from '../../base/text/printable.ts';
import type { ClusterAccess } from '../../machines/node/cluster/cluster.ts';
import type { Kubeconfig } from '../config/files/kubeconfig.ts';

/**
 * Describes how a node connects and authenticates to its API server. Contains names, paths and the server's address,
 * but no secrets.
 */
export const clusterAccess = (
  kubeconfig: string,
  { cluster, user, names }: Pick<Kubeconfig, 'cluster' | 'user' | 'names'>,
): ClusterAccess => ({
  server: cluster.server,
  kubeconfig,
  ...names,
  credentialKind: describeCredentials(user),
});

function describeCredentials(user: Kubeconfig['user']): string {
  const has = (...values: readonly (string | undefined)[]) =>
    values.some((value) => value !== undefined && value !== '');
  const credentials = [
    ...(has(user['client-certificate-data'], user['client-certificate']) ? ['client certificate'] : []),
    ...(has(user.username) ? ['password'] : []),
    ...(has(user.tokenFile) ? ['token of a file'] : has(user.token) ? ['token'] : []),
  ];
  const execProgram = user.exec ? [`program ${printableLine(basename(user.exec.command))}`] : [];
  const usedCredentials = credentials.length > 0 ? credentials : execProgram;
  const impersonationText = has(user.as) ? `, for ${printableLine(user.as ?? '')}` : '';
  return `${usedCredentials.join(' and ') || 'no credentials'}${impersonationText}`;
}
