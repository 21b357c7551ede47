import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Client } from './upgradeClient.ts';

/** Opens a client's WebSocket, with the protocol that it has offered; rejects when it does not come to that. */
export function acceptWebSocket({ request, socket, head, signal }: Client, protocol: string): Promise<WebSocket> {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  // Kubernetes has names of protocols that are none by RFC 6455, and so the package refuses them.
  const { 'sec-websocket-protocol': _, ...headers } = request.headers;
  server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  const asked: IncomingMessage = Object.create(request, { headers: { value: headers } });
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  const leave = () => reject(new Error('the client has gone'));
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  server.handleUpgrade(asked, socket, head, resolve);
  return promise.finally(() => signal.removeEventListener('abort', leave));
}
