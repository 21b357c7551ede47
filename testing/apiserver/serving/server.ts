/** Serves the API over HTTP/2 and HTTP/1.1. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import { connectionLimit, guardConnections } from '../../../host/connectionGuard.ts';
import type { Api } from '../api.ts';
import { isProtobuf } from '../requests/mediaTypes.ts';
import type { ApiRequest, ApiResponse, User } from '../requests/request.ts';
import { forward, headersFor, type Sink } from './forwarding.ts';
import type { SendToNode } from './nodeClient.ts';
import { type Client, sendResponse } from './upgradeClient.ts';
import { forwardUpgrade } from './upgrades.ts';

export interface ServeOptions {
  /** 0 selects any free port. */
  readonly port?: number;
  /** PEM. Without it, the server uses plain HTTP/1.1. */
  readonly tls?: {
    readonly key: string;
    readonly cert: string;
    /** The CA of client certificates, whose common name is the user and whose organizations are the groups. */
    readonly clientCa?: string;
  };
  /** Maximum number of concurrent requests per HTTP/2 connection. */
  readonly maxConcurrentStreams?: number;
  /** Sends requests to nodes. Without it, nothing is forwarded. */
  readonly sendToNode?: SendToNode;
}

export interface RunningServer {
  readonly port: number;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}

/** The kube-apiserver's default of `http2-max-streams-per-connection`. */
const STREAMS = 100;

/**
 * Size limit of a request's target and headers over HTTP/1.1, in bytes (`DefaultMaxHeaderBytes` of `net/http` in Go).
 * The target of `kubectl exec` contains the whole command.
 */
const MAX_HEADER_BYTES = 1 << 20;

/** Maximum number of connections. The nodes of a benchmark need a few thousand. */
const MAX_CONNECTIONS = 65_536;

/** Starts a server on the loopback interface. */
export async function serve(
  api: Api,
  { port = 0, tls, maxConcurrentStreams = STREAMS, sendToNode }: ServeOptions = {},
): Promise<RunningServer> {
  const listener = (request: Incoming, response: Outgoing) => void handleRequest(api, request, response, sendToNode);
  const { clientCa, ...pair } = tls ?? {};
  const secure = {
    ...pair,
    allowHTTP1: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    settings: { maxConcurrentStreams },
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
  };
  const server: Server =
    tls === undefined
      ? createServer({ maxHeaderSize: MAX_HEADER_BYTES }, listener)
      : createSecureServer(secure, listener);
  guardConnections(server, { maxConnections: connectionLimit(MAX_CONNECTIONS) });
  if (sendToNode !== undefined)
    server.on(
      'upgrade',
      (...upgradeRequest: [IncomingMessage, Socket, Buffer]) => void upgrade(api, upgradeRequest, sendToNode),
    );
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done, fail) => void server.once('error', fail).listen(port, '127.0.0.1', done));
  return {
    port: portOf(server.address()),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0;

/** The common part of requests of both protocols. */
interface Incoming extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  /** HTTP/2 only. Each request has its own socket, and the session represents the connection. */
  readonly stream?: { readonly session?: object | undefined };
}

interface Outgoing extends Sink {
  destroy(error?: Error): unknown;
}

/** A shared error, because creating a stack trace for each request would take as long as a short response. */
const CLIENT_DISCONNECTED = new Error('the client has gone');

/** Handles a request. The connection is cut if there is no response. */
async function handleRequest(api: Api, request: Incoming, response: Outgoing, sendToNode?: SendToNode): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(CLIENT_DISCONNECTED));
  try {
    const apiRequest = await read(request, api.registry.clock.now());
    let answer: ApiResponse | undefined = await api.respond(apiRequest);
    if (sendToNode !== undefined && 'forward' in answer && answer.forward !== undefined) {
      const { method, body } = apiRequest;
      const headers = headersFor(request.headers, request.socket.remoteAddress);
      answer = await forward(sendToNode, answer.forward, { method, body, headers, signal: gone.signal }, response);
    }
    // A watch for a client that has disconnected would never stop, so do not start one.
    if (answer !== undefined && !gone.signal.aborted) send(answer, request.method === 'HEAD', response);
  } catch (cause) {
    response.destroy(new Error('the answer was cut', { cause }));
  }
}

/** Forwards an upgrade request, or responds with an error. */
async function upgrade(api: Api, [request, socket, head]: [IncomingMessage, Socket, Buffer], sendToNode: SendToNode) {
  const gone = new AbortController();
  socket.on('error', () => {}).once('close', () => gone.abort(CLIENT_DISCONNECTED));
  const client: Client = { request, socket, head, signal: gone.signal };
  try {
    const answer = await api.respond(readHead(request, '', api.registry.clock.now()));
    if (!('forward' in answer) || answer.forward === undefined) return sendResponse(client, answer);
    await forwardUpgrade(sendToNode, answer.forward, client);
  } catch {
    socket.destroy();
  }
}

async function read(request: Incoming, now: number): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks);
  return readHead(request, isProtobuf(request.headers['content-type']) ? body : body.toString(), now);
}

function readHead(
  request: Omit<Incoming, keyof AsyncIterable<unknown>>,
  body: string | Buffer,
  now: number,
): ApiRequest {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const { user, hasInvalidCertificate } = certificateUser(request, now);
  return {
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    headers: new Map(headers),
    body,
    ...(user === undefined ? {} : { user }),
    hasInvalidCertificate,
  };
}

/** The certificates of connections, cached because reading one takes longer than many requests. */
const certificates = new WeakMap<object, PeerCertificate>();

function certificateOf(socket: TLSSocket, connection: object): PeerCertificate {
  const shown = certificates.get(connection) ?? socket.getPeerCertificate();
  certificates.set(connection, shown);
  return shown;
}

/**
 * Returns the user of a verified client certificate. Its expiry is checked on each request, because the connection may
 * outlive it.
 */
function certificateUser(
  { socket, stream }: Pick<Incoming, 'socket' | 'stream'>,
  now: number,
): { readonly user?: User; readonly hasInvalidCertificate: boolean } {
  if (!(socket instanceof TLSSocket)) return { hasInvalidCertificate: false };
  const { subject, valid_to: until, fingerprint256 } = certificateOf(socket, stream?.session ?? socket);
  if (subject === undefined) return { hasInvalidCertificate: false };
  const { CN: name, O: groups = [] } = subject;
  if (!socket.authorized || typeof name !== 'string' || Date.parse(until) < now) return { hasInvalidCertificate: true };
  const shown = `X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`;
  const extra = new Map([['authentication.kubernetes.io/credential-id', [shown]]]);
  return { user: { name, groups: [groups].flat(), extra }, hasInvalidCertificate: false };
}

function send(answer: ApiResponse, isHead: boolean, response: Outgoing): void {
  response.writeHead(answer.code, Object.fromEntries(answer.headers));
  if ('body' in answer) {
    if (isHead) response.end();
    else response.end(answer.body);
    return;
  }
  response.flushHeaders?.();
  const stop = answer.start(
    (line) => void response.write(line),
    () => void response.end(),
    () => void response.destroy(new Error('the watch was cut')),
  );
  response.on('close', stop);
}
