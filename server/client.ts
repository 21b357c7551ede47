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
  /** The watch events of a resource as they come, until the signal aborts or the agent ends. */
  watch(resource: string, signal: AbortSignal): AsyncGenerator<unknown>;
}

async function open(path: string, resource: string, accept: string, signal?: AbortSignal): Promise<IncomingMessage> {
  const options = { socketPath: path, path: resource, headers: { accept }, ...(signal ? { signal } : {}) };
  const sent = request(options).end();
  const [response]: unknown[] = await once(sent, 'response');
  // node:http emits `response` with this one argument.
  return response as IncomingMessage;
}

async function read(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

function failureOf(body: string): NodeFailure {
  const status: unknown = JSON.parse(body);
  const field = (name: string) => {
    const value: unknown = typeof status === 'object' && status !== null ? Reflect.get(status, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return new NodeFailure(field('reason') ?? 'InternalError', field('message') ?? body, { retryable: false });
}

async function* lines(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A client of the agent that listens at `path`. */
export function agentClient(path: string): AgentClient {
  const body = async (resource: string, accept: string) => {
    const response = await open(path, resource, accept);
    const text = await read(response);
    if (response.statusCode !== 200) throw failureOf(text);
    return text;
  };
  return {
    path,
    json: async (resource) => JSON.parse(await body(resource, 'application/json')),
    text: (resource) => body(resource, 'text/plain'),
    async *watch(resource, signal) {
      const response = await open(path, `${resource}?watch=true`, 'application/json', signal);
      if (response.statusCode !== 200) throw failureOf(await read(response));
      yield* lines(response, signal);
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
  throw new NodeFailure('NoAgent', message, { retryable: false });
}
