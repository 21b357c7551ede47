/** Sets up the certificates that the node requests and renews itself. */
import { join } from 'node:path';
import type { ClusterParts } from '../../actors/node/nodeParts.ts';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';
import type { ClusterConfig } from '../config/compile/cluster.ts';
import { type Kubeconfig, pathExists } from '../config/files/kubeconfig.ts';
import { type CredentialDependencies, KubeconfigCredentials } from './kubeconfigCredentials.ts';
import { ManagedCredentials } from './managedCredentials.ts';

/** Returns the path of the symbolic link to the current client certificate. The kubelet uses the same path. */
export const currentCertificatePath = ({ directory }: { readonly directory: string }): string =>
  join(directory, 'kubelet-client-current.pem');

/**
 * Lists the certificates that the node manages. They include its client certificate if the node rotates that
 * certificate or uses TLS bootstrapping.
 */
export function managedCertificates(
  { certificates, bootstrapKubeconfig }: Pick<ClusterConfig, 'certificates' | 'bootstrapKubeconfig'>,
  { user }: Pick<Kubeconfig, 'user'>,
): NonNullable<ClusterParts['certificates']>['certificates'] {
  const { rotatesClientCertificate, requestsServingCertificate } = certificates;
  const isBootstrapped =
    bootstrapKubeconfig !== undefined && user['client-certificate'] === currentCertificatePath(certificates);
  return [
    ...(rotatesClientCertificate || isBootstrapped
      ? [{ name: 'client', rotates: rotatesClientCertificate } as const]
      : []),
    ...(requestsServingCertificate ? [{ name: 'serving', rotates: true } as const] : []),
  ];
}

/**
 * Creates the credentials of the node. A managed client certificate takes precedence over the kubeconfig's credentials.
 */
export async function createNodeCredentials(
  kubeconfig: Kubeconfig,
  { managesClient, current }: { readonly managesClient: boolean; readonly current: string },
  dependencies: CredentialDependencies,
): Promise<CredentialSource> {
  const { user } = kubeconfig;
  const usesManagedCertificate = user['client-certificate'] === current;
  const userWithoutCertificate = { ...user, ...withoutCertificate };
  const initialSource = new KubeconfigCredentials(
    managesClient && usesManagedCertificate ? { ...kubeconfig, user: userWithoutCertificate } : kubeconfig,
    dependencies,
  );
  await initialSource.load();
  if (!managesClient) return initialSource;
  const files = { ...userWithoutCertificate, 'client-certificate': current, 'client-key': current };
  return new ManagedCredentials({
    initialSource,
    managedSource: new KubeconfigCredentials({ ...kubeconfig, user: files }, dependencies),
    hasInitialCertificate: (await initialSource.certificateExpiry()) !== undefined,
    managedCertificateExists: () => pathExists(current),
  });
}

const withoutCertificate = {
  'client-certificate': undefined,
  'client-certificate-data': undefined,
  'client-key': undefined,
  'client-key-data': undefined,
};
