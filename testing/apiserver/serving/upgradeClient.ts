/** A client that requests a protocol upgrade. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failed, PLAIN_JSON } from '../answers.ts';
import type { Forward } from '../connect/forward.ts';
import { internalError } from '../failures.ts';
import type { AskNode, NodeAnswer } from './nodeClient.ts';

export interface Client {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** The bytes received after the request. */
  readonly head: Buffer;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Connects to the node. Undefined if it cannot be reached, after reporting that to the client. */
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

/** Sends a response that rejects the upgrade. */
export function tell(
  { request, socket }: Client,
  answer: { readonly code: number; readonly headers: ReadonlyMap<string, string>; readonly body?: unknown },
): void {
  const response = responseOf(request, socket);
  response.writeHead(answer.code, Object.fromEntries(answer.headers));
  response.end('body' in answer ? answer.body : '');
}

/** Forwards a node's error response unchanged. */
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
  // The socket of an upgrade request is a network socket.
  response.assignSocket(socket as IncomingMessage['socket']);
  response.once('finish', () => socket.end());
  return response;
}

export const spdyHeaders = (protocols: readonly string[]) => ({
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'content-length': 0,
  'x-stream-protocol-version': [...protocols],
});
