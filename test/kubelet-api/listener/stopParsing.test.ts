/** Tests what Node.js does with the unread bytes of a connection that is closed. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { PathTable } from '../../../kubelet-api/listener/paths.ts';
import { serve } from '../../../kubelet-api/listener/server.ts';
import { ALL_ON, atEnd, server as pair, route } from './support/listening.ts';

const HOST = '127.0.0.1';
/** Maximum number of open requests per connection, plus the request that closes it. */
const MADE = 9;

test.each([
  ['TLS', { tls: pair }, (port: number) => connectTls({ host: HOST, port, rejectUnauthorized: false })],
  ['plain', {}, (port: number) => connect(port, HOST)],
] as const)(
  'the rest of a thousand pipelined requests is not parsed once the connection is closed: %s',
  async (_, tls, connected) => {
    const paths = new PathTable([route('/pods', async ({ signal }) => void (await once(signal, 'abort')))], ALL_ON);
    const bound = await serve(
      { host: HOST, port: 0 },
      { paths, clock: new SimulatedClock(), onError: () => {}, ...tls },
    );
    atEnd(bound.close);
    let made = 0;
    bound.server.on('request', () => {
      made += 1;
    });
    const ask = async (count: number) => {
      const socket = connected(bound.port);
      socket.on('error', () => {}).resume();
      socket.write('GET /pods HTTP/1.1\r\nHost: node\r\n\r\n'.repeat(count));
      await once(socket, 'close');
    };
    await ask(1_000);
    expect(made).toBe(MADE);
    // Node.js reuses its parsers for other connections.
    await ask(1_000);
    expect(made).toBe(2 * MADE);
  },
);
