import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import * as z from 'zod/mini';
import { failureReasons, NodeFailure } from '../base/failure.ts';
import { isListening } from './socketPath.ts';

/** A client of a running agent. Every call is one request over the agent's socket. */
export interface AgentClient {
  readonly path: string;
  /**
   * Returns the parsed JSON of the response. If the response is an error, throws a `NodeFailure` with the reason and
   * the message of its Status.
   */
  json(resource: string): Promise<unknown>;
  /** Returns the response as human-readable text, wrapped to `width` columns if a width is given. */
  text(resource: string, width?: number): Promise<string>;
  /** Sends `body` as JSON in a POST request and returns the parsed JSON of the response. */
  post(resource: string, body: unknown): Promise<unknown>;
  /** Streams the response and returns its headers. */
  bytes(resource: string): Promise<{
    readonly chunks: AsyncIterable<Uint8Array>;
    readonly headers: IncomingMessage['headers'];
  }>;
  /**
   * Resolves once the agent has accepted the watch. Yields the events until the signal aborts or the agent closes the
   * watch, and throws `AgentGone` if the connection breaks.
   */
  watch(resource: string, signal: AbortSignal): Promise<AsyncGenerator<unknown>>;
}

/** Timeout for the next byte of a response, in milliseconds. */
const IDLE_TIMEOUT_MS = 10_000;

/** The agent's socket and the connection options. */
interface AgentAddress {
  readonly path: string;
  /** Returns the PID of the process that listens on a socket, or undefined if it cannot be determined. */
  readonly findListenerPid?: ((path: string) => Promise<number | undefined>) | undefined;
  readonly idleTimeoutMs?: number | undefined;
}

interface OpenResponse {
  readonly response: IncomingMessage;
  /** Disables the idle timeout, because a watch can be idle for any length of time. */
  disableTimeout(): void;
}

interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Body of a POST request. If undefined, the request is a GET. */
  readonly body?: string;
}

async function sendRequest(
  address: AgentAddress,
  resource: string,
  accept: string,
  { signal, body }: RequestOptions = {},
): Promise<OpenResponse> {
  const { path, idleTimeoutMs: timeout = IDLE_TIMEOUT_MS } = address;
  const options = { socketPath: path, path: resource, headers: { accept }, timeout, ...(signal ? { signal } : {}) };
  const clientRequest = request({ ...options, method: body === undefined ? 'GET' : 'POST' }).end(body);
  let startedResponse: IncomingMessage | undefined;
  // Ignore errors after the response has started, because the caller gets them from the response.
  clientRequest.on('error', () => {});
  // Destroy the response rather than the request once the response has started, so that the reader of the response gets
  // this error and not a generic reset.
  clientRequest.on('response', (response: IncomingMessage) => {
    startedResponse = response;
  });
  clientRequest.on('timeout', () => (startedResponse ?? clientRequest).destroy(new IdleTimeout()));
  const [response]: unknown[] = await once(clientRequest, 'response').catch(async (cause: unknown) => {
    throw await toConnectionFailure(address, cause);
  });
  // Safe cast: node:http emits `response` with this one argument.
  return { response: response as IncomingMessage, disableTimeout: () => clientRequest.setTimeout(0) };
}

/** Error for an agent whose process exists but sends nothing. */
class IdleTimeout extends Error {}

/** Converts a connection error to a failure. Any error other than a timeout means that the agent has exited. */
async function toConnectionFailure(
  { path, findListenerPid, idleTimeoutMs = IDLE_TIMEOUT_MS }: AgentAddress,
  cause: unknown,
): Promise<NodeFailure> {
  if (!(cause instanceof IdleTimeout))
    return new NodeFailure('AgentGone', `the agent at ${path} exited before its response was complete`, { cause });
  const pid = await findListenerPid?.(path);
  const who = pid === undefined ? `the agent at ${path}` : `the agent at ${path} (process ${pid})`;
  return new NodeFailure(
    'AgentSilent',
    `${who} has not responded for ${idleTimeoutMs / 1_000} s: it is suspended or hangs`,
    {
      cause,
    },
  );
}

async function readText(address: AgentAddress, response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let bodyText = '';
  try {
    for await (const chunk of response) bodyText += chunk;
  } catch (cause) {
    throw await toConnectionFailure(address, cause);
  }
  return bodyText;
}

/** Schema of a Status. A reason that this version does not know is replaced with a default. */
const statusSchema = z.object({
  reason: z.catch(z.enum(failureReasons), 'InternalError'),
  message: z.catch(z.optional(z.string()), undefined),
});

function parseFailure(body: string): NodeFailure {
  const { reason, message } = statusSchema.parse(JSON.parse(body));
  return new NodeFailure(reason, message ?? body);
}

async function* readChunks(address: AgentAddress, response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (cause) {
    throw await toConnectionFailure(address, cause);
  }
}

async function* parseLines(
  address: AgentAddress,
  response: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line);
  } catch (cause) {
    if (!signal.aborted) throw await toConnectionFailure(address, cause);
  }
}

/** Returns a client of the agent that listens at `path`. The default idle timeout of a response is 10 s. */
export function agentClient(path: string, options: Omit<AgentAddress, 'path'> = {}): AgentClient {
  const agentAddress = { ...options, path };
  const requestText = async (resource: string, accept: string, requestOptions?: RequestOptions) => {
    const { response } = await sendRequest(agentAddress, resource, accept, requestOptions);
    const bodyText = await readText(agentAddress, response);
    if (response.statusCode !== 200) throw parseFailure(bodyText);
    return bodyText;
  };
  return {
    path,
    json: async (resource) => JSON.parse(await requestText(resource, 'application/json')),
    text: (resource, width) => requestText(resource, width === undefined ? 'text/plain' : `text/plain; width=${width}`),
    post: async (resource, payload) =>
      JSON.parse(await requestText(resource, 'application/json', { body: JSON.stringify(payload) })),
    bytes: async (resource) => {
      const { response } = await sendRequest(agentAddress, resource, 'application/gzip');
      if (response.statusCode !== 200) throw parseFailure(await readText(agentAddress, response));
      return { chunks: readChunks(agentAddress, response), headers: response.headers };
    },
    watch: async (resource, signal) => {
      const { response, disableTimeout: endLimit } = await sendRequest(
        agentAddress,
        `${resource}?watch=true`,
        'application/json',
        { signal },
      );
      if (response.statusCode !== 200) throw parseFailure(await readText(agentAddress, response));
      endLimit();
      return parseLines(agentAddress, response, signal);
    },
  };
}

/**
 * Returns a client for the first of `paths` on which an agent listens. If there is none, throws a `NodeFailure` whose
 * message names a path that this user is not permitted to open or, without such a path, all paths.
 */
export async function findAgent(
  paths: readonly string[],
  findListenerPid?: AgentAddress['findListenerPid'],
): Promise<AgentClient> {
  let forbiddenPath: string | undefined;
  for (const path of paths) {
    try {
      if (await isListening(path)) return agentClient(path, { findListenerPid });
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EACCES')) throw cause;
      forbiddenPath = path;
    }
  }
  const joinedPaths = paths.join(' or ');
  const message = forbiddenPath
    ? `permission denied on the agent's socket ${forbiddenPath}: only its owner may use it, try again as root`
    : `no agent is running at ${joinedPaths}; start one with "statelet up", or say where it is with --root-dir or --state-dir`;
  throw new NodeFailure('NoAgent', message);
}
