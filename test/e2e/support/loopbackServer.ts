import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** An HTTP server for a test that only this host can reach. */
interface LoopbackServer {
  readonly port: number;
  end(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1, over TLS if `tls` is given. */
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
  // The address of a server that listens on a port is an AddressInfo.
  return { port: (server.address() as AddressInfo).port, end };
}
