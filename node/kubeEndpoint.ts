/** The API server of a kubeconfig, with credentials that are read again whenever a connection is opened. */
import { readFile } from 'node:fs/promises';
import type { KubeCredentials, KubeEndpoint } from '../kube/endpoint.ts';
import type { Kubeconfig } from './config/kubeconfig.ts';

/** As client-go: a token file is read again after so long. */
const TOKEN_MS = 60_000;

export function kubeEndpoint({ cluster, user }: Pick<Kubeconfig, 'cluster' | 'user'>, now: () => number): KubeEndpoint {
  const { origin, pathname } = new URL(cluster.server);
  const serverName = cluster['tls-server-name'];
  return {
    origin,
    basePath: pathname.replace(/\/+$/, ''),
    ...(serverName ? { serverName } : {}),
    isInsecure: cluster['insecure-skip-tls-verify'] ?? false,
    ...tokenOf(user, now),
    pems: async () => {
      const [ca, cert, key] = await Promise.all([
        textOf(cluster['certificate-authority-data'], cluster['certificate-authority']),
        textOf(user['client-certificate-data'], user['client-certificate']),
        textOf(user['client-key-data'], user['client-key']),
      ]);
      return withoutAbsent({ ca, cert, key });
    },
  };
}

/** What stands in the file itself wins over a file that it names. */
const textOf = async (data: string | undefined, file: string | undefined): Promise<string | undefined> =>
  data || (file ? await readFile(file, 'utf8') : undefined);

function withoutAbsent({ ca, cert, key }: { [Name in keyof KubeCredentials]: string | undefined }): KubeCredentials {
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
}

/** A token in a file is another now and then. Its clock is one that nobody sets. */
function tokenOf({ token, tokenFile }: Kubeconfig['user'], now: () => number): Pick<KubeEndpoint, 'token' | 'refused'> {
  if (!tokenFile) return { token: async () => token || undefined, refused: () => {} };
  let known: { readonly token: string; readonly readAt: number } | undefined;
  return {
    token: async () => {
      if (known !== undefined && now() - known.readAt < TOKEN_MS) return known.token;
      try {
        known = { token: await tokenIn(tokenFile), readAt: now() };
      } catch (error) {
        // The one that is known may be good for longer than its file cannot be read.
        if (known === undefined) throw error;
      }
      return known.token;
    },
    refused: () => {
      known = undefined;
    },
  };
}

async function tokenIn(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim();
  if (token === '') throw new Error(`the token file ${file} is empty`);
  return token;
}
