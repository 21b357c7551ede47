/** Upgrades HTTP connections to SPDY/3.1, negotiating the protocol of the streams. */
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { ResetWatcher } from '../../host/connectionGuard.ts';
import { SpdyConnection, type SpdyOptions } from './spdyConnection.ts';

const SPDY_PROTOCOL = 'SPDY/3.1';
const PROTOCOL_HEADER = 'X-Stream-Protocol-Version';
const ACCEPTED_HEADER = 'X-Accepted-Stream-Protocol-Versions';

/** Maximum length of a refusal message that is reported. Longer messages are truncated. */
const MAX_REFUSAL_LENGTH = 4 * 1024;

/** Options for connecting to a streaming server. */
export interface DialOptions {
  /** Supported protocols, in order of preference. */
  readonly protocols: readonly string[];
  readonly signal: AbortSignal;
  /** Time limit in milliseconds for the server's response. */
  readonly timeoutMs: number;
}

/** A connection and the negotiated protocol. */
export interface DialResult {
  readonly connection: SpdyConnection;
  readonly protocol: string;
}

/** Connects to a streaming server. Rejects with the server's message if the server refuses. */
export async function dialSpdy(url: URL, { protocols, signal, timeoutMs }: DialOptions): Promise<DialResult> {
  const timeLimit = startTimeLimit(timeoutMs);
  const combinedSignal = AbortSignal.any([signal, timeLimit.signal]);
  try {
    const { response, socket, head } = await dialUpgrade(url, protocols, combinedSignal);
    const protocol = response.headers['x-stream-protocol-version'];
    const negotiatedProtocol = protocols.find((candidate) => candidate === protocol);
    if (negotiatedProtocol === undefined || response.headers.upgrade?.toLowerCase() !== SPDY_PROTOCOL.toLowerCase()) {
      socket.destroy();
      throw dialFailure(
        `it speaks ${protocol ?? 'no protocol'}, expected ${protocols.join(' or ')} over ${SPDY_PROTOCOL}`,
      );
    }
    if (head.length > 0) socket.unshift(head);
    return { connection: new SpdyConnection(socket, { role: 'client' }), protocol: negotiatedProtocol };
  } catch (error) {
    if (signal.aborted) throw new NodeFailure('Cancelled', 'the streaming connection was cancelled', { cause: error });
    throw timeLimit.signal.aborted ? dialFailure(`it has not answered within ${timeoutMs / 1_000} s`) : error;
  } finally {
    timeLimit.clear();
  }
}

const dialFailure = (reason: string, cause?: unknown): NodeFailure =>
  new NodeFailure('StreamFailed', `the streaming server of the runtime cannot be used: ${reason}`, { cause });

export interface UpgradeResult {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes received after the response. */
  readonly head: Buffer;
}

/**
 * Detects connections that the streaming server has reset while a slow client prevents reading from them. Each
 * connection to a streaming server is added here when it is established.
 */
export const streamingConnections = new ResetWatcher();

/** Requests an upgrade to SPDY from a streaming server. Rejects with the server's message if the server refuses. */
export function dialUpgrade(url: URL, protocols: readonly string[], signal: AbortSignal): Promise<UpgradeResult> {
  const { promise, resolve, reject } = Promise.withResolvers<UpgradeResult>();
  const headers: OutgoingHttpHeaders = {
    Connection: 'Upgrade',
    Upgrade: SPDY_PROTOCOL,
    [PROTOCOL_HEADER]: [...protocols],
  };
  const upgradeRequest = request(url, { method: 'POST', headers, agent: false, signal });
  upgradeRequest.once('socket', (socket) => socket.once('connect', () => streamingConnections.add(socket)));
  upgradeRequest.on('error', (error) => reject(dialFailure(messageOf(error), error)));
  upgradeRequest.on('upgrade', (response, socket, head) => {
    // Ignore errors of the request from here on, because the connection reports its own errors.
    upgradeRequest.removeAllListeners('error').on('error', () => {});
    resolve({ response, socket, head });
  });
  upgradeRequest.on('response', (response) => {
    const { statusCode, statusMessage } = response;
    readRefusalMessage(response).then(
      (text) => reject(dialFailure(`${statusCode} ${statusMessage ?? ''}: ${text}`)),
      (error: unknown) => reject(dialFailure(messageOf(error), error)),
    );
  });
  upgradeRequest.end();
  return promise;
}

async function readRefusalMessage(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_REFUSAL_LENGTH) break;
  }
  return text.slice(0, MAX_REFUSAL_LENGTH).trim();
}

/** Options for accepting connections as a server. */
export interface AcceptOptions {
  /** Supported protocols. The client's order of preference determines which one is used. */
  readonly protocols: readonly string[];
  readonly onStream: NonNullable<SpdyOptions['onStream']>;
}

/**
 * Handles an `upgrade` event of a Node.js server that requests SPDY. Refuses invalid requests with the same responses
 * as the kubelet, and returns undefined for them.
 */
export function acceptSpdy(request: IncomingMessage, socket: Duplex, head: Buffer, options: AcceptOptions) {
  const requestedProtocols = (request.headersDistinct['x-stream-protocol-version'] ?? []).flatMap((each) =>
    each.split(/ *, */),
  );
  const protocol = requestedProtocols.find((candidate) => options.protocols.includes(candidate));
  if (request.headers.upgrade?.toLowerCase() !== SPDY_PROTOCOL.toLowerCase())
    return refuseUpgrade(socket, '400 Bad Request', `unable to upgrade: expected ${SPDY_PROTOCOL}`);
  if (requestedProtocols.length === 0)
    return refuseUpgrade(socket, '400 Bad Request', `unable to upgrade: ${PROTOCOL_HEADER} is required`);
  if (protocol === undefined) {
    const acceptedHeaders = options.protocols.map((each) => `${ACCEPTED_HEADER}: ${each}`);
    const message = `unable to upgrade: unable to negotiate protocol: client supports [${requestedProtocols.join(' ')}], server accepts [${options.protocols.join(' ')}]`;
    return refuseUpgrade(socket, '403 Forbidden', message, acceptedHeaders);
  }
  const headerLines = ['Connection: Upgrade', `Upgrade: ${SPDY_PROTOCOL}`, `${PROTOCOL_HEADER}: ${protocol}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  return { connection: new SpdyConnection(socket, { role: 'server', onStream: options.onStream }), protocol };
}

function refuseUpgrade(socket: Duplex, status: string, message: string, headers: readonly string[] = []): undefined {
  const body = `${message}\n`;
  const headerLines = [
    ...headers,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`HTTP/1.1 ${status}\r\n${[...headerLines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  return undefined;
}
