import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** An HTTP server of a test, which only this host can reach. */
interface LoopbackServer {
  readonly port: number;
  end(): Promise<void>;
}

/** Starts a server on 127.0.0.1 at a port that was free, with a certificate if it has one. */
export async function loopbackServer(
  answer: RequestListener,
  tls?: { readonly key: string; readonly cert: string },
): Promise<LoopbackServer> {
  const server = (tls ? createTlsServer(tls, answer) : createServer(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = async () => {
    server.closeAllConnections();
    server.close();
  };
  // A server that listens on a port has an address with it.
  return { port: (server.address() as AddressInfo).port, end };
}
