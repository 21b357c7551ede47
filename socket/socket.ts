import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf, NodeFailure } from '../base/failure.ts';
import { startLimit } from '../base/limit.ts';
import { lookUp } from '../base/lookUp.ts';
import type { AgentPort } from './agent.ts';
import { sendRecording } from './recording.ts';
import { answer } from './routes.ts';
import { checkSocketPath, isAnswering } from './socketPath.ts';
import { failure } from './status.ts';
import { type Watch, watchEvents, watchPods } from './watch.ts';

/** The agent's own API, until it is closed. */
export interface AgentSocket {
  readonly path: string;
  close(): Promise<void>;
}

function send(response: ServerResponse, code: number, body: unknown): void {
  const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
  response.writeHead(code, {
    'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json',
  });
  response.end(text);
}

/** How long answers that are on their way may take once the socket closes, in milliseconds. */
const LAST_ANSWER_MS = 500;

/** The watches by the path that they are asked for at. */
type Watches = Readonly<Record<string, Watch>>;

interface Served {
  readonly agent: AgentPort;
  readonly watches: Watches;
  readonly version: object | undefined;
}

function respond({ agent, watches, version }: Served, url: URL, accept: string, response: ServerResponse): void {
  const isWatched = ['true', '1'].includes(url.searchParams.get('watch') ?? '');
  const watch = isWatched ? lookUp(watches, url.pathname) : undefined;
  if (watch) {
    watch.add(response);
    return;
  }
  if (version !== undefined && url.pathname === '/version') {
    send(response, 200, version);
    return;
  }
  const refuse = (error: unknown) => {
    const [code, reason] =
      error instanceof URIError ? ([400, 'BadRequest'] as const) : ([500, 'InternalError'] as const);
    send(response, code, failure(code, reason, messageOf(error)));
  };
  const noRecording = (why: string) => send(response, 404, failure(404, 'NotFound', why));
  if (url.pathname === '/recording')
    sendRecording(agent, response).then((why) => why === undefined || noRecording(why), refuse);
  else answer(agent, url.pathname, accept).then(({ code, body }) => send(response, code, body), refuse);
}

const STREAM_PATHS: readonly string[] = ['/exec', '/attach'];

/** By code that only these requests need. */
async function respondStream(agent: AgentPort, path: string, request: IncomingMessage, response: ServerResponse) {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { answerStream } = await import('./streams.ts');
  const { code, body } = await answerStream(agent, path, request, gone.signal);
  send(response, code, body);
}

function handle(served: Served, request: IncomingMessage, response: ServerResponse): void {
  const url = URL.parse(request.url ?? '/', 'http://agent');
  if (request.method === 'POST' && url !== null && STREAM_PATHS.includes(url.pathname)) {
    const fail = (error: unknown) => {
      send(response, 500, failure(500, 'InternalError', messageOf(error)));
    };
    // What cannot be sent after its head was is nobody's answer.
    respondStream(served.agent, url.pathname, request, response)
      .catch(fail)
      .catch(() => response.destroy());
  } else if (request.method !== 'GET') {
    const message = `${request.method} is not supported: only ${STREAM_PATHS.join(' and ')} take a POST`;
    send(response, 405, failure(405, 'MethodNotAllowed', message));
  } else if (url === null) {
    send(response, 400, failure(400, 'BadRequest', `${request.url} is not a path`));
  } else {
    respond(served, url, request.headers.accept ?? '', response);
  }
}

/** Binds the socket so that it is the owner's alone from its first moment. */
async function listen(server: Server, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(before);
  }
  await once(server, 'listening');
}

/** Of whatever else lies there nobody knows whose it is. */
async function removeDeadSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new NodeFailure(
      'RootDirectoryUnusable',
      `${path} exists and is not a socket: move it, or use another root directory`,
    );
  }
  await rm(path, { force: true });
}

/**
 * Serves pods, watches and explanations over a unix socket that only its owner may open.
 * A socket that nobody answers any more is replaced; one that answers belongs to another agent.
 */
export async function serveSocket(options: {
  path: string;
  agent: AgentPort;
  /** What it says of itself at `/version`. */
  version?: object;
}): Promise<AgentSocket> {
  const { path, agent, version } = options;
  checkSocketPath(path);
  if (await isAnswering(path)) {
    throw new NodeFailure('AgentRunning', `another agent is listening on ${path}`);
  }
  await removeDeadSocket(path);
  const watches = { '/api/v1/pods': watchPods(agent), '/api/v1/events': watchEvents(agent) };
  const server = createServer((request, response) => handle({ agent, watches, version }, request, response));
  await listen(server, path);
  return {
    path,
    close: async () => {
      for (const watch of Object.values(watches)) watch.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const patience = startLimit(LAST_ANSWER_MS);
      patience.signal.addEventListener('abort', () => server.closeAllConnections());
      await closed;
      patience.end();
    },
  };
}
