import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import * as z from 'zod/mini';
import { failureReasons, NodeFailure } from '../base/failure.ts';
import { isAnswering } from './socketPath.ts';

/** A connection to a running agent: every call is one request over its socket. */
export interface AgentClient {
  readonly path: string;
  /** The JSON that the agent answers; throws a `NodeFailure` with the reason of its Status. */
  json(resource: string): Promise<unknown>;
  /** The same as text for people, of `width` columns if that is defined. */
  text(resource: string, width?: number): Promise<string>;
  /** What it answers to a request with a body. */
  post(resource: string, body: unknown): Promise<unknown>;
  /** The same as bytes, as they come, with what the headers of the answer say. */
  bytes(resource: string): Promise<{
    readonly parts: AsyncIterable<Uint8Array>;
    readonly headers: IncomingMessage['headers'];
  }>;
  /**
   * Resolves once the agent watches a resource, with the events as they come, until the signal aborts or the agent
   * closes the watch; they throw `AgentGone` when it ends without.
   */
  watch(resource: string, signal: AbortSignal): Promise<AsyncGenerator<unknown>>;
}

/** So long an agent may send no byte of an answer. */
const SILENT_MS = 10_000;

/** Where an agent is asked, and what is known of it. */
interface Place {
  readonly path: string;
  /** The process of the agent that has this socket, where it can be told. */
  readonly processAt?: ((path: string) => Promise<number | undefined>) | undefined;
  readonly silentMs?: number | undefined;
}

interface Asked {
  readonly response: IncomingMessage;
  /** From now on it may be silent for as long as it likes. */
  endLimit(): void;
}

interface More {
  readonly signal?: AbortSignal;
  /** What is sent; without it nothing is. */
  readonly body?: string;
}

async function open(place: Place, resource: string, accept: string, { signal, body }: More = {}): Promise<Asked> {
  const { path, silentMs: timeout = SILENT_MS } = place;
  const options = { socketPath: path, path: resource, headers: { accept }, timeout, ...(signal ? { signal } : {}) };
  const sent = request({ ...options, method: body === undefined ? 'GET' : 'POST' }).end(body);
  let begun: IncomingMessage | undefined;
  // A request that is destroyed with its answer has nobody else to tell.
  sent.on('error', () => {});
  // Once it has begun to answer its reader would only hear that the connection is gone.
  sent.on('response', (response: IncomingMessage) => {
    begun = response;
  });
  sent.on('timeout', () => (begun ?? sent).destroy(new Silence()));
  const [response]: unknown[] = await once(sent, 'response').catch(async (cause: unknown) => {
    throw await gone(place, cause);
  });
  // node:http emits `response` with this one argument.
  return { response: response as IncomingMessage, endLimit: () => sent.setTimeout(0) };
}

/** The agent is there, and sends nothing. */
class Silence extends Error {}

/** What a connection that breaks means: whoever answered at the socket does so no more. */
async function gone({ path, processAt, silentMs = SILENT_MS }: Place, cause: unknown): Promise<NodeFailure> {
  if (!(cause instanceof Silence))
    return new NodeFailure('AgentGone', `the agent at ${path} exited before its response was complete`, { cause });
  const pid = await processAt?.(path);
  const who = pid === undefined ? `the agent at ${path}` : `the agent at ${path} (process ${pid})`;
  return new NodeFailure(
    'AgentSilent',
    `${who} has not responded for ${silentMs / 1_000} s: it is suspended or hangs`,
    {
      cause,
    },
  );
}

async function read(place: Place, response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  try {
    for await (const chunk of response) text += chunk;
  } catch (cause) {
    throw await gone(place, cause);
  }
  return text;
}

/** Of an agent of another version the reason may be one that is not known here. */
const statusShape = z.object({
  reason: z.catch(z.enum(failureReasons), 'InternalError'),
  message: z.catch(z.optional(z.string()), undefined),
});

function failureOf(body: string): NodeFailure {
  const { reason, message } = statusShape.parse(JSON.parse(body));
  return new NodeFailure(reason, message ?? body);
}

async function* chunks(place: Place, response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (cause) {
    throw await gone(place, cause);
  }
}

async function* lines(place: Place, response: IncomingMessage, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line);
  } catch (cause) {
    if (!signal.aborted) throw await gone(place, cause);
  }
}

/** A client of the agent that listens at `path`; it waits 10 s for an answer, or for more of it, unless told otherwise. */
export function agentClient(path: string, known: Omit<Place, 'path'> = {}): AgentClient {
  const place = { ...known, path };
  const body = async (resource: string, accept: string, more?: More) => {
    const { response } = await open(place, resource, accept, more);
    const text = await read(place, response);
    if (response.statusCode !== 200) throw failureOf(text);
    return text;
  };
  return {
    path,
    json: async (resource) => JSON.parse(await body(resource, 'application/json')),
    text: (resource, width) => body(resource, width === undefined ? 'text/plain' : `text/plain; width=${width}`),
    post: async (resource, sent) =>
      JSON.parse(await body(resource, 'application/json', { body: JSON.stringify(sent) })),
    bytes: async (resource) => {
      const { response } = await open(place, resource, 'application/gzip');
      if (response.statusCode !== 200) throw failureOf(await read(place, response));
      return { parts: chunks(place, response), headers: response.headers };
    },
    watch: async (resource, signal) => {
      const { response, endLimit } = await open(place, `${resource}?watch=true`, 'application/json', { signal });
      if (response.statusCode !== 200) throw failureOf(await read(place, response));
      endLimit();
      return lines(place, response, signal);
    },
  };
}

/** The first of the sockets at which an agent answers; throws a `NodeFailure` that names the places tried. */
export async function findAgent(paths: readonly string[], processAt?: Place['processAt']): Promise<AgentClient> {
  let forbidden: string | undefined;
  for (const path of paths) {
    try {
      if (await isAnswering(path)) return agentClient(path, { processAt });
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EACCES')) throw cause;
      forbidden = path;
    }
  }
  const places = paths.join(' or ');
  const message = forbidden
    ? `permission denied on the agent's socket ${forbidden}: only its owner may use it, try again as root`
    : `no agent is running at ${places}; start one with "statelet up", or say where it is with --root-dir or --state-dir`;
  throw new NodeFailure('NoAgent', message);
}
