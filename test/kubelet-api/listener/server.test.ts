/** Tests the node's server with slow and malicious clients. */
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { describe, expect, jest, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { connectionLimit } from '../../../host/connectionGuard.ts';
import type { Exchange } from '../../../kubelet-api/exchange.ts';
import { listenPlain } from '../../../kubelet-api/listener/listener.ts';
import { PathTable } from '../../../kubelet-api/listener/paths.ts';
import { serve } from '../../../kubelet-api/listener/server.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { afterReset, openSockets, resetAfterRequest } from '../../host/support/resettingClients.ts';
import { ALL_ON, allFrom, atEnd, echo, listening, route, server } from './support/listening.ts';

jest.setTimeout(60_000);

const GET = 'GET /pods HTTP/1.1\r\nHost: node\r\n\r\n';

describe('an ambiguous request is rejected', () => {
  const smuggled = 'GET /secret HTTP/1.1\r\nHost: node\r\n\r\n';

  test.each([
    ['two lengths', `POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n${smuggled}`],
    [
      'a length and chunks',
      `POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled}`,
    ],
    ['odd chunks', `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: xchunked\r\n\r\n${smuggled}`],
    ['a folded header', `GET /pods HTTP/1.1\r\nHost: n\r\nX: a\r\n b\r\n\r\n`],
    ['a bare line feed', `GET /pods HTTP/1.1\nHost: n\n\n`],
    ['a blank before a colon', `GET /pods HTTP/1.1\r\nHost: n\r\nContent-Length : 5\r\n\r\n${smuggled}`],
    ['a length that is signed', `POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length: +5\r\n\r\n${smuggled}`],
    ['a length below zero', `POST /pods HTTP/1.1\r\nHost: n\r\nContent-Length: -1\r\n\r\n${smuggled}`],
    [
      'chunks twice',
      `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks, and then not',
      `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: chunked, identity\r\n\r\n${smuggled}`,
    ],
    ['chunks by a bare line feed', `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding:\n chunked\r\n\r\n${smuggled}`],
    [
      'a size of a chunk that is none',
      `POST /pods HTTP/1.1\r\nHost: n\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n${smuggled}`,
    ],
    ['a NUL in a header', `GET /pods HTTP/1.1\r\nHost: n\r\nX: a\0b\r\n\r\n`],
    [
      'a bare carriage return in a header',
      `GET /pods HTTP/1.1\r\nHost: n\r\nX: a\rContent-Length: 5\r\n\r\n${smuggled}`,
    ],
    ['two hosts', 'GET /pods HTTP/1.1\r\nHost: n\r\nHost: m\r\n\r\n'],
    ['the version before headers', 'GET /pods\r\n\r\n'],
    ['no host', 'GET /pods HTTP/1.1\r\n\r\n'],
    ['no path', 'GET pods HTTP/1.1\r\nHost: n\r\n\r\n'],
  ])('%s', async (_, text) => {
    const paths: string[] = [];
    const answer = async ({ url, response }: Exchange) => {
      paths.push(url.pathname);
      response.end('served');
    };
    const { connect } = await listening({ routes: [route('/pods', answer), route('/secret', answer)] });
    const socket = await connect();
    socket.end(text);
    const all = await allFrom(socket);
    expect(all).toMatch(/^(HTTP\/1\.1 (400|405)|$)/);
    expect(all).not.toContain('served');
    expect(paths).toEqual([]);
  });
});

describe('limits', () => {
  test('permit headers of up to a mebibyte', async () => {
    const { ask } = await listening();
    const headers = (size: number) => ({ headers: { 'x-large': 'a'.repeat(size) } });
    expect((await ask('/pods', headers(900_000))).code).toBe(200);
    // A client that is still sending may see a closed connection instead of the response.
    const refused = await ask('/pods', headers(1_100_000)).catch((error: unknown) => ({ code: Object(error).code }));
    expect([431, 'ECONNRESET', 'EPIPE']).toContain(refused.code);
  });

  test('permit a few pipelined requests per connection, and close one that sends more', async () => {
    let begun = 0;
    const never = route('/pods', async ({ signal }) => {
      begun += 1;
      await once(signal, 'abort');
    });
    const { connect } = await listening({ routes: [never] });
    const socket = await connect();
    socket.write(GET.repeat(1_000));
    await once(socket, 'close');
    expect(begun).toBe(8);
  });

  test('permit four hours for a response', async () => {
    const timers: { readonly fn: () => void; readonly ms: number }[] = [];
    const setTimeout = (fn: () => void, ms: number) => timers.push({ fn, ms });
    const signals: AbortSignal[] = [];
    const never = route('/pods', async ({ signal }) => {
      signals.push(signal);
      await once(signal, 'abort');
    });
    const clock = { ...systemClock, setTimeout, clearTimeout: () => {} };
    const { connect } = await listening({ clock, routes: [never] });
    const socket = await connect();
    socket.write(GET);
    await eventually('it is asked', () => signals.length > 0 || undefined);
    expect(signals[0]?.aborted).toBe(false);
    timers.find(({ ms }) => ms === 4 * 60 * 60_000)?.fn();
    await once(socket, 'close');
    await eventually('it has ended', () => signals[0]?.aborted || undefined);
  });
});

describe('a slow client', () => {
  const timeouts = { headersMs: 200, requestMs: 60_000, handshakeMs: 200 };
  // Resolves when the connection is closed, with or without an error.
  const gone = (socket: Socket) =>
    new Promise<void>((done) => void socket.on('error', () => {}).once('close', () => done()));
  const slowly = async (socket: Writable, text: string) => {
    for (const each of text) {
      if (socket.destroyed) return;
      socket.write(each);
      await pause(20);
    }
  };

  test('is disconnected during its headers, and so is one that does not complete the handshake', async () => {
    const parts = { paths: new PathTable([echo('/pods')], ALL_ON), onError: () => {}, clock: systemClock, timeouts };
    const plain = await serve({ host: '127.0.0.1', port: 0 }, parts);
    const secure = await serve({ host: '127.0.0.1', port: 0 }, { ...parts, tls: server });
    atEnd(() => Promise.all([plain.close(), secure.close()]));
    const [trickling, silent] = [plain, secure].map(({ port }) => connectPlain(port, '127.0.0.1'));
    if (trickling === undefined || silent === undefined) throw new Error('there are two');
    const cut = Promise.all([gone(trickling), gone(silent.resume())]);
    const output = text(trickling).catch(() => '');
    await slowly(trickling, `GET /pods HTTP/1.1\r\nHost: n\r\nX: ${'a'.repeat(1_000)}`);
    await cut;
    expect(await output).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test('is disconnected if it does not send the whole body of its request in time', async () => {
    const limits = { headersMs: 100, requestMs: 200, handshakeMs: 60_000 };
    const reading = route('/pods', async ({ request, response }) => {
      await pipeline(request, response);
    });
    // This clock never fires, so the server's own timer of responses has no effect.
    const clock = { ...systemClock, setTimeout: () => {}, clearTimeout: () => {} };
    const parts = { paths: new PathTable([reading], ALL_ON), onError: () => {}, clock, timeouts: limits };
    const { port, close } = await serve({ host: '127.0.0.1', port: 0 }, parts);
    atEnd(close);
    const socket = connectPlain(port, '127.0.0.1');
    const closed = gone(socket);
    socket.write('GET /pods HTTP/1.1\r\nHost: n\r\nContent-Length: 10\r\n\r\nhalf');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 (200|408) /);
    await closed;
  });

  test('with an unneeded body gets its response, and is disconnected soon after that', async () => {
    const paths: string[] = [];
    const answer = async ({ url, response }: Exchange) => {
      paths.push(url.pathname);
      response.end('done');
    };
    const { connect } = await listening({ routes: [route('/run', answer), route('/secret', answer)] });
    const socket = await connect();
    const all = allFrom(socket);
    socket.write('POST /run/ns/pod/main HTTP/1.1\r\nHost: n\r\nContent-Length: 1000000\r\n\r\n');
    await slowly(socket, 'GET /secret HTTP/1.1\r\nHost: n\r\n\r\n'.repeat(100));
    expect(await all).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*done$/);
    expect(paths).toEqual(['/run/ns/pod/main']);
  });

  test('without an unread body can reuse its connection', async () => {
    const { connect } = await listening({ routes: [echo('/run')] });
    const socket = await connect();
    for (let times = 0; times < 2; times += 1) {
      socket.write('POST /run/ns/pod/main HTTP/1.1\r\nHost: n\r\nContent-Length: 3\r\n\r\nabc');
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 OK/);
    }
  });
});

test('a thousand open connections are all answered', async () => {
  const { connect } = await listening();
  const sockets = [];
  for (let made = 0; made < 1_000; made += 100)
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => connect()))));
  const answers = sockets.map(async (socket) => {
    socket.write(GET);
    return String(await once(socket, 'data'));
  });
  expect(new Set((await Promise.all(answers)).map((each) => each.slice(0, 15)))).toEqual(new Set(['HTTP/1.1 200 OK']));
});

test('a client that disconnects ends its request, and one that does not read uses little memory', async () => {
  const ends: string[] = [];
  let given = 0;
  const flood = route('/pods', async ({ response, signal }) => {
    signal.addEventListener('abort', () => ends.push('aborted'));
    const chunks = function* () {
      for (;;) {
        given += 65_536;
        yield Buffer.alloc(65_536);
      }
    };
    await pipeline(Readable.from(chunks()), response, { signal }).catch(() => {});
  });
  const { connect } = await listening({ routes: [flood] });
  const socket = await connect();
  socket.pause();
  socket.write(GET);
  let before = -1;
  // The kernel buffers some data. After that, the server must not read any more from the route.
  await eventually('it stands still', () => {
    const isStill = given > 0 && given === before;
    before = given;
    return isStill || undefined;
  });
  expect(given).toBeLessThan(16 * 2 ** 20);
  socket.destroy();
  await eventually('it has ended', () => ends.length > 0 || undefined);
});

test.each([
  ['a request', ''],
  ['an upgrade', '\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1'],
])('C38: descriptors of unknown clients that reset %s immediately are released within 10 s', async (_, more) => {
  const { port } = await listening({
    access: () => ({
      admit: async () => {
        await afterReset();
        return { isAdmitted: false, code: 401, text: 'Unauthorized' };
      },
    }),
  });
  const before = openSockets();
  await resetAfterRequest(port, 200, `GET /pods HTTP/1.1\r\nHost: node\r\nAuthorization: Bearer random${more}`);
  await eventually('they are released', () => openSockets() <= before, 10_000);
});

test('refuses further connections of an address that has half of them, but not those of other addresses', async () => {
  const parts = { paths: new PathTable([], ALL_ON), clock: new SimulatedClock(), onError: () => {} };
  const { port, close } = await serve({ host: '127.0.0.1', port: 0 }, parts);
  atEnd(close);
  const limit = Math.ceil(connectionLimit(10_000) / 2);
  const open = async (localAddress: string) => {
    const socket = connectPlain({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    atEnd(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  for (let count = 0; count < limit; count += 100)
    await Promise.all(Array.from({ length: Math.min(100, limit - count) }, () => open('127.0.0.2')));
  const refused = (await open('127.0.0.2')).resume();
  await eventually('it is refused', () => refused.closed, 5_000);
  const other = (await open('127.0.0.3')).resume();
  await pause(100);
  expect(other.closed).toBe(false);
});

describe('an upgrade', () => {
  const UPGRADE = 'GET /pods HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';

  test('is rejected by a normal response', async () => {
    const { connect } = await listening({
      routes: [route('/pods', async ({ response }) => void response.writeHead(403).end('no'))],
    });
    const socket = await connect();
    socket.write(UPGRADE);
    expect(await allFrom(socket)).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*\r\n\r\n[\s\S]*no/);
  });

  test('for an unknown path or from an unknown client is answered like any request', async () => {
    const { connect } = await listening({
      access: () => ({ admit: async () => ({ isAdmitted: false, code: 401, text: 'Unauthorized' }) }),
    });
    const [one, another] = [await connect(), await connect()];
    one.write(UPGRADE.replace('/pods', '/none'));
    another.write(UPGRADE);
    expect(await allFrom(one)).toContain('404 page not found\n');
    expect(await allFrom(another)).toMatch(/^HTTP\/1\.1 401 Unauthorized/);
  });

  test('passes the connection to its handler, with all data after the headers', async () => {
    const taken = route('/pods', async ({ upgrade, signal }) => {
      upgrade?.socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${upgrade.head}`);
      upgrade?.socket.on('data', (chunk) => upgrade.socket.write(String(chunk).toUpperCase()));
      await once(signal, 'abort');
    });
    const { connect } = await listening({ routes: [taken] });
    const socket = await connect();
    socket.write(`${UPGRADE}early`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nearly$/);
    socket.write('late');
    expect(String(await once(socket, 'data'))).toBe('LATE');
  });

  test('stays open however long it is idle', async () => {
    const taken = route('/pods', async ({ upgrade, signal }) => {
      upgrade?.socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      upgrade?.socket.pipe(upgrade.socket);
      await once(signal, 'abort');
    });
    const waits: number[] = [];
    const setTimeout = (_: () => void, ms: number) => void waits.push(ms);
    const clock = { ...systemClock, setTimeout, clearTimeout: () => {} };
    const timeouts = { headersMs: 100, requestMs: 100, handshakeMs: 100 };
    const parts = { paths: new PathTable([taken], ALL_ON), onError: () => {}, clock, timeouts, tls: server };
    const { port, close } = await serve({ host: '127.0.0.1', port: 0 }, parts);
    atEnd(close);
    const socket = tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.write(UPGRADE);
    await once(socket, 'data');
    await pause(500);
    socket.write('still here');
    expect(String(await once(socket, 'data'))).toBe('still here');
    expect(waits).toEqual([]);
    socket.destroy();
  });

  test('that no handler accepts, as offered by an HTTP/2 client, gets a response of any length', async () => {
    const text = 'a'.repeat(5_000_000);
    const long = route('/pods', async ({ response }) => {
      await pipeline(Readable.from([text.slice(0, 2_500_000), text.slice(2_500_000)]), response);
    });
    const { connect } = await listening({ routes: [long] });
    const socket = await connect();
    socket.write(UPGRADE.replace('SPDY/3.1', 'h2c'));
    expect((await allFrom(socket)).length).toBeGreaterThan(5_000_000);
  });
});

test('closing the server aborts the requests in flight and disconnects them', async () => {
  const events: string[] = [];
  const never = route('/pods', async ({ signal }) => {
    await once(signal, 'abort');
    events.push('aborted');
  });
  const { connect, close } = await listening({ routes: [never] });
  const [idle, busy, upgraded] = [await connect(), await connect(), await connect()];
  busy.write(GET);
  upgraded.write(GET.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'));
  const gone = Promise.all([idle, busy, upgraded].map((socket) => once(socket, 'close')));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await close();
  await gone;
  expect(events).toEqual(['aborted', 'aborted']);
});

test('without TLS every client is answered, but debugging paths are unavailable', async () => {
  const { port, close } = await listenPlain({
    address: { host: '127.0.0.1', port: 0 },
    routes: [echo('/pods'), echo('/configz')],
    clock: new SimulatedClock(),
    onError: () => {},
  });
  atEnd(close);
  const fetchText = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, redirect: 'manual' });
    return `${answer.status} ${await answer.text()}`;
  };
  expect(await fetchText('/pods')).toBe('200 system:anonymous /pods');
  expect(await fetchText('/configz')).toBe('404 404 page not found\n');
  expect(await fetchText('/exec/a/b/c', 'POST')).toBe('405 Debug endpoints are disabled.\n');
  const socket = connectPlain(port, '127.0.0.1');
  socket.end('nonsense\r\n\r\n');
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 400 Bad Request/);
});
