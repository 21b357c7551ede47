/** A complete simulated node that serves its API over TLS on loopback. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import { startSimulatedNode } from '../../../actors/simulated/startSimulatedNode.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { serveSimulatedStreams } from '../../../cri/simulated/streams/serveSimulatedStreams.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { serveNodeApi } from '../../../node/serve/serveNodeApi.ts';
import { eventually } from '../../e2e/support/eventually.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Registers a function that is called at the end of the test. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

const web = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'main', image: 'example.com/web:1' }] },
};
const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

interface ServedNodeOptions {
  readonly yaml?: string;
  readonly flags?: Readonly<Record<string, string | boolean>>;
  readonly cluster?: Parameters<typeof serveNodeApi>[0]['cluster'];
  /** Prepares the root directory before the node starts. */
  readonly prepare?: (rootDirectory: string) => void;
}

/**
 * Starts a node with a running pod `web-node-1`, and collects its log messages. The node stops at the end of the test.
 */
export async function servedNode({ yaml = '', flags = {}, cluster: joined, prepare }: ServedNodeOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'served-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  prepare?.(directory);
  const { streams, close } = serveSimulatedStreams(systemClock);
  const node = await startSimulatedNode({ pods: [web], runtime: { images: { anyPullable: true }, streams } });
  ends.push(() => node.stop(), close);
  const all = { '--port': '0', '--healthz-port': '0', '--root-dir': directory, ...flags };
  const config = compileConfig({
    flags: readFlags(joined ? { '--kubeconfig': '/etc/node.conf', ...all } : all),
    file: parseConfigFile('/etc/k.yaml', head + yaml),
    defaults: { hostname: 'node-1', addresses: ['192.0.2.1'], rootDirectory: '/r', podLogsDirectory: directory },
  });
  const said: string[] = [];
  const say = (...words: readonly unknown[]) => void said.push(String(words.at(-1)));
  const logger = { info: say, warn: say, error: say };
  const cri = inProcessCri(node.runtime);
  const served = await serveNodeApi({ config, agent: node.agent, cri, cluster: joined, clock: systemClock, logger });
  ends.push(() => served.close());
  await eventually('it runs', () => node.agent.pods().some(({ status }) => status?.phase === 'Running') || undefined);
  return { directory, said, served, node };
}

/** Sends a request over a new connection, unless an agent is given. */
export async function asked(port: number, path: string, options: RequestOptions = {}) {
  const clientRequest = request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, ...options });
  clientRequest.end();
  const [response] = await once(clientRequest, 'response');
  return { code: Number(response.statusCode), headers: response.headers, body: await text(response) };
}
