import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../../base/time/clock.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { Http2Transport } from '../../../kubeclient/http2/http2Transport.ts';
import { Authority } from '../../testing/apiserver/serving/certificates.ts';

const signal = new AbortController().signal;

test.each([10, 1])(
  'a server that allows %d streams receives consecutive watches over reused connections',
  async (few) => {
    const authority = new Authority();
    const settings = { maxConcurrentStreams: few };
    const server = createSecureServer({ ...authority.issue('/CN=kube-apiserver'), settings });
    let connections = 0;
    server.on('secureConnection', () => {
      connections += 1;
    });
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200 });
      stream.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // The address of a server that listens on a port is an AddressInfo.
    const { port } = server.address() as AddressInfo;
    const credentials = {
      context: async () => createSecureContext({ ca: authority.cert }),
      token: async () => undefined,
      handleUnauthorized: () => {},
    };
    const endpoint = { origin: `https://127.0.0.1:${port}`, basePath: '', isInsecure: false, credentials };
    const transport = new Http2Transport(endpoint, systemClock);
    const client = new KubeClient({ transport, clock: systemClock, userAgent: 'statelet/test' });
    for (let count = 0; count < 5; count += 1)
      for await (const _ of await client.watch('/api/v1/pods?watch=true', { signal }))
        throw new Error('it tells nothing');
    // A connection whose watch has just ended may not be known to be free yet.
    expect(connections).toBeLessThanOrEqual(2);
    transport.close();
    server.close();
    authority.remove();
  },
);
