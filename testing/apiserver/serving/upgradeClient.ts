/** A client that requests a protocol upgrade. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Forward } from '../connect/forward.ts';
import { internalError } from '../failures/failures.ts';
import { errorResponse, PLAIN_JSON } from '../responses/responses.ts';
import type { NodeResponse, SendToNode } from './nodeClient.ts';

export interface Client {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** The bytes received after the request's headers. */
  readonly head: Buffer;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Connects to the node. If it cannot be reached, reports that to the client and returns undefined. */
export async function connectToNode(
  sendToNode: SendToNode,
  { node }: Forward,
  nodeRequest: Parameters<SendToNode>[1],
  client: Client,
): Promise<NodeResponse | undefined> {
  try {
    return await sendToNode(node, nodeRequest);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    sendResponse(client, errorResponse(internalError(`error dialing backend: ${why}`), PLAIN_JSON));
    return undefined;
  }
}

/** Sends a response that rejects the upgrade. */
export function sendResponse(
  { request, socket }: Client,
  answer: { readonly code: number; readonly headers: ReadonlyMap<string, string>; readonly body?: unknown },
): void {
  const response = responseOf(request, socket);
  response.writeHead(answer.code, Object.fromEntries(answer.headers));
  response.end('body' in answer ? answer.body : '');
}

/** Forwards a node's error response unchanged. */
export async function forwardResponse(refused: IncomingMessage, { request, socket }: Client): Promise<void> {
  const response = responseOf(request, socket);
  const { 'content-type': type = 'text/plain; charset=utf-8' } = refused.headers;
  response.writeHead(refused.statusCode ?? 500, { 'content-type': type });
  refused.pipe(response);
  await new Promise<void>((resolve) => response.once('close', resolve));
}

function responseOf(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Safe cast, because the socket of an upgrade request is a network socket.
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
