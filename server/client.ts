import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { NodeFailure } from '../pod/failure.ts';
import { isAnswering } from './socketPath.ts';

/** A connection to a running agent: every call is one request over its socket. */
export interface AgentClient {
  readonly path: string;
  /** The JSON that the agent answers; throws a `NodeFailure` with the reason of its Status. */
  json(resource: string): Promise<unknown>;
  /** The same as a text for people. */
  text(resource: string): Promise<string>;
  /**
   * Resolves once the agent watches a resource, with the events as they come, until the signal aborts or the agent
   * closes the watch; they throw `AgentGone` when it ends without.
   */
  watch(resource: string, signal: AbortSignal): Promise<AsyncGenerator<unknown>>;
}

async function open(path: string, resource: string, accept: string, signal?: AbortSignal): Promise<IncomingMessage> {
  const options = { socketPath: path, path: resource, headers: { accept }, ...(signal ? { signal } : {}) };
  const sent = request(options).end();
  const [response]: unknown[] = await once(sent, 'response').catch((cause: unknown) => {
    throw gone(path, cause);
  });
  // node:http emits `response` with this one argument.
  return response as IncomingMessage;
}

/** What a connection that breaks means: whoever answered at the socket does so no more. */
function gone(path: string, cause: unknown): NodeFailure {
  const message = `the agent at ${path} ended before its answer did`;
  return new NodeFailure('AgentGone', message, { cause });
}

async function read(path: string, response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  try {
    for await (const chunk of response) text += chunk;
  } catch (cause) {
    throw gone(path, cause);
  }
  return text;
}

function failureOf(body: string): NodeFailure {
  const status: unknown = JSON.parse(body);
  const field = (name: string) => {
    const value: unknown = typeof status === 'object' && status !== null ? Reflect.get(status, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return new NodeFailure(field('reason') ?? 'InternalError', field('message') ?? body);
}

async function* lines(path: string, response: IncomingMessage, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line);
  } catch (cause) {
    if (!signal.aborted) throw gone(path, cause);
  }
}

/** A client of the agent that listens at `path`. */
export function agentClient(path: string): AgentClient {
  const body = async (resource: string, accept: string) => {
    const response = await open(path, resource, accept);
    const text = await read(path, response);
    if (response.statusCode !== 200) throw failureOf(text);
    return text;
  };
  return {
    path,
    json: async (resource) => JSON.parse(await body(resource, 'application/json')),
    text: (resource) => body(resource, 'text/plain'),
    watch: async (resource, signal) => {
      const response = await open(path, `${resource}?watch=true`, 'application/json', signal);
      if (response.statusCode !== 200) throw failureOf(await read(path, response));
      return lines(path, response, signal);
    },
  };
}

/** The first of the sockets at which an agent answers; throws a `NodeFailure` that names the places tried. */
export async function findAgent(paths: readonly string[]): Promise<AgentClient> {
  let forbidden: string | undefined;
  for (const path of paths) {
    try {
      if (await isAnswering(path)) return agentClient(path);
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EACCES')) throw cause;
      forbidden = path;
    }
  }
  const places = paths.join(' nor at ');
  const message = forbidden
    ? `the agent's socket ${forbidden} may only be used by its owner: try again as root`
    : `no agent answers at ${places}; "statelet up" starts one, --root-dir or --state-dir name its place`;
  throw new NodeFailure('NoAgent', message);
}
