/** Tests the node's server over real TLS: its certificate, those of its clients, and which clients it accepts. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { byCertificate, client, echo, listening, other, server, stranger, TLS } from './support/listening.ts';

const checked = { access: () => ({ admit: byCertificate }) };

test('C39: an authorized request is answered, and an unknown path is not a secret', async () => {
  const { ask } = await listening(checked);
  expect(await ask('/pods?a=b', client)).toMatchObject({ code: 200, body: 'kubectl /pods?a=b' });
  const unauthorized = { code: 401, body: 'Unauthorized', headers: { 'content-type': 'text/plain; charset=utf-8' } };
  expect(await ask('/pods')).toMatchObject(unauthorized);
  expect(await ask('/pods', stranger)).toMatchObject(unauthorized);
  expect(await ask('/pods/x')).toMatchObject({ code: 401 });
  expect(await ask('/nothing')).toMatchObject({ code: 404, body: '404 page not found\n' });
  expect(await ask('/pods/x', client)).toMatchObject({ code: 404, body: '404: Page Not Found' });
  const notAllowed = { code: 405, body: '405: Method Not Allowed', headers: { allow: 'GET' } };
  expect(await ask('/pods', { ...client, method: 'POST' })).toMatchObject(notAllowed);
  expect(await ask('/pods', { ...client, headers: { accept: 'text/plain' } })).toMatchObject({
    code: 406,
    body: '406: Not Acceptable\n\nAvailable representations: application/json',
  });
});

test('the access check is informed of each connection before its first request', async () => {
  const greeted = new Set<unknown>();
  const greet = (socket: unknown) => void greeted.add(socket);
  const admit: typeof byCertificate = async (asking) => {
    if (!greeted.has(asking.socket)) throw new Error('nobody has told of the connection');
    return byCertificate(asking);
  };
  const { ask, errors } = await listening({ access: () => ({ admit, greet }) });
  for (let times = 0; times < 2; times += 1) expect(await ask('/pods', client)).toMatchObject({ code: 200 });
  expect([greeted.size, errors]).toEqual([2, []]);
});

test('C39: a path that redirects is answered before authentication', async () => {
  const { ask } = await listening({ ...checked, routes: [echo('/logs'), echo('/pods')] });
  const at = async (path: string) => {
    const { code, headers } = await ask(path);
    return [code, headers.location];
  };
  expect(await at('/logs?x=1')).toEqual([307, '/logs/?x=1']);
  expect(await at('/a/..//pods')).toEqual([307, '/pods']);
  expect(await at('/logs/%2e%2e/%2e%2e/etc/passwd')).toEqual([307, '/etc/passwd']);
  expect(await at('/logs/..\\pods')).toEqual([307, '/pods']);
  expect(await at('//evil.example/pods')).toEqual([307, '/evil.example/pods']);
  expect((await ask('/logs?"><x')).body).toMatch(/^<a href="\/logs\/\?[^"<>]*">Temporary Redirect<\/a>\.\n\n$/);
});

test('a route that fails responds with 500, or closes the connection if the response has started', async () => {
  const early = { pathPrefix: '/healthz', handle: () => Promise.reject(new Error('no disk')) };
  const late = {
    pathPrefix: '/metrics',
    handle: async ({ response }: { readonly response: { write(text: string): unknown } }) => {
      response.write('half');
      throw new Error('no disk');
    },
  };
  const { ask, errors } = await listening({ routes: [early, late] });
  expect(await ask('/healthz')).toMatchObject({ code: 500, body: 'no disk\n' });
  await expect(ask('/metrics')).rejects.toThrow(/aborted|hang up/);
  expect(errors).toHaveLength(2);
});

describe('TLS', () => {
  test('C38: is 1.2 or later, offers HTTP/2 and HTTP/1.1, and requests a certificate', async () => {
    const { connect } = await listening();
    expect((await connect()).getProtocol()).toBe('TLSv1.3');
    const older = await connect({ maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1', 'h2'] });
    expect([older.getProtocol(), older.alpnProtocol]).toEqual(['TLSv1.2', 'h2']);
    expect((await connect({ ALPNProtocols: ['http/1.1'] })).alpnProtocol).toBe('http/1.1');
    await expect(connect({ ALPNProtocols: ['spdy/3.1'] })).rejects.toThrow(/no application protocol/);
    expect(older.getCipher().standardName).toBe('TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256');
    await expect(connect({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).rejects.toThrow();
  });

  test('C38: a client cannot renegotiate', async () => {
    const { connect } = await listening();
    const socket = await connect({ maxVersion: 'TLSv1.2' });
    const failed = once(socket, 'error');
    socket.renegotiate({ rejectUnauthorized: false }, () => {});
    expect(String(await failed)).toMatch(/no renegotiation/);
  });

  test('uses the configured version and cipher suites', async () => {
    const suite = 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384';
    const chosen = await listening({ tls: { ...TLS, cipherSuites: [suite] } });
    expect((await chosen.connect({ maxVersion: 'TLSv1.2' })).getCipher().standardName).toBe(suite);
    const latest = await listening({ tls: { ...TLS, minVersion: 'VersionTLS13', curves: [24] } });
    await expect(latest.connect({ maxVersion: 'TLSv1.2' })).rejects.toThrow();
    await expect(latest.connect({ ecdhCurve: 'X25519' })).rejects.toThrow();
    expect((await latest.connect({ ecdhCurve: 'P-384' })).getProtocol()).toBe('TLSv1.3');
  });

  test('reloads a changed certificate, and reports an unusable one once', async () => {
    const clock = new SimulatedClock();
    const { ask, connect, lay, problems } = await listening({ clock });
    const held = await connect();
    const second = other.issue({ name: 'node', groups: [] });
    lay({ ...second, key: server.key });
    await clock.advance(10_000);
    await eventually('the problem is told', () => problems.length > 0 || undefined);
    await clock.advance(20_000);
    expect(problems).toEqual([expect.stringMatching(/tls\.crt: not a certificate of the key in .*tls\.key$/)]);
    expect(await ask('/pods')).toMatchObject({ code: 200 });
    lay(second);
    await clock.advance(10_000);
    await eventually('it is in use', () => ask('/pods', { ca: other.cert }).catch(() => undefined));
    await expect(ask('/pods')).rejects.toThrow();
    // Existing connections remain open.
    held.write('GET /pods HTTP/1.1\r\nHost: node\r\n\r\n');
    expect(String(await once(held, 'data'))).toContain('200 OK');
  });

  test('C38: reloads changed client authorities, and disconnects clients', async () => {
    const { ask, connect, layAuthority, checkFilesNow } = await listening(checked);
    const held = await connect(client);
    const gone = once(held, 'close');
    layAuthority(other.cert);
    await checkFilesNow();
    await gone;
    expect((await ask('/pods', client)).code).toBe(401);
    expect((await ask('/pods', stranger)).code).toBe(200);
  });

  test('C38: rejects handshakes until the awaited certificate exists', async () => {
    const { ask, lay, checkFilesNow } = await listening({ isAwaited: true, isCertificateThere: false });
    await expect(ask('/pods')).rejects.toThrow();
    lay(server);
    await checkFilesNow();
    expect((await ask('/pods')).code).toBe(200);
  });

  test('reports a missing certificate and invalid authorities in one clear message each', async () => {
    await expect(listening({ isCertificateThere: false })).rejects.toThrow(
      /^the node's server: .*tls\.crt, .*tls\.key: no such file$/,
    );
    await expect(listening({ clientCaFile: import.meta.filename })).rejects.toThrow(/expected certificates in PEM/);
    await expect(listening({ clientCaFile: '/no/such/ca' })).rejects.toThrow(/\/no\/such\/ca: no such file$/);
  });

  test('neither requests nor trusts client certificates without client authorities', async () => {
    const { ask } = await listening({ ...checked, clientCaFile: undefined } as object);
    expect((await ask('/pods', client)).code).toBe(401);
  });
});

test('an address in use is reported in one clear message', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = { host: '127.0.0.1', port: Number(Object(holder.address()).port) };
  await expect(listening({ address })).rejects.toThrow(`127.0.0.1:${address.port} is in use by another process`);
  await expect(listening({ address: { host: '192.0.2.1', port: 0 } })).rejects.toThrow(
    /cannot listen on 192\.0\.2\.1:0/,
  );
  holder.close();
});

test('listening on all addresses includes both IP families', async () => {
  const { ask } = await listening({ address: { host: '0.0.0.0', port: 0 } });
  expect((await ask('/pods')).code).toBe(200);
  expect((await ask('/pods', { host: '::1' })).code).toBe(200);
});
