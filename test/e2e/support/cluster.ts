/** A cluster of one node with real containers: a test API server over HTTP/2 and TLS, and the daemon that joins it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../base/time/clock.ts';
import { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import type { ServeApiOptions } from '../../../testing/apiserver/serving/servedApi.ts';
import { type TestNode, type UpNode, upNode } from './node.ts';
import type { Statelet } from './statelet.ts';

export interface TestCluster<N extends TestNode = UpNode> {
  readonly server: ApiServer;
  readonly node: N;
  /** The first agent of the node. */
  readonly agent: Statelet;
  /** Kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** Starts the node's agent without waiting for it. */
  launch(): Statelet;
  /** Stops the API server. Its objects remain. */
  stopServing(): Promise<void>;
  /** Starts the API server again on the same port. */
  serveAgain(): Promise<void>;
  /** Creates a namespace whose pods get no token. */
  addNamespace(name: string): Promise<void>;
  end(): Promise<void>;
}

interface TestClusterOptions {
  /** The address of the node's page, if it has one. */
  readonly page?: string;
  /** Lines of the node's configuration. */
  readonly config?: readonly string[];
  readonly serve?: ServeApiOptions;
}

export const testCluster = async ({ config = [], ...options }: TestClusterOptions = {}): Promise<TestCluster> =>
  clusterOf(await upNode(...config), options);

/** Like `testCluster`, for a node whose agent has not started yet. */
export async function clusterOf<N extends TestNode>(
  node: N,
  { page = '', serve }: Omit<TestClusterOptions, 'config'> = {},
): Promise<TestCluster<N>> {
  const server = await ApiServer.start(systemClock);
  const served = await server.serve(serve);
  const { kubeconfig, port } = served;
  let { close } = served;
  const [admins, nodes] = ['admin', 'node'].map((name) => join(node.directory, `${name}.kubeconfig`));
  const authorities = join(node.directory, 'ca.crt');
  const args = ['--kubeconfig', String(nodes), '--client-ca-file', authorities, '--inspect-address', page];
  const end = async () => {
    await node.end();
    server.close();
    await close();
  };
  let agent: Statelet;
  try {
    await writeFile(String(admins), kubeconfig());
    await writeFile(authorities, authorityIn(kubeconfig()));
    await writeFile(String(nodes), kubeconfig({ name: 'system:node:node', groups: ['system:nodes'] }));
    agent = await node.start({ args });
  } catch (error) {
    await end();
    throw error;
  }
  return {
    server,
    node,
    agent,
    kubeconfig: String(admins),
    end,
    launch: () => node.launch({ args }),
    stopServing: () => close(),
    serveAgain: async () => {
      ({ close } = await server.serve({ ...serve, port }));
    },
    addNamespace: async (name) => {
      await server.request('POST', '/api/v1/namespaces', { metadata: { name } });
      const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
      await server.request('PATCH', account, { automountServiceAccountToken: false }, 'application/merge-patch+json');
    },
  };
}

/** Returns the CA certificate of the API server and its clients as PEM. */
function authorityIn(kubeconfig: string): string {
  const [{ cluster }] = JSON.parse(kubeconfig).clusters;
  return Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
}
