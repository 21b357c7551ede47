/** Every client of the node that can reject TLS renegotiation does so, like Go's. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { hostNetwork } from '../../../actors/services/http/hostNetwork.ts';
import { tlsContext } from '../../../node/credentials/tlsContext.ts';
import { Authority } from '../../testing/apiserver/serving/certificates.ts';

let server: Server;
let port = 0;
/** Outcome of the server's attempt: its error, or that the client has renegotiated. */
let outcome: Promise<string>;
const clients: { destroy(): void }[] = [];

beforeEach(async () => {
  const authority = new Authority();
  const pair = authority.issue('/CN=server');
  authority.remove();
  server = createServer({ ...pair, maxVersion: 'TLSv1.2' });
  outcome = new Promise((resolve) => {
    server.on('secureConnection', (socket: TLSSocket) => {
      clients.push(socket);
      socket.on('error', (error) => resolve(error.message));
      socket.renegotiate({ rejectUnauthorized: false }, () => resolve('renegotiated'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The address of a server that listens on a port is an AddressInfo.
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

test('a client with default settings renegotiates, so that these tests can fail', async () => {
  clients.push(connect({ port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => {}));
  expect(await outcome).toBe('renegotiated');
});

test('the client of an API server refuses renegotiation', async () => {
  const secureContext = tlsContext({}).secureContext;
  clients.push(connect({ port, host: '127.0.0.1', rejectUnauthorized: false, secureContext }).on('error', () => {}));
  expect(await outcome).toMatch(/no renegotiation/);
});

test('a probe or hook over HTTPS refuses renegotiation', async () => {
  clients.push(hostNetwork.connect({ host: '127.0.0.1', port, isSecure: true }, { onError: () => {} }));
  expect(await outcome).toMatch(/no renegotiation/);
});
