/** A test API server on loopback, over HTTP/2 and TLS, with kubeconfigs for its clients. */
import type { Api } from '../api.ts';
import type { User } from '../request.ts';
import type { Authority } from './authority.ts';
import { type NodeClientOptions, nodeClient } from './nodeClient.ts';
import { scrapeNodes } from './scrapes.ts';
import { serve } from './server.ts';

export interface ServeApiOptions {
  /** Any that is free without it. */
  readonly port?: number;
  /** How many requests a connection carries at once; by default 100, as with a kube-apiserver. */
  readonly maxConcurrentStreams?: number;
  /** How it reaches nodes, for `kubectl exec`, `logs` and the like. */
  readonly nodes?: NodeClientOptions;
  /** Asks nodes what they use each so many milliseconds, for `kubectl top`; without it nobody knows. */
  readonly scrapeEveryMs?: number;
}

export interface ServedApi {
  readonly port: number;
  /** A kubeconfig, as text, of an administrator or of this user: `{ name: 'system:node:n1', groups: ['system:nodes'] }`. */
  kubeconfig(user?: Pick<User, 'name' | 'groups'>): string;
  /** Ends all connections; what the server knows stays, and it can be served again. */
  close(): Promise<void>;
}

const ADMIN = { name: 'kubernetes-admin', groups: ['system:masters'] };
const CLUSTER = 'statelet-test';

export async function serveApi(api: Api, authority: Authority, options: ServeApiOptions): Promise<ServedApi> {
  const tls = { ...authority.issue({ name: 'kube-apiserver', groups: [] }), clientCa: authority.cert };
  const askNode = nodeClient(authority, options.nodes);
  const { port, close } = await serve(api, { ...options, tls, askNode });
  const { scrapeEveryMs } = options;
  const endScrapes = scrapeEveryMs === undefined ? () => {} : scrapeNodes(api, askNode, scrapeEveryMs);
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
      // JSON is YAML too.
      return `${JSON.stringify(config, null, 2)}\n`;
    },
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
