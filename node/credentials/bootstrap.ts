/** A node that is new in its cluster: it has a kubeconfig to ask for a certificate by, and gets one of its own. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Document, visit } from 'yaml';
import { messageOf } from '../../base/failure.ts';
import { needsQuotes } from '../../kubernetes/yaml/resolveScalar.ts';
import { ConfigError } from '../config/configError.ts';
import { isThere, type Kubeconfig, readKubeconfig } from '../config/kubeconfig.ts';
import { createDirectory } from '../host/rootDirectory.ts';
import { type CredentialParts, KubeconfigCredentials } from './kubeconfigCredentials.ts';

interface Bootstrap {
  /** That of the node, and that which it begins with. */
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  /** Where its certificate will lie. */
  readonly certificate: string;
}

/**
 * A kubeconfig whose certificate is good wins over the one to begin with, which then is not even read; else it is written
 * (`LoadClientConfig` of a kubelet). Gives what the node begins with.
 */
export async function bootstrapped(paths: Bootstrap, parts: CredentialParts): Promise<Kubeconfig | undefined> {
  const { kubeconfig, bootstrapKubeconfig, certificate } = paths;
  const wrong = await whyNotGood(kubeconfig, parts);
  if (wrong === undefined) return undefined;
  const beginning = await readKubeconfig(bootstrapKubeconfig, '--bootstrap-kubeconfig');
  if (wrong !== 'missing') parts.onProblem(`${wrong}; it is written anew, of ${bootstrapKubeconfig}`);
  await write(kubeconfig, nodeKubeconfig(beginning, certificate)).catch((cause) => {
    throw new ConfigError(`--kubeconfig: ${kubeconfig} cannot be written: ${messageOf(cause)}`, { cause });
  });
  return beginning;
}

async function whyNotGood(path: string, { clock, files }: CredentialParts): Promise<string | undefined> {
  if (!(await isThere(path))) return 'missing';
  try {
    const found = await readKubeconfig(path);
    const credentials = new KubeconfigCredentials(found, { clock, onProblem: () => {}, ...(files ? { files } : {}) });
    await credentials.load();
    const end = await credentials.certificateEnd();
    if (end === undefined) return `--kubeconfig: ${path} has no client certificate`;
    return end < clock.now() ? `--kubeconfig: the client certificate of ${path} has expired` : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** As a kubelet writes it; how the server is reached is as it was. */
function nodeKubeconfig({ cluster }: Kubeconfig, certificate: string): object {
  const { 'certificate-authority-data': authority, ...reached } = cluster;
  const data = authority ? { 'certificate-authority-data': Buffer.from(authority).toString('base64') } : {};
  return {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    clusters: [{ name: 'default-cluster', cluster: { ...reached, ...data } }],
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

function yamlOf(kubeconfig: object): string {
  const document = new Document(kubeconfig);
  visit(document, {
    Scalar: (_key, scalar) => {
      if (typeof scalar.value === 'string' && needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString();
}

/** All of it, or nothing. */
async function write(path: string, kubeconfig: object): Promise<void> {
  await createDirectory(dirname(path));
  const half = `${path}.tmp`;
  try {
    await writeFile(half, yamlOf(kubeconfig), { mode: 0o600, flush: true });
    await rename(half, path);
  } catch (error) {
    await rm(half, { force: true });
    throw error;
  }
}
