/** Passes on to nodes what is to become a connection of another protocol (`registry/core/pod/rest/subresources.go`). */
import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failed, PLAIN_JSON } from '../answers.ts';
import type { Forward } from '../connect/forward.ts';
import { internalError } from '../failures.ts';
import { headersFor } from './forwarding.ts';
import { joined } from './joined.ts';
import type { AskNode, NodeAnswer } from './nodeClient.ts';

export interface Client {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What has come behind the request. */
  readonly head: Buffer;
  /** Aborts when it has gone. */
  readonly signal: AbortSignal;
}

const COMMAND = 'v5.channel.k8s.io';
const TUNNEL = 'SPDY/3.1+portforward.k8s.io';

/** Joins a client with a node, in the words of both. */
export async function passUpgrade(askNode: AskNode, forward: Forward, client: Client): Promise<void> {
  const { headers } = client.request;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(/ *, */);
  const isTranslated = headers.upgrade?.toLowerCase() === 'websocket' && !forward.node.speaksWebSockets;
  if (isTranslated && forward.streams !== undefined && offered.includes(COMMAND)) {
    const { translateCommand } = await import('./translateCommand.ts');
    return await translateCommand(askNode, forward, client, COMMAND);
  }
  if (isTranslated && forward.kind === 'portforward' && offered.includes(TUNNEL)) {
    const { tunnelPorts } = await import('./tunnelPorts.ts');
    return await tunnelPorts(askNode, forward, client, TUNNEL);
  }
  const { request, signal } = client;
  const more: OutgoingHttpHeaders = { connection: 'Upgrade', upgrade: headers.upgrade ?? '', 'content-length': 0 };
  const own = headersFor({ ...headers, ...repeated(request) }, request.socket.remoteAddress, more);
  const asked = { method: request.method ?? 'GET', path: forward.path, headers: own, signal };
  const answered = await reached(askNode, forward, asked, client);
  if (answered === undefined) return;
  const { response, socket, head } = answered;
  if (socket === undefined) return await passRefusal(response, client);
  const lines = [`HTTP/1.1 101 ${response.statusMessage}`];
  for (let at = 0; at < response.rawHeaders.length; at += 2)
    lines.push(`${response.rawHeaders[at]}: ${response.rawHeaders[at + 1]}`);
  client.socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  if (client.head.length > 0) client.socket.unshift(client.head);
  await joined(client.socket, socket);
}

/** A header that is given several times is joined by Node.js, where a node wants one line for each. */
const repeated = ({ headersDistinct }: IncomingMessage): Record<string, string[]> => {
  const versions = headersDistinct['x-stream-protocol-version'];
  return versions === undefined ? {} : { 'x-stream-protocol-version': versions };
};

/** Undefined: the node cannot be reached, which the client is told. */
export async function reached(
  askNode: AskNode,
  { node }: Forward,
  asked: Parameters<AskNode>[1],
  client: Client,
): Promise<NodeAnswer | undefined> {
  try {
    return await askNode(node, asked);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell(client, failed(internalError(`error dialing backend: ${why}`), PLAIN_JSON));
    return undefined;
  }
}

/** Tells a client what it is refused with. */
export function tell(
  { request, socket }: Client,
  answer: { readonly code: number; readonly headers: ReadonlyMap<string, string>; readonly body?: unknown },
): void {
  const response = responseOf(request, socket);
  response.writeHead(answer.code, Object.fromEntries(answer.headers));
  response.end('body' in answer ? answer.body : '');
}

/** Passes a node's refusal on as it is. */
export async function passRefusal(refused: IncomingMessage, { request, socket }: Client): Promise<void> {
  const response = responseOf(request, socket);
  const { 'content-type': type = 'text/plain; charset=utf-8' } = refused.headers;
  response.writeHead(refused.statusCode ?? 500, { 'content-type': type });
  refused.pipe(response);
  await new Promise<void>((resolve) => response.once('close', resolve));
}

function responseOf(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Of an upgraded connection it is one.
  response.assignSocket(socket as IncomingMessage['socket']);
  response.once('finish', () => socket.end());
  return response;
}
