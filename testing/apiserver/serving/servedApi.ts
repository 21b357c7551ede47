/** Serves the API on loopback over HTTP/2 and TLS, with kubeconfigs for its clients. */
import type { Api } from '../api.ts';
import type { User } from '../requests/request.ts';
import type { Authority } from './authority.ts';
import { type NodeClientOptions, nodeClient } from './nodeClient.ts';
import { scrapeNodes } from './scrapes.ts';
import { serve } from './server.ts';

export interface ServeApiOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Maximum number of concurrent requests per connection. The default of 100 is that of the kube-apiserver. */
  readonly maxConcurrentStreams?: number;
  /** Options for reaching nodes, for `kubectl exec`, `logs` and the like. */
  readonly nodes?: NodeClientOptions;
  /** Interval for scraping the resource usage of nodes, for `kubectl top`. Default: never. */
  readonly scrapeEveryMs?: number;
}

export interface ServedApi {
  readonly port: number;
  /**
   * Returns the text of a kubeconfig for an administrator or for this user, e.g. `{ name: 'system:node:n1', groups:
   * ['system:nodes'] }`.
   */
  kubeconfig(user?: Pick<User, 'name' | 'groups'>): string;
  /** Closes all connections. The server keeps its objects and can be served again. */
  close(): Promise<void>;
}

const ADMIN = { name: 'kubernetes-admin', groups: ['system:masters'] };
const CLUSTER = 'statelet-test';

export async function serveApi(api: Api, authority: Authority, options: ServeApiOptions): Promise<ServedApi> {
  const tls = { ...authority.issue({ name: 'kube-apiserver', groups: [] }), clientCa: authority.cert };
  const sendToNode = nodeClient(authority, options.nodes);
  const { port, close } = await serve(api, { ...options, tls, sendToNode });
  const { scrapeEveryMs } = options;
  const endScrapes = scrapeEveryMs === undefined ? () => {} : scrapeNodes(api, sendToNode, scrapeEveryMs);
  const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': base64(authority.cert) };
  return {
    port,
    close: async () => {
      endScrapes();
      await close();
    },
    kubeconfig: (user = ADMIN) => {
      const { key, cert } = authority.issue(user);
      const { name } = user;
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': CLUSTER,
        contexts: [{ name: CLUSTER, context: { cluster: CLUSTER, user: name } }],
        clusters: [{ name: CLUSTER, cluster }],
        users: [{ name, user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
      };
      // JSON is valid YAML.
      return `${JSON.stringify(config, null, 2)}\n`;
    },
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
