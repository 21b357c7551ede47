/** Opens a TLS connection to an API server and negotiates HTTP/2. */
import { isIP, type Socket } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeEndpoint } from '../endpoint.ts';
import { openTunnel } from './tunnel.ts';

type ServerAddress = Pick<KubeEndpoint, 'origin' | 'serverName' | 'isInsecure' | 'proxy'>;

interface DialOptions {
  /** CA certificates and client certificate. */
  readonly context: SecureContext;
  readonly clock: Clock;
  /** Cancels the attempt and closes the socket. */
  readonly signal: AbortSignal;
}

/** Timeout of a connection attempt, as in client-go. */
const DIAL_TIMEOUT_MS = 30_000;
const HTTPS_PORT = 443;

/** Connects to a server. If the attempt fails, the socket is closed and the promise rejects. */
export async function dialServer(address: ServerAddress, { context, clock, signal }: DialOptions): Promise<TLSSocket> {
  const timeoutController = new AbortController();
  const timeoutError = new Error(`no connection within ${DIAL_TIMEOUT_MS / 1000}s`);
  const timer = clock.setTimeout(() => timeoutController.abort(timeoutError), DIAL_TIMEOUT_MS);
  const combinedSignal = AbortSignal.any([signal, timeoutController.signal]);
  try {
    combinedSignal.throwIfAborted();
    const { host, port } = connectOptions(address);
    const proxySocket = address.proxy && (await openTunnel(address.proxy, { host, port }, combinedSignal));
    return await startTls(address, { context, proxySocket, signal: combinedSignal });
  } finally {
    clock.clearTimeout(timer);
  }
}

interface TlsOptions extends Pick<DialOptions, 'context' | 'signal'> {
  /** Connection through the proxy, if there is one. */
  readonly proxySocket: Socket | undefined;
}

function startTls(address: ServerAddress, { context, proxySocket, signal }: TlsOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const options = { ...connectOptions(address), ...(proxySocket ? { socket: proxySocket } : {}) };
    const socket = connect({ ...options, secureContext: context, rejectUnauthorized: !address.isInsecure });
    const onAbort = () => failConnection(signal.reason);
    const removeAbortListener = () => signal.removeEventListener('abort', onAbort);
    const failConnection = (reason: unknown) => {
      removeAbortListener();
      reject(reason);
      socket.destroy();
      proxySocket?.destroy();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // Do not remove the listener after the attempt, because an error on an abandoned socket must not crash the process.
    socket.on('error', (error) => failConnection(readableTlsError(error, address)));
    socket.once('close', () => failConnection(new Error('the server closed the connection before it was secured')));
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol !== 'h2') return failConnection(noHttp2Error(address));
      removeAbortListener();
      resolve(socket);
    });
  });
}

function connectOptions({ origin, serverName }: ServerAddress) {
  const { hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  const servername = serverName ?? (isIP(host) ? undefined : host);
  return {
    host,
    port: port === '' ? HTTPS_PORT : Number(port),
    ALPNProtocols: ['h2'],
    ...(servername === undefined ? {} : { servername }),
  };
}

const noHttp2Error = ({ origin }: Pick<ServerAddress, 'origin'>): Error =>
  new Error(`${origin} does not speak HTTP/2, expected an API server (a proxy before it has to speak it, too)`);

/** OpenSSL error reasons that indicate a server without TLS. */
const NOT_TLS_REASONS = ['wrong version number', 'packet length too long', 'http request'];
const NO_ALPN_REASON = 'tlsv1 alert no application protocol';

/**
 * Replaces OpenSSL's message, which contains source locations and numbers, with a readable one. Other errors are
 * returned unchanged.
 */
export function readableTlsError(error: Error, address: Pick<ServerAddress, 'origin'>): Error {
  if (!('reason' in error && 'library' in error) || error.library !== 'SSL routines') return error;
  const reason = String(error.reason);
  if (reason === NO_ALPN_REASON) return noHttp2Error(address);
  if (NOT_TLS_REASONS.includes(reason)) return new Error(`${address.origin} does not speak TLS: ${reason}`);
  return new Error(`TLS with ${address.origin} has failed: ${reason}`);
}
