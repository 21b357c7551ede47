/** The page's server on its own port with data of the test, and requests that no browser would send. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { InspectedNode, LiveUpdates } from '../../../inspect/inspected.ts';
import type { Frame, Snapshot } from '../../../inspect/protocol.ts';
import { type PageServer, servePage } from '../../../inspect/servePage.ts';

/** Contents of the page as the build writes it. */
const PAGE = '<!doctype html><script type="application/json" id="snapshot"><!--snapshot--></script><body></body>';

export const emptySnapshot: Snapshot = {
  at: 0,
  mode: 'live',
  node: {
    name: 'node-1',
    version: '0.1.0',
    simulated: true,
    state: 'running',
    tags: ['steady'],
    sources: [],
    runtime: { name: 'containerd', version: '2', ready: true },
    gates: {
      start: { capacity: 4, held: 0, waiting: 0, queue: [] },
      pull: { capacity: 1, held: 0, waiting: 0, queue: [] },
    },
  },
  pods: [],
  actors: [],
};

/** A live node that shows the test's snapshot. */
export interface FakeLive extends LiveUpdates {
  shown: Snapshot;
  readonly followers: Set<(frame: Frame) => void>;
  readonly tell: (frame?: Partial<Frame>) => void;
}

export function fakeLive(): FakeLive {
  const followers = new Set<(frame: Frame) => void>();
  const live: FakeLive = {
    shown: emptySnapshot,
    followers,
    snapshot: () => live.shown,
    follow: (viewer) => {
      followers.add(viewer);
      return () => void followers.delete(viewer);
    },
    tell: (frame) => {
      for (const follower of followers)
        follower({ at: 1, pods: [], podsGone: [], actors: [], actorsGone: [], lines: [], ...frame });
    },
  };
  return live;
}

/** Returns a node that responds with the arguments of each call. */
export function fakeInspected(live?: LiveUpdates): InspectedNode {
  const asked = async (...of: readonly unknown[]) =>
    // The server passes the value on unchanged.
    ({ asked: of.map((each) => each ?? null) }) as never;
  return {
    ...(live ? { live } : {}),
    moment: (at) => asked('moment', at),
    story: (uid, from, to) => asked('story', uid, from, to),
    rail: () => asked('rail'),
    detail: (path, at) => asked('detail', path, at),
    actorHistory: (path, at) => asked('history', path, at),
    log: (path) => asked('log', path),
    object: (uid, at) => asked('object', uid, at),
    entry: (actor, source, at) => asked('entry', actor, source, at),
    close: async () => {},
  };
}

type PageOptions = 'address' | 'token' | 'tls' | 'clock' | 'requestTimeoutMs';

interface ServeOptions extends Partial<Pick<Parameters<typeof servePage>[0], PageOptions>> {
  readonly inspected?: InspectedNode | (() => Promise<InspectedNode>);
  /** Whether the build has written a page. */
  readonly isBuilt?: boolean;
}

export interface ServedPage extends PageServer {
  readonly port: number;
  readonly directory: string;
  readonly get: (path: string, options?: AskOptions) => Promise<Answer>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end();
});

/** Serves the page until the end of the test. */
export async function servedPage({
  inspected = fakeInspected(),
  isBuilt = true,
  ...options
}: ServeOptions = {}): Promise<ServedPage> {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-page-'));
  open.push(() => rm(directory, { recursive: true }));
  if (isBuilt) await writeFile(join(directory, 'page.html'), PAGE);
  const server = await servePage({
    address: { host: '127.0.0.1', port: 0 },
    token: undefined,
    ...options,
    directory,
    openInspectedNode: typeof inspected === 'function' ? inspected : async () => inspected,
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= server.close();
    return closing;
  };
  open.push(close);
  const port = Number(new URL(server.url).port);
  return { ...server, close, port, directory, get: (path, given) => ask(port, path, given) };
}

/** Sends a request. The path is sent unchanged. */
export function ask(port: number, path: string, { method = 'GET', headers = {} }: AskOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString('utf8'),
        }),
      );
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Sends bytes. Resolves with everything that is received until the connection closes. */
export function sendBytes(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const connection = connect({ host: '127.0.0.1', port }, () => connection.write(text));
    connection.setEncoding('utf8');
    connection.on('data', (part: string) => {
      answer += part;
    });
    // The `close` event resolves with what has arrived so far.
    connection.on('error', () => {});
    connection.on('close', () => resolve(answer));
  });
}

/** Returns the request by which a browser opens a WebSocket. */
export const upgradeOf = (port: number, path: string, headers: Readonly<Record<string, string>> = {}): string =>
  [
    `GET ${path} HTTP/1.1`,
    ...Object.entries({
      host: `127.0.0.1:${port}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');

export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it does not come to be');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
