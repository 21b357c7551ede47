/** Timeouts of the request. `test/cli/commands/run/takeOver.test.ts` tests its responses. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ClusterConfig, compileCluster } from '../../../node/config/compile/cluster.ts';
import { settingValues } from '../../../node/config/settings/settingValues.ts';
import { fetchBoundPodUids } from '../../../node/start/fetchBoundPodUids.ts';

const sockets = new Set<Socket>();
const silent = createServer((socket) => sockets.add(socket));
let folder = '';
let cluster: ClusterConfig | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bound-'));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  // The address of a TCP server is never a path.
  const { port } = silent.address() as AddressInfo;
  const file = join(folder, 'node.conf');
  const kubeconfig = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
  };
  await writeFile(file, JSON.stringify(kubeconfig));
  cluster = compileCluster(settingValues({ flags: { '--kubeconfig': file } }), '/nowhere');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await rm(folder, { recursive: true });
});

function fetchFromSilentServer(limits: { readonly signal: AbortSignal; readonly timeoutMs?: number }) {
  if (cluster === undefined) throw new Error('expected a cluster');
  return fetchBoundPodUids(cluster, 'node-1', limits);
}

test('the request for the pods of the node times out if the server does not respond', async () => {
  const { signal } = new AbortController();
  await expect(fetchFromSilentServer({ signal, timeoutMs: 200 })).rejects.toThrow(
    "no list of the node's pods within 0.2s",
  );
});

test('the request for the pods of the node rejects when the caller aborts', async () => {
  const caller = new AbortController();
  const rejection = expect(fetchFromSilentServer({ signal: caller.signal })).rejects.toThrow('enough');
  setTimeout(() => caller.abort(new Error('enough')), 100);
  await rejection;
});
