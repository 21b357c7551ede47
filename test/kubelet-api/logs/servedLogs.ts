/** Serves the logs of a container over plain HTTP, with the same route as the node's server. */
import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach } from '@jest/globals';
import { ContainerStatus } from '../../../cri/generated/runtime.ts';
import type { Exchange, Route } from '../../../kubelet-api/exchange.ts';
import { type ContainerLogsParts, containerLogsRoute } from '../../../kubelet-api/logs/container/containerLogs.ts';
import type { ContainerState, ContainerStatus as PodContainerStatus } from '../../../kubernetes/api/schema/status.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

export const ID = 'containerd://c0ffee';
const NOON = Date.parse('2026-05-04T12:00:00Z');

/** Returns a log line as the runtime writes it, with a timestamp in seconds after noon. */
export const line = (seconds: number, text: string, { stream = 'stdout', tags = 'F' } = {}): string =>
  `${stamp(seconds)} ${stream} ${tags} ${text}\n`;

export const stamp = (seconds: number): string =>
  new Date(NOON + seconds * 1_000).toISOString().replace('Z', '123456Z');

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Serves one route. Each request has an authorized caller. */
export async function serve(route: Route): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((incoming, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const url = new URL(incoming.url ?? '', 'http://node');
    const exchange: Exchange = {
      request: incoming,
      response,
      url,
      signal: gone.signal,
      caller: { name: 'kube-apiserver', groups: ['system:masters'], extra: new Map() },
    };
    route.handle(exchange).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  // Safe cast: the server listens on a port.
  return { port: (server.address() as AddressInfo).port, server };
}

/** Sends a request. Resolves when the headers of the response arrive. */
export const begin = (port: number, path: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const clientRequest = request({ host: '127.0.0.1', port, path, headers, agent: false }, resolve);
    clientRequest.on('error', reject).end();
  });

/** Sends a request. Returns the complete response with its exact bytes. */
export async function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const answer = await begin(port, path, headers);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString() };
}

interface Served {
  readonly port: number;
  readonly server: Server;
  readonly root: string;
  readonly file: string;
  /** The status of the container in the agent and in the runtime, which tests can change. */
  readonly told: Told;
  write(text: string | Buffer): Promise<void>;
  append(text: string): Promise<void>;
  /** Rotates the log as the node does: renames the current file and lets the runtime open a new one. */
  rotate(): Promise<void>;
  get(query?: string): Promise<Answer>;
  follow(query?: string): Promise<Followed>;
}

interface Told {
  state: ContainerState;
  lastState?: ContainerState;
  hasStatus: boolean;
  /** CONTAINER_RUNNING, CONTAINER_EXITED, or the error of the call. */
  runtime: 1 | 2 | Error;
  asked: number;
  logPath: string;
}

interface Followed {
  readonly answer: IncomingMessage;
  text(): string;
  until(text: string): Promise<void>;
  /** Returns the whole text once the response has ended. */
  end(): Promise<string>;
}

/** Serves the log of container `main` of pod `web` in `default`. */
export async function servedLogs(options: Partial<ContainerLogsParts> = {}): Promise<Served> {
  const root = await mkdtemp(join(tmpdir(), 'statelet-served-'));
  ends.push(() => rm(root, { recursive: true, force: true }));
  const file = join(root, 'pods', 'default_web_u-1', 'main', '0.log');
  await mkdir(dirname(file), { recursive: true });
  const told: Told = { state: { running: {} }, hasStatus: true, runtime: 1, asked: 0, logPath: file };
  const { port, server } = await serve(containerLogsRoute({ ...partsOf(told, join(root, 'pods/')), ...options }));
  const path = (query: string) => `/containerLogs/default/web/main${query}`;
  return {
    port,
    server,
    root,
    file,
    told,
    write: (text) => writeFile(file, text),
    append: (text) => appendFile(file, text),
    rotate: async () => {
      await rename(file, `${file}.20260504-120000`);
      await writeFile(file, '');
    },
    get: (query = '') => ask(port, path(query)),
    follow: async (query = '?follow=true') => followed(await begin(port, path(query))),
  };
}

function partsOf(told: Told, logs: string): ContainerLogsParts {
  const pod = podWith('web', { initContainers: [containerWith('first')] });
  const status = (): PodContainerStatus => {
    const { state, lastState = {} } = told;
    return { name: 'main', state, lastState, ready: true, restartCount: 0, image: '', imageID: '', containerID: ID };
  };
  return {
    pods: {
      findPod: (namespace, name) =>
        namespace === 'default' && name === 'web'
          ? { ...pod, status: { containerStatuses: told.hasStatus ? [status()] : [] } }
          : undefined,
    },
    cri: {
      containerStatus: async () => {
        told.asked += 1;
        if (told.runtime instanceof Error) throw told.runtime;
        const state = told.runtime;
        return { status: ContainerStatus.fromPartial({ state, logPath: told.logPath }), info: {} };
      },
    },
    logRoots: [logs],
    now: () => NOON + 10_000,
    pause: (_, signal) => wait(20, undefined, { signal }).catch(() => {}),
    canSplitStreams: false,
  };
}

function followed(answer: IncomingMessage): Followed {
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (more: string) => {
    text += more;
  });
  const done = new Promise<void>((resolve) => answer.on('close', resolve));
  return {
    answer,
    text: () => text,
    until: async (wanted) => {
      for (const limit = Date.now() + 20_000; text !== wanted; ) {
        if (Date.now() > limit) throw new Error(`it has come to ${JSON.stringify(text)}`);
        await wait(5);
      }
    },
    end: async () => {
      await done;
      return text;
    },
  };
}
