/**
 * Relays a client's upgraded connection to the runtime's streaming server
 * (`apimachinery/pkg/util/proxy/upgradeaware.go`).
 */
import { type ClientRequest, type IncomingMessage, request as sendHttpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { streamingConnections } from '../../cri/streaming/upgrade.ts';
import { stripTokens } from '../access/offered.ts';
import type { Exchange, Upgrade } from '../exchange.ts';
import { joinStreams } from './join.ts';
import { createErrorRefusal } from './refusal.ts';

/** Timeout in milliseconds for a response from the streaming server, which runs on the same host. */
const DIAL_TIMEOUT_MS = 30_000;

/** Timeout for relaying the body of an error response, in milliseconds. */
const REFUSAL_TIMEOUT_MS = 10_000;

interface RelayOptions {
  readonly clock: Clock;
  /** Called once both sides are connected. The returned function is called when the connection has ended. */
  readonly onJoined: () => () => void;
}

/**
 * Relays the client's connection until one side closes. Rejects with a `Refusal` if the connection to the runtime
 * cannot be established.
 */
export async function relayStreams(
  exchange: Exchange,
  upgrade: Upgrade,
  runtimeUrl: URL,
  options: RelayOptions,
): Promise<void> {
  const { response, socket, head } = await dialRuntime(exchange.signal, upgrade, runtimeUrl);
  if (socket === undefined) return await relayRefusal(exchange.signal, upgrade, response);
  upgrade.socket.write(serializeHead(response));
  if (head.length > 0) socket.unshift(head);
  if (upgrade.head.length > 0) upgrade.socket.unshift(upgrade.head);
  const reportEnd = options.onJoined();
  try {
    await joinStreams(upgrade.socket, socket, { clock: options.clock, signal: exchange.signal });
  } finally {
    reportEnd();
  }
}

interface DialResult {
  readonly response: IncomingMessage;
  /** Undefined if the server refused the upgrade. */
  readonly socket?: Duplex;
  readonly head: Buffer;
}

async function dialRuntime(signal: AbortSignal, upgrade: Upgrade, runtimeUrl: URL): Promise<DialResult> {
  const limit = startTimeLimit(DIAL_TIMEOUT_MS);
  const request = createRequest(upgrade, runtimeUrl);
  const onTimeout = () => request.destroy(new Error(`it has not answered within ${DIAL_TIMEOUT_MS / 1_000} s`));
  const onDisconnect = () => request.destroy();
  limit.signal.addEventListener('abort', onTimeout);
  signal.addEventListener('abort', onDisconnect);
  try {
    signal.throwIfAborted();
    return await awaitResponse(request);
  } catch (error) {
    throw createErrorRefusal(500, `the streaming server of the runtime cannot be used: ${messageOf(error)}`);
  } finally {
    limit.clear();
    limit.signal.removeEventListener('abort', onTimeout);
    signal.removeEventListener('abort', onDisconnect);
  }
}

function createRequest({ request, response: { socket } }: Upgrade, url: URL): ClientRequest {
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const runtimeRequest = sendHttpRequest(url, {
    method: request.method,
    setHost: false,
    // Do not set the option `agent` as well, because Node.js would then ignore this function.
    createConnection: () => {
      const connection = connect({ host, port: Number(url.port || 80), allowHalfOpen: true, noDelay: true });
      connection.once('connect', () => streamingConnections.add(connection));
      return connection;
    },
  });
  for (const [name, values] of buildHeaders(request, request.socket?.remoteAddress ?? socket?.remoteAddress))
    runtimeRequest.setHeader(name, values);
  return runtimeRequest;
}

/** Headers that are not forwarded, because they apply only to the client's connection. */
const CONNECTION_HEADERS = new Set(['content-length', 'expect', 'transfer-encoding']);
const FORWARDED_FOR_HEADER = 'x-forwarded-for';

/**
 * Copies the client's headers with their original case, adds the client's address, and removes tokens, which are only
 * meant for this server.
 */
function buildHeaders(request: IncomingMessage, from = ''): ReadonlyMap<string, string[]> {
  stripTokens(request);
  const { rawHeaders } = request;
  const headers = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    if (CONNECTION_HEADERS.has(key)) continue;
    const existingHeader = headers.get(key) ?? { name, values: [] };
    existingHeader.values.push(value);
    headers.set(key, existingHeader);
  }
  const forwardedAddresses = headers.get(FORWARDED_FOR_HEADER)?.values ?? [];
  headers.set(FORWARDED_FOR_HEADER, { name: 'X-Forwarded-For', values: [[...forwardedAddresses, from].join(', ')] });
  headers.set('content-length', { name: 'Content-Length', values: ['0'] });
  return new Map([...headers.values()].map(({ name, values }) => [name, values]));
}

function awaitResponse(clientRequest: ClientRequest): Promise<DialResult> {
  const { promise, resolve, reject } = Promise.withResolvers<DialResult>();
  clientRequest.on('error', reject);
  clientRequest.on('upgrade', (response, socket, head) => resolve({ response, socket, head }));
  clientRequest.on('response', (response) => resolve({ response, head: Buffer.alloc(0) }));
  clientRequest.end();
  return promise;
}

/** Serializes the status line and headers of the response without changing them. */
function serializeHead({ statusCode, statusMessage, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const FIRST_ERROR_CODE = 400;
const HOP_BY_HOP_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);

async function relayRefusal(
  signal: AbortSignal,
  { response: out }: Upgrade,
  refusedResponse: IncomingMessage,
): Promise<void> {
  const { statusCode = 0, statusMessage = '', rawHeaders } = refusedResponse;
  if (statusCode < FIRST_ERROR_CODE) {
    refusedResponse.destroy();
    throw createErrorRefusal(500, `invalid upgrade response: status code ${statusCode}`);
  }
  const limit = startTimeLimit(REFUSAL_TIMEOUT_MS);
  const headers = rawHeaders.flatMap((text, at) =>
    at % 2 === 0 && !HOP_BY_HOP_HEADERS.has(text.toLowerCase()) ? [text, rawHeaders[at + 1] ?? ''] : [],
  );
  out.writeHead(statusCode, statusMessage, headers);
  await pipeline(refusedResponse, out, { signal: AbortSignal.any([signal, limit.signal]) }).finally(() =>
    limit.clear(),
  );
}
