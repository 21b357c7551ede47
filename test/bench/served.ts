/** A client of the kubelet API, which keeps its connections open like the clients in a cluster. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { root } from '../support/root.ts';
import type { AgentPlace } from './agentProcess.ts';
import { preciseNow } from './statistics.ts';

export interface Got {
  /** Time from the request until the last byte of the response, in milliseconds. */
  readonly ms: number;
  readonly bytes: number;
}

/** Interval between the scrapes of Prometheus and metrics-server, in milliseconds. */
export const SCRAPE_MS = 15_000;

/** Paths that Prometheus and metrics-server scrape. */
export const SCRAPED = ['/metrics', '/metrics/cadvisor', '/metrics/probes', '/metrics/resource', '/stats/summary'];

export interface ServedClient {
  /** Reads a response to its end and discards it. */
  got(path: string): Promise<Got>;
  body(path: string): Promise<Buffer>;
  /** Returns a response that continues until it is destroyed. */
  followed(path: string): Promise<IncomingMessage>;
  /** Returns the duration of a command from the request until the connection is closed, in milliseconds. */
  ran(path: string): Promise<number>;
  /** Starts a command that runs until the connection is closed. */
  running(path: string): Promise<WebSocket>;
  close(): void;
}

/** Creates a client of a server at a port of this host. `token` is required for a kubelet API. */
export function servedClient(port: number, token = ''): ServedClient {
  // The certificate does not matter for the measurement.
  const agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  const headers = { authorization: `Bearer ${token}` };
  const asked = async (path: string): Promise<IncomingMessage> => {
    const [response]: IncomingMessage[] = await once(
      get({ host: '127.0.0.1', port, path, agent, headers }),
      'response',
    );
    if (response?.statusCode !== 200) throw new Error(`${path}: ${response?.statusCode}`);
    return response;
  };
  const body = async (path: string) => {
    const chunks: Buffer[] = [];
    for await (const chunk of await asked(path)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  const open = (path: string) => webSocket(`wss://127.0.0.1:${port}${path}`, { agent, headers });
  return {
    got: async (path) => {
      const began = preciseNow();
      let bytes = 0;
      for await (const chunk of await asked(path)) bytes += chunk.length;
      return { ms: preciseNow() - began, bytes };
    },
    body,
    followed: asked,
    ran: (path) => timeToRun(() => open(path)),
    running: async (path) => {
      const socket = open(path);
      await once(socket, 'open');
      return socket;
    },
    close: () => agent.destroy(),
  };
}

/** Returns the duration of a command at a streaming server that is reached without the node. */
export const ranAt = (url: string): Promise<number> => timeToRun(() => webSocket(url.replace(/^http/, 'ws')));

const webSocket = (url: string, options: ConstructorParameters<typeof WebSocket>[2] = {}): WebSocket =>
  new WebSocket(url, ['v4.channel.k8s.io'], { ...options, perMessageDeflate: false });

async function timeToRun(open: () => WebSocket): Promise<number> {
  const began = preciseNow();
  const socket = open();
  const [code] = await once(socket, 'close');
  if (code !== 1000 && code !== 1005) throw new Error(`the command's connection ended with ${code}`);
  return preciseNow() - began;
}

/** Returns the token for a node without an API server. */
export const tokenOf = async ({ rootDir }: AgentPlace): Promise<string> =>
  (await readFile(join(rootDir, 'statelet', 'server-token'), 'utf8')).trim();

/** Scrapes all paths, one after the other. */
export const scrape = (client: ServedClient, paths = SCRAPED): Promise<Got> =>
  gotAll(paths.map((path) => () => client.got(path)));

/** Calls `act` while the node is scraped as in a cluster. */
export async function whileScraped<T>(client: ServedClient, act: () => Promise<T>, paths = SCRAPED): Promise<T> {
  let last: Promise<unknown> = scrape(client, paths);
  const timer = setInterval(() => {
    last = scrape(client, paths);
    last.catch(() => {});
  }, SCRAPE_MS);
  try {
    return await act();
  } finally {
    clearInterval(timer);
    await last;
  }
}

/** Performs the requests one after the other. Returns their total duration and size. */
export async function gotAll(all: readonly (() => Promise<Got>)[]): Promise<Got> {
  let [ms, bytes] = [0, 0];
  for (const each of all) {
    const got = await each();
    ms += got.ms;
    bytes += got.bytes;
  }
  return { ms, bytes };
}

/** Returns the paths of the node's self-signed certificate and its key. */
export const pairOf = ({ rootDir }: AgentPlace): readonly [certificate: string, key: string] => [
  join(rootDir, 'pki', 'kubelet.crt'),
  join(rootDir, 'pki', 'kubelet.key'),
];

/**
 * Returns the environment that the agent's command sets for itself, because the memory allocator affects the speed of
 * everything that is sent.
 */
export async function agentEnvironment(): Promise<Record<string, string>> {
  const command = await readFile(join(root, 'cli/statelet.sh'), 'utf8');
  const set = [...command.matchAll(/^export (\w+)="\$\{\1:-(\d+)\}"$/gm)];
  return Object.fromEntries(set.map(([, name, value]) => [name, value]));
}
