/**
 * Implements TLS bootstrapping of a node. The node uses a bootstrap kubeconfig to request the client certificate for
 * its own kubeconfig.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Document, visit } from 'yaml';
import { messageOf } from '../../base/failure.ts';
import { needsQuotes } from '../../kubernetes/yaml/resolveScalar.ts';
import { ConfigError } from '../config/configError.ts';
import { type Kubeconfig, pathExists, readKubeconfig } from '../config/files/kubeconfig.ts';
import { createDirectory } from '../host/rootDirectory.ts';
import { type CredentialDependencies, KubeconfigCredentials } from './kubeconfigCredentials.ts';

interface BootstrapPaths {
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  /** Path of the node's client certificate. */
  readonly certificate: string;
}

/**
 * If the node's kubeconfig is missing or has no valid certificate, writes a new kubeconfig and returns the bootstrap
 * kubeconfig (`LoadClientConfig` of the kubelet). Otherwise does not read the bootstrap kubeconfig at all.
 */
export async function writeBootstrappedKubeconfig(
  bootstrapPaths: BootstrapPaths,
  dependencies: CredentialDependencies,
): Promise<Kubeconfig | undefined> {
  const { kubeconfig, bootstrapKubeconfig, certificate } = bootstrapPaths;
  const problem = await kubeconfigProblem(kubeconfig, dependencies);
  if (problem === undefined) return undefined;
  const bootstrapKubeconfigFile = await readKubeconfig(bootstrapKubeconfig, '--bootstrap-kubeconfig');
  if (problem !== 'missing')
    dependencies.onProblem(`${problem}; it is replaced, bootstrapping from ${bootstrapKubeconfig}`);
  await writeKubeconfig(kubeconfig, nodeKubeconfig(bootstrapKubeconfigFile, certificate)).catch((cause) => {
    throw new ConfigError(`--kubeconfig: ${kubeconfig} cannot be written: ${messageOf(cause)}`, { cause });
  });
  return bootstrapKubeconfigFile;
}

/** Returns why a kubeconfig has no valid client certificate, or undefined if it has one. */
async function kubeconfigProblem(path: string, { clock, files }: CredentialDependencies): Promise<string | undefined> {
  if (!(await pathExists(path))) return 'missing';
  try {
    const existingKubeconfig = await readKubeconfig(path);
    const credentials = new KubeconfigCredentials(existingKubeconfig, {
      clock,
      onProblem: () => {},
      ...(files ? { files } : {}),
    });
    await credentials.load();
    const expiresAt = await credentials.certificateExpiry();
    if (expiresAt === undefined) return `--kubeconfig: ${path} has no client certificate`;
    return expiresAt < clock.now() ? `--kubeconfig: the client certificate of ${path} has expired` : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the node's kubeconfig as the kubelet writes it, with the cluster of the bootstrap kubeconfig. */
function nodeKubeconfig({ cluster }: Kubeconfig, certificate: string): object {
  const { 'certificate-authority-data': authority, ...connection } = cluster;
  const authorityField = authority ? { 'certificate-authority-data': Buffer.from(authority).toString('base64') } : {};
  return {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    clusters: [{ name: 'default-cluster', cluster: { ...connection, ...authorityField } }],
    users: [{ name: 'default-auth', user: { 'client-certificate': certificate, 'client-key': certificate } }],
    contexts: [
      {
        name: 'default-context',
        context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' },
      },
    ],
    'current-context': 'default-context',
  };
}

function formatYaml(kubeconfig: object): string {
  const document = new Document(kubeconfig);
  visit(document, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value === 'string' && needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString();
}

/** Writes the kubeconfig atomically. */
async function writeKubeconfig(path: string, kubeconfig: object): Promise<void> {
  await createDirectory(dirname(path));
  const temporaryPath = `${path}.tmp`;
  try {
    await writeFile(temporaryPath, formatYaml(kubeconfig), { mode: 0o600, flush: true });
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}
