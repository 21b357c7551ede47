/** Serves routes of the node's server over HTTP or HTTPS to any client. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { guardConnections } from '../../../../host/connectionGuard.ts';
import type { Route, Upgrade } from '../../../../kubelet-api/exchange.ts';

interface ServedRoutes {
  readonly port: number;
  readonly url: string;
  /** The errors with which routes rejected. */
  readonly failures: readonly unknown[];
  /** The method, path and user of each request. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Serves on loopback until it is closed, over TLS if a key and a certificate are given. */
export async function servedRoutes(
  routes: readonly Route[],
  tls?: { readonly key: string; readonly cert: string; readonly ca: string },
): Promise<ServedRoutes> {
  const failures: unknown[] = [];
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => {
    asked.push(`${request.method} ${request.url}`);
    void answered(routes, request, response, upgrade).catch((error: unknown) => {
      failures.push(error);
      request.socket.destroy();
    });
  };
  const secure = tls && { ...tls, requestCert: true, rejectUnauthorized: true };
  const server: Server = secure ? createSecureServer(secure) : createServer();
  guardConnections(server, { maxConnections: 1_000 });
  server.on('request', answer);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    answer(request, response, { request, response, socket, head });
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http${tls ? 's' : ''}://127.0.0.1:${port}`,
    failures,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answered(
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
  upgrade: Upgrade | undefined,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://node');
  const route = routes.find(({ pathPrefix, methods = [request.method] }) => {
    return url.pathname.startsWith(`${pathPrefix}/`) && methods.includes(request.method ?? '');
  });
  if (route === undefined) return void response.writeHead(404).end();
  const gone = new AbortController();
  request.socket.on('close', () => gone.abort());
  const caller = { name: 'tester', groups: [], extra: new Map() };
  await route.handle({ request, response, url, caller, signal: gone.signal, ...(upgrade && { upgrade }) });
}
