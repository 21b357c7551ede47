/** Passes a client's upgrade on to a streaming server of the runtime (`apimachinery/pkg/util/proxy/upgradeaware.go`). */
import { request as ask, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { startLimit } from '../../base/limit.ts';
import { ResetWatch } from '../../host/connectionGuard.ts';
import { stripTokens } from '../access/offered.ts';
import type { Exchange, Upgrade } from '../exchange.ts';
import { join } from './join.ts';
import { errorLine } from './refusal.ts';

/** A streaming server is on the same host: it may take so long to answer, in milliseconds. */
const DIAL_MS = 30_000;

/** A refusal of it may take so long to be passed on, in milliseconds. */
const REFUSAL_MS = 10_000;

interface RelayParts {
  readonly clock: Clock;
  /** Called when both sides are joined; what it gives, when that is over. */
  readonly onJoined: () => () => void;
}

/** Relays until one side has ended; rejects with a `Refusal` where it does not come to that. */
export async function relay(exchange: Exchange, upgrade: Upgrade, place: URL, parts: RelayParts): Promise<void> {
  const { response, socket, head } = await dialled(exchange.signal, upgrade, place);
  if (socket === undefined) return await passRefusal(exchange.signal, upgrade, response);
  upgrade.socket.write(headOf(response));
  if (head.length > 0) socket.unshift(head);
  if (upgrade.head.length > 0) upgrade.socket.unshift(upgrade.head);
  const end = parts.onJoined();
  try {
    await join(upgrade.socket, socket, { clock: parts.clock, signal: exchange.signal });
  } finally {
    end();
  }
}

interface Dialled {
  readonly response: IncomingMessage;
  /** Absent: it is refused. */
  readonly socket?: Duplex;
  readonly head: Buffer;
}

async function dialled(signal: AbortSignal, upgrade: Upgrade, place: URL): Promise<Dialled> {
  const limit = startLimit(DIAL_MS);
  const asked = asking(upgrade, place);
  const drop = () => asked.destroy(new Error(`it has not answered within ${DIAL_MS / 1_000} s`));
  const leave = () => asked.destroy();
  limit.signal.addEventListener('abort', drop);
  signal.addEventListener('abort', leave);
  try {
    signal.throwIfAborted();
    return await answerTo(asked);
  } catch (error) {
    throw errorLine(500, `the streaming server of the runtime cannot be used: ${messageOf(error)}`);
  } finally {
    limit.end();
    limit.signal.removeEventListener('abort', drop);
    signal.removeEventListener('abort', leave);
  }
}

const runtimeConnections = new ResetWatch();

function asking({ request, response: { socket } }: Upgrade, place: URL): ClientRequest {
  const host = place.hostname.replaceAll(/[[\]]/g, '');
  const asked = ask(place, {
    method: request.method,
    agent: false,
    setHost: false,
    createConnection: () => {
      const connection = connect({ host, port: Number(place.port || 80), allowHalfOpen: true, noDelay: true });
      // A connection that nobody reads because the client is slow would not notice that the runtime has reset it.
      connection.once('connect', () => runtimeConnections.add(connection));
      return connection;
    },
  });
  for (const [name, values] of headersFor(request, request.socket?.remoteAddress ?? socket?.remoteAddress))
    asked.setHeader(name, values);
  return asked;
}

/** What is about this connection alone. */
const OURS = new Set(['content-length', 'expect', 'transfer-encoding']);
const FORWARDED = 'x-forwarded-for';

/** All that was sent, by the names as they were written, and who it was; but no tokens, which are for us alone. */
function headersFor(request: IncomingMessage, from = ''): ReadonlyMap<string, string[]> {
  stripTokens(request);
  const { rawHeaders } = request;
  const headers = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    if (OURS.has(key)) continue;
    const known = headers.get(key) ?? { name, values: [] };
    known.values.push(value);
    headers.set(key, known);
  }
  const before = headers.get(FORWARDED)?.values ?? [];
  headers.set(FORWARDED, { name: 'X-Forwarded-For', values: [[...before, from].join(', ')] });
  headers.set('content-length', { name: 'Content-Length', values: ['0'] });
  return new Map([...headers.values()].map(({ name, values }) => [name, values]));
}

function answerTo(asked: ClientRequest): Promise<Dialled> {
  const { promise, resolve, reject } = Promise.withResolvers<Dialled>();
  asked.on('error', reject);
  asked.on('upgrade', (response, socket, head) => resolve({ response, socket, head }));
  asked.on('response', (response) => resolve({ response, head: Buffer.alloc(0) }));
  asked.end();
  return promise;
}

/** The head of the answer, as it came. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const FIRST_ERROR = 400;
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

async function passRefusal(signal: AbortSignal, { response: out }: Upgrade, refused: IncomingMessage): Promise<void> {
  const { statusCode = 0, statusMessage = '', rawHeaders } = refused;
  if (statusCode < FIRST_ERROR) {
    refused.destroy();
    throw errorLine(500, `invalid upgrade response: status code ${statusCode}`);
  }
  const limit = startLimit(REFUSAL_MS);
  const headers = rawHeaders.flatMap((text, at) =>
    at % 2 === 0 && !OF_CONNECTION.has(text.toLowerCase()) ? [text, rawHeaders[at + 1] ?? ''] : [],
  );
  out.writeHead(statusCode, statusMessage, headers);
  await pipeline(refused, out, { signal: AbortSignal.any([signal, limit.signal]) }).finally(() => limit.end());
}
