/** A cluster of one node with real containers: a test API server over HTTP/2 and TLS, and the daemon that joins it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../../actors/clock.ts';
import { ApiServer } from '../../../apiserver/apiServer.ts';
import { type UpNode, upNode } from './node.ts';

export interface TestCluster {
  readonly server: ApiServer;
  readonly node: UpNode;
  /** That of an administrator. */
  readonly kubeconfig: string;
  /** Makes a namespace whose pods get no token. */
  addNamespace(name: string): Promise<void>;
  end(): Promise<void>;
}

export async function testCluster(): Promise<TestCluster> {
  const node = await upNode();
  const server = await ApiServer.start(systemClock);
  const { kubeconfig, close } = await server.serve();
  const [admins, nodes] = ['admin', 'node'].map((name) => join(node.directory, `${name}.kubeconfig`));
  const end = async () => {
    await node.end();
    server.close();
    await close();
  };
  try {
    await writeFile(String(admins), kubeconfig());
    await writeFile(String(nodes), kubeconfig({ name: 'system:node:node', groups: ['system:nodes'] }));
    await node.start({ args: ['--kubeconfig', String(nodes)] });
  } catch (error) {
    await end();
    throw error;
  }
  return {
    ...{ server, node, kubeconfig: String(admins), end },
    addNamespace: async (name) => {
      await server.ask('POST', '/api/v1/namespaces', { metadata: { name } });
      const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
      await server.ask('PATCH', account, { automountServiceAccountToken: false }, 'application/merge-patch+json');
    },
  };
}
