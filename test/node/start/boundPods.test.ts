/** What an API server has is asked for in `test/cli/commands/run/takeOver.test.ts`; here is one that says nothing. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ClusterConfig, clusterOf } from '../../../node/config/cluster.ts';
import { boundPods } from '../../../node/start/boundPods.ts';

const sockets = new Set<Socket>();
const silent = createServer((socket) => sockets.add(socket));
let folder = '';
let cluster: ClusterConfig | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bound-'));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  // Of a server on a port it is never a path.
  const { port } = silent.address() as AddressInfo;
  const file = join(folder, 'node.conf');
  const kubeconfig = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  cluster = clusterOf({ '--kubeconfig': file }, undefined, '/nowhere');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await rm(folder, { recursive: true });
});

function ask(patience: { readonly signal: AbortSignal; readonly limitMs?: number }) {
  if (cluster === undefined) throw new Error('the kubeconfig names a cluster');
  return boundPods(cluster, 'node-1', patience);
}

test('a server that says nothing is asked no longer than the limit', async () => {
  const { signal } = new AbortController();
  await expect(ask({ signal, limitMs: 200 })).rejects.toThrow("no list of the node's pods within 0.2s");
});

test('nor longer than whoever asks wants to know', async () => {
  const asking = new AbortController();
  const asked = ask({ signal: asking.signal });
  const given = expect(asked).rejects.toThrow('enough');
  setTimeout(() => asking.abort(new Error('enough')), 100);
  await given;
});
