/** The way to SPDY/3.1: an HTTP request that asks for it, with the protocols that are to be spoken over its streams. */
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { startLimit } from '../../base/limit.ts';
import { SpdyConnection, type SpdyOptions } from './spdyConnection.ts';

const SPDY = 'SPDY/3.1';
const PROTOCOL_HEADER = 'X-Stream-Protocol-Version';
const ACCEPTED_HEADER = 'X-Accepted-Stream-Protocol-Versions';

/** So much of a refusal is told. */
const REFUSAL_BYTES = 4 * 1024;

/** How a streaming server is dialled. */
export interface DialOptions {
  /** Those that this side speaks, the best one first. */
  readonly protocols: readonly string[];
  readonly signal: AbortSignal;
  /** How long the server may take, in milliseconds. */
  readonly limitMs: number;
}

/** A connection, and which of the protocols is spoken on it. */
export interface Dialled {
  readonly connection: SpdyConnection;
  readonly protocol: string;
}

/** Dials a streaming server; rejects with its words when it refuses. */
export async function dialSpdy(url: URL, { protocols, signal, limitMs }: DialOptions): Promise<Dialled> {
  const limit = startLimit(limitMs);
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    const { response, socket, head } = await dialUpgrade(url, protocols, either);
    const protocol = response.headers['x-stream-protocol-version'];
    const spoken = protocols.find((each) => each === protocol);
    if (spoken === undefined || response.headers.upgrade?.toLowerCase() !== SPDY.toLowerCase()) {
      socket.destroy();
      throw failed(`it speaks ${protocol ?? 'no protocol'}, expected ${protocols.join(' or ')} over ${SPDY}`);
    }
    if (head.length > 0) socket.unshift(head);
    return { connection: new SpdyConnection(socket, { side: 'client' }), protocol: spoken };
  } catch (error) {
    if (signal.aborted) throw new NodeFailure('Cancelled', 'the streaming connection was cancelled', { cause: error });
    throw limit.signal.aborted ? failed(`it has not answered within ${limitMs / 1_000} s`) : error;
  } finally {
    limit.end();
  }
}

const failed = (why: string, cause?: unknown): NodeFailure =>
  new NodeFailure('StreamFailed', `the streaming server of the runtime cannot be used: ${why}`, { cause });

export interface Upgraded {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  /** What has come behind the response. */
  readonly head: Buffer;
}

/** Requests SPDY of a streaming server; rejects with the server's words when it refuses. */
export function dialUpgrade(url: URL, protocols: readonly string[], signal: AbortSignal): Promise<Upgraded> {
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded>();
  const headers: OutgoingHttpHeaders = { Connection: 'Upgrade', Upgrade: SPDY, [PROTOCOL_HEADER]: [...protocols] };
  const asked = request(url, { method: 'POST', headers, agent: false, signal });
  asked.on('error', (error) => reject(failed(messageOf(error), error)));
  asked.on('upgrade', (response, socket, head) => {
    // The connection tells of its own.
    asked.removeAllListeners('error').on('error', () => {});
    resolve({ response, socket, head });
  });
  asked.on('response', (response) => {
    const { statusCode, statusMessage } = response;
    refusalOf(response).then(
      (text) => reject(failed(`${statusCode} ${statusMessage ?? ''}: ${text}`)),
      (error: unknown) => reject(failed(messageOf(error), error)),
    );
  });
  asked.end();
  return promise;
}

async function refusalOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > REFUSAL_BYTES) break;
  }
  return text.slice(0, REFUSAL_BYTES).trim();
}

/** What a server does with those who dial it. */
export interface AcceptOptions {
  /** Those that it speaks; which of them is spoken is up to the client. */
  readonly protocols: readonly string[];
  readonly onStream: NonNullable<SpdyOptions['onStream']>;
}

/**
 * Answers a request that asks for SPDY, as the event `upgrade` of a server of Node.js has it. Undefined when it was refused,
 * with the words of a kubelet.
 */
export function acceptSpdy(asked: IncomingMessage, socket: Duplex, head: Buffer, options: AcceptOptions) {
  const wanted = (asked.headersDistinct['x-stream-protocol-version'] ?? []).flatMap((each) => each.split(/ *, */));
  const protocol = wanted.find((each) => options.protocols.includes(each));
  if (asked.headers.upgrade?.toLowerCase() !== SPDY.toLowerCase())
    return refuse(socket, '400 Bad Request', `unable to upgrade: expected ${SPDY}`);
  if (wanted.length === 0)
    return refuse(socket, '400 Bad Request', `unable to upgrade: ${PROTOCOL_HEADER} is required`);
  if (protocol === undefined) {
    const offered = options.protocols.map((each) => `${ACCEPTED_HEADER}: ${each}`);
    const message = `unable to upgrade: unable to negotiate protocol: client supports [${wanted.join(' ')}], server accepts [${options.protocols.join(' ')}]`;
    return refuse(socket, '403 Forbidden', message, offered);
  }
  const lines = ['Connection: Upgrade', `Upgrade: ${SPDY}`, `${PROTOCOL_HEADER}: ${protocol}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  return { connection: new SpdyConnection(socket, { side: 'server', onStream: options.onStream }), protocol };
}

function refuse(socket: Duplex, status: string, message: string, headers: readonly string[] = []): undefined {
  const body = `${message}\n`;
  const lines = [...headers, 'Content-Type: text/plain; charset=utf-8', `Content-Length: ${Buffer.byteLength(body)}`];
  socket.end(`HTTP/1.1 ${status}\r\n${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  return undefined;
}
