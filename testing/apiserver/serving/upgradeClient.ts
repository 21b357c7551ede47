/** A client whose connection is to become one of another protocol, and how it is refused that. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failed, PLAIN_JSON } from '../answers.ts';
import type { Forward } from '../connect/forward.ts';
import { internalError } from '../failures.ts';
import type { AskNode, NodeAnswer } from './nodeClient.ts';

export interface Client {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What has come behind the request. */
  readonly head: Buffer;
  /** Aborts when it has gone. */
  readonly signal: AbortSignal;
}

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

/** The headers that ask for SPDY. */
export const spdyHeaders = (protocols: readonly string[]) => ({
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'content-length': 0,
  'x-stream-protocol-version': [...protocols],
});
