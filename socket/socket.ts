import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf, NodeFailure } from '../base/failure.ts';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import { lookUp } from '../base/values/lookUp.ts';
import type { AgentPort } from './agent.ts';
import { sendRecording } from './recording.ts';
import { routeRequest } from './routes.ts';
import { checkSocketPath, isListening } from './socketPath.ts';
import { failureStatus } from './status.ts';
import { type Watch, watchEvents, watchPods } from './watch.ts';

/** The server of the agent's own API. */
export interface AgentSocket {
  readonly path: string;
  close(): Promise<void>;
}

function sendResponse(response: ServerResponse, code: number, body: unknown): void {
  const serializedBody = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`;
  response.writeHead(code, {
    'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json',
  });
  response.end(serializedBody);
}

/** Timeout for responses in progress when the socket closes, in milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 500;

/** The watches by URL path. */
type Watches = Readonly<Record<string, Watch>>;

interface ServerContext {
  readonly agent: AgentPort;
  readonly watches: Watches;
  readonly version: object | undefined;
}

function handleGet(
  { agent, watches, version }: ServerContext,
  url: URL,
  accept: string,
  response: ServerResponse,
): void {
  const isWatchRequest = ['true', '1'].includes(url.searchParams.get('watch') ?? '');
  const requestedWatch = isWatchRequest ? lookUp(watches, url.pathname) : undefined;
  if (requestedWatch) {
    requestedWatch.add(response);
    return;
  }
  if (version !== undefined && url.pathname === '/version') {
    sendResponse(response, 200, version);
    return;
  }
  const sendError = (error: unknown) => {
    const [code, reason] =
      error instanceof URIError ? ([400, 'BadRequest'] as const) : ([500, 'InternalError'] as const);
    sendResponse(response, code, failureStatus(code, reason, messageOf(error)));
  };
  const sendNoRecording = (why: string) => sendResponse(response, 404, failureStatus(404, 'NotFound', why));
  if (url.pathname === '/recording')
    sendRecording(agent, response).then((why) => why === undefined || sendNoRecording(why), sendError);
  else
    routeRequest(agent, `${url.pathname}${url.search}`, accept).then(
      ({ code, body }) => sendResponse(response, code, body),
      sendError,
    );
}

const STREAM_PATHS: readonly string[] = ['/exec', '/attach'];

/** Handles exec and attach requests. The code for these requests is imported on first use. */
async function handleStreamRequest(agent: AgentPort, path: string, request: IncomingMessage, response: ServerResponse) {
  const disconnectController = new AbortController();
  response.on('close', () => disconnectController.abort());
  const { handleStreamRequest: answerStream } = await import('./streams.ts');
  const { code, body } = await answerStream(agent, path, request, disconnectController.signal);
  sendResponse(response, code, body);
}

function handleRequest(context: ServerContext, request: IncomingMessage, response: ServerResponse): void {
  const url = URL.parse(request.url ?? '/', 'http://agent');
  if (request.method === 'POST' && url !== null && STREAM_PATHS.includes(url.pathname)) {
    const sendFailure = (error: unknown) => {
      sendResponse(response, 500, failureStatus(500, 'InternalError', messageOf(error)));
    };
    // Destroy the connection, because an error cannot be reported once the headers have been sent.
    handleStreamRequest(context.agent, url.pathname, request, response)
      .catch(sendFailure)
      .catch(() => response.destroy());
  } else if (request.method !== 'GET') {
    const message = `${request.method} is not supported: only ${STREAM_PATHS.join(' and ')} take a POST`;
    sendResponse(response, 405, failureStatus(405, 'MethodNotAllowed', message));
  } else if (url === null) {
    sendResponse(response, 400, failureStatus(400, 'BadRequest', `${request.url} is not a path`));
  } else {
    handleGet(context, url, request.headers.accept ?? '', response);
  }
}

/**
 * Creates the socket with a mode that denies access to other users, so that there is no moment at which they could
 * connect.
 */
async function listenOnSocket(server: Server, path: string): Promise<void> {
  const previousUmask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(previousUmask);
  }
  await once(server, 'listening');
}

/** Removes a socket that no process listens on. Fails on any other type of file, because it may belong to the user. */
async function removeDeadSocket(path: string): Promise<void> {
  const socketStats = await lstat(path).catch(() => undefined);
  if (socketStats === undefined) return;
  if (!socketStats.isSocket()) {
    throw new NodeFailure(
      'RootDirectoryUnusable',
      `${path} exists and is not a socket: move it, or use another root directory`,
    );
  }
  await rm(path, { force: true });
}

/**
 * Serves the agent's API on a unix socket that only its owner can open. Replaces a socket that no process listens on,
 * and fails if another agent listens on it.
 */
export async function serveSocket(options: {
  path: string;
  agent: AgentPort;
  /** The response to `/version`. */
  version?: object;
}): Promise<AgentSocket> {
  const { path, agent, version } = options;
  checkSocketPath(path);
  if (await isListening(path)) {
    throw new NodeFailure('AgentRunning', `another agent is listening on ${path}`);
  }
  await removeDeadSocket(path);
  const watches = { '/api/v1/pods': watchPods(agent), '/api/v1/events': watchEvents(agent) };
  const server = createServer((request, response) => handleRequest({ agent, watches, version }, request, response));
  await listenOnSocket(server, path);
  return {
    path,
    close: async () => {
      for (const watch of Object.values(watches)) watch.close();
      const closePromise = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timeLimit = startTimeLimit(SHUTDOWN_TIMEOUT_MS);
      timeLimit.signal.addEventListener('abort', () => server.closeAllConnections());
      await closePromise;
      timeLimit.clear();
    },
  };
}
