import type { CredentialSource, KubeEndpoint } from '../../kubeclient/endpoint.ts';
import type { Kubeconfig } from '../config/files/kubeconfig.ts';
import { environmentProxy } from '../credentials/environmentProxy.ts';

/** Returns the endpoint of the API server that the given kubeconfig names. */
export function kubeEndpoint(
  { cluster, user }: Pick<Kubeconfig, 'cluster' | 'user'>,
  credentials: CredentialSource,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): KubeEndpoint {
  const { origin, pathname } = new URL(cluster.server);
  const serverName = cluster['tls-server-name'];
  const proxyUrl = cluster['proxy-url'] || environmentProxy(cluster.server, environment);
  const headers = userHeaders(user);
  return {
    origin,
    basePath: pathname.replace(/\/+$/, ''),
    ...(serverName ? { serverName } : {}),
    isInsecure: cluster['insecure-skip-tls-verify'] ?? false,
    ...(proxyUrl ? { proxy: new URL(proxyUrl) } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    credentials,
  };
}

/** Returns the headers for impersonation and basic authentication (`transport/round_trippers.go` of client-go). */
function userHeaders({ username, password = '', ...user }: Kubeconfig['user']): NonNullable<KubeEndpoint['headers']> {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const basicCredentials = Buffer.from(`${username}:${password}`).toString('base64');
  return {
    ...(username ? { authorization: `Basic ${basicCredentials}` } : {}),
    ...(as ? { 'impersonate-user': as } : {}),
    ...(uid ? { 'impersonate-uid': uid } : {}),
    ...(groups?.length ? { 'impersonate-group': groups } : {}),
    ...Object.fromEntries(
      Object.entries(extra ?? {}).map(([name, values]) => [`impersonate-extra-${escapeHeaderName(name)}`, values]),
    ),
  };
}

/** Escapes the characters that a header name cannot contain. */
const escapeHeaderName = (name: string): string =>
  encodeURIComponent(name.toLowerCase()).replaceAll(/[()]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
