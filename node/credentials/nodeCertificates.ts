/** The certificates that a node keeps itself, and what it asks by until it has them. */
import { join } from 'node:path';
import type { ClusterParts } from '../../actors/node/nodeParts.ts';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';
import type { ClusterConfig } from '../config/cluster.ts';
import { isThere, type Kubeconfig } from '../config/kubeconfig.ts';
import { KeptCredentials } from './keptCredentials.ts';
import { type CredentialParts, KubeconfigCredentials } from './kubeconfigCredentials.ts';

/** The link to the client certificate in use, as a kubelet has it. */
export const currentOf = ({ directory }: { readonly directory: string }): string =>
  join(directory, 'kubelet-client-current.pem');

/** Which certificates the node keeps: the client's to renew it, or as it begins without one. */
export function certificatesKept(
  { certificates, bootstrapKubeconfig }: Pick<ClusterConfig, 'certificates' | 'bootstrapKubeconfig'>,
  { user }: Pick<Kubeconfig, 'user'>,
): NonNullable<ClusterParts['certificates']>['certificates'] {
  const { rotates, serves } = certificates;
  const begins = bootstrapKubeconfig !== undefined && user['client-certificate'] === currentOf(certificates);
  return [
    ...(rotates || begins ? [{ name: 'client', rotates } as const] : []),
    ...(serves ? [{ name: 'serving', rotates: true } as const] : []),
  ];
}

/** By the certificate that is kept, where there is one, and else by what the kubeconfig has. */
export async function credentialsOf(
  kubeconfig: Kubeconfig,
  { keepsClient, current }: { readonly keepsClient: boolean; readonly current: string },
  parts: CredentialParts,
): Promise<CredentialSource> {
  const { user } = kubeconfig;
  const isKeptAlone = user['client-certificate'] === current;
  const bare = { ...user, ...withoutCertificate };
  const own = new KubeconfigCredentials(keepsClient && isKeptAlone ? { ...kubeconfig, user: bare } : kubeconfig, parts);
  await own.load();
  if (!keepsClient) return own;
  const files = { ...bare, 'client-certificate': current, 'client-key': current };
  return new KeptCredentials({
    own,
    kept: new KubeconfigCredentials({ ...kubeconfig, user: files }, parts),
    hasOwnCertificate: (await own.certificateEnd()) !== undefined,
    isThere: () => isThere(current),
  });
}

const withoutCertificate = {
  'client-certificate': undefined,
  'client-certificate-data': undefined,
  'client-key': undefined,
  'client-key-data': undefined,
};
