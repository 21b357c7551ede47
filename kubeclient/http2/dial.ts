/** Opens a connection of TLS to an API server, on which HTTP/2 has been agreed. */
import { isIP, type Socket } from 'node:net';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../clock.ts';
import type { KubeEndpoint } from '../endpoint.ts';
import { tunnel } from './tunnel.ts';

type Place = Pick<KubeEndpoint, 'origin' | 'serverName' | 'isInsecure' | 'proxy'>;

interface Dialing {
  /** Whom it trusts, and the certificate that it shows. */
  readonly context: SecureContext;
  readonly clock: Clock;
  /** Ends it; the socket is then closed. */
  readonly signal: AbortSignal;
}

/** As client-go: so long it may take. */
const DIAL_MS = 30_000;
const HTTPS_PORT = 443;

/** Gives a socket that is connected, or has been closed and rejects. */
export async function dial(place: Place, { context, clock, signal }: Dialing): Promise<TLSSocket> {
  const limit = new AbortController();
  const late = new Error(`no connection within ${DIAL_MS / 1000}s`);
  const timer = clock.setTimeout(() => limit.abort(late), DIAL_MS);
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    either.throwIfAborted();
    const { host, port } = addressOf(place);
    const through = place.proxy && (await tunnel(place.proxy, { host, port }, either));
    return await secured(place, { context, through, signal: either });
  } finally {
    clock.clearTimeout(timer);
  }
}

interface Securing extends Pick<Dialing, 'context' | 'signal'> {
  /** What leads there already. */
  readonly through: Socket | undefined;
}

function secured(place: Place, { context, through, signal }: Securing): Promise<TLSSocket> {
  return new Promise((done, fail) => {
    if (signal.aborted) return fail(signal.reason);
    const to = { ...addressOf(place), ...(through ? { socket: through } : {}) };
    const socket = connect({ ...to, secureContext: context, rejectUnauthorized: !place.isInsecure });
    const onAbort = () => giveUp(signal.reason);
    const settle = () => signal.removeEventListener('abort', onAbort);
    const giveUp = (why: unknown) => {
      settle();
      fail(why);
      socket.destroy();
      through?.destroy();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // Of a socket that nobody wants any more no error may end the process.
    socket.on('error', (error) => giveUp(inWords(error, place)));
    socket.once('close', () => giveUp(new Error('the server closed the connection before it was secured')));
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol !== 'h2') return giveUp(noHttp2(place));
      settle();
      done(socket);
    });
  });
}

function addressOf({ origin, serverName }: Place) {
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

const noHttp2 = ({ origin }: Pick<Place, 'origin'>): Error =>
  new Error(`${origin} does not speak HTTP/2, expected an API server (a proxy before it has to speak it, too)`);

/** By the reasons of OpenSSL. */
const NO_TLS = ['wrong version number', 'packet length too long', 'http request'];
const NO_PROTOCOL = 'tlsv1 alert no application protocol';

/** What OpenSSL says has the places in its source around it, and numbers; whoever tells by the code still can. */
export function inWords(error: Error, place: Pick<Place, 'origin'>): Error {
  if (!('reason' in error && 'library' in error) || error.library !== 'SSL routines') return error;
  const reason = String(error.reason);
  if (reason === NO_PROTOCOL) return noHttp2(place);
  if (NO_TLS.includes(reason)) return new Error(`${place.origin} does not speak TLS: ${reason}`);
  return new Error(`TLS with ${place.origin} has failed: ${reason}`);
}
