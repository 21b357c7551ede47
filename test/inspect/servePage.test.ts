import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { type InspectedNode, NotInspected } from '../../inspect/inspected.ts';
import { servePage } from '../../inspect/servePage.ts';
import { fakeInspected, fakeLive, sendBytes, servedPage, until, upgradeOf } from './support/served.ts';

/** Security headers of every response. */
const SAFE = {
  'content-security-policy': expect.stringMatching(
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';.* frame-ancestors 'none'$/,
  ),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

test('every response has security headers, including rejections and missing pages', async () => {
  const { get } = await servedPage({ inspected: fakeInspected(fakeLive()) });
  const asked = [
    get('/'),
    get('/pod/default/web'),
    get('/api/rail'),
    get('/api/nothing'),
    get('/assets/nothing.js'),
    get('/api/story?from=abc'),
    get('/', { method: 'POST' }),
    get('/', { headers: { host: 'evil.example' } }),
  ];
  const answers = await Promise.all(asked);
  expect(answers.map(({ code }) => code)).toEqual([200, 200, 200, 404, 404, 400, 405, 403]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject(SAFE);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('set-cookie');
  }
});

test('reading a log ends when its client disconnects, and not before', async () => {
  const signals: AbortSignal[] = [];
  const log: InspectedNode['log'] = (_, signal) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const { port } = await servedPage({ inspected: { ...fakeInspected(), log } });
  const connection = connect({ host: '127.0.0.1', port });
  connection.write(`GET /api/log?path=a HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  await until(() => signals.length > 0);
  expect(signals[0]?.aborted).toBe(false);
  connection.destroy();
  await until(() => signals[0]?.aborted === true);
});

test('one address may use half of the connections, so that others can still open the page', async () => {
  const { port } = await servedPage();
  const sockets = Array.from({ length: 40 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}));
  await until(() => sockets.filter(({ destroyed }) => destroyed).length === 8);
  const other = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' });
  other.write(`GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  await until(() => other.bytesRead > 0);
  for (const socket of [...sockets, other]) socket.destroy();
});

describe('a browser request', () => {
  test.each([
    'evil.example',
    'evil.example:PORT',
    'localhost',
    '127.0.0.1:1',
    '127.0.0.1.evil.example:PORT',
    '0.0.0.0:PORT',
  ])('is rejected under the foreign host name %s', async (host) => {
    const { get, port } = await servedPage();
    const answer = await get('/api/rail', { headers: { host: host.replace('PORT', String(port)) } });
    expect(answer.code).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ kind: 'Status', reason: 'Forbidden', code: 403 });
  });

  test('is accepted under a host name of the page', async () => {
    const { get, port } = await servedPage();
    for (const name of ['127.0.0.1', 'localhost', '[::1]'])
      expect((await get('/api/rail', { headers: { host: `${name}:${port}` } })).code).toBe(200);
  });

  test('is rejected from a different origin or across sites', async () => {
    const { get, port } = await servedPage();
    const codeWith = async (headers: Record<string, string>) => (await get('/api/rail', { headers })).code;
    for (const origin of ['http://evil.example', 'null', `https://127.0.0.1:${port}`, 'http://127.0.0.1:1', ''])
      expect([origin, await codeWith({ origin })]).toEqual([origin, 403]);
    expect(await codeWith({ origin: `http://127.0.0.1:${port}` })).toBe(200);
    const fetched = (mode: string) => codeWith({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode });
    for (const mode of ['cors', 'no-cors', 'websocket']) expect(await fetched(mode)).toBe(403);
    // A link on a different site, e.g. in a chat, may lead to the page.
    expect(await fetched('navigate')).toBe(200);
  });

  test('across sites cannot open a WebSocket', async () => {
    let taken = 0;
    const inspected = {
      ...fakeInspected(),
      acceptStately: (_: unknown, connection: NodeJS.WritableStream) => {
        taken += 1;
        connection.end('HTTP/1.1 200 Taken\r\n\r\n');
      },
    };
    const { port } = await servedPage({ inspected });
    const upgraded = (path: string, headers: Record<string, string>) => sendBytes(port, upgradeOf(port, path, headers));
    for (const headers of [
      { origin: 'http://evil.example' },
      { host: 'evil.example' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'websocket' },
    ]) {
      const answer = await upgraded('/stately', headers);
      expect(answer).toMatch(/^HTTP\/1\.1 403 /);
      expect(answer).toContain("content-security-policy: default-src 'none'");
    }
    expect(await upgraded('/api/stream', {})).toMatch(/^HTTP\/1\.1 404 /);
    expect(taken).toBe(0);
    expect(await upgraded('/stately', { origin: `http://127.0.0.1:${port}` })).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test.each(['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'])(
  'a %s request is rejected, because only GET is allowed',
  async (method) => {
    const { get } = await servedPage();
    const { code, headers, body } = await get('/api/rail', { method });
    expect([code, headers.allow]).toEqual([405, 'GET']);
    if (method !== 'HEAD') expect(JSON.parse(body)).toMatchObject({ reason: 'MethodNotAllowed' });
  },
);

describe('a page token', () => {
  const token = 'dGhpcyBpcyB0aGUgdG9rZW4';

  test('is required: a missing, wrong or partial one is rejected', async () => {
    const { get, port, url } = await servedPage({ token });
    expect(new URL(url).search).toBe(`?token=${token}`);
    for (const path of [
      '/',
      '/?token=',
      '/?token=wrong',
      `/?token=${token.slice(0, -1)}`,
      `/?token=${token}x`,
      '/api/rail',
    ])
      expect([path, (await get(path)).code]).toEqual([path, 401]);
    const own = `statelet-token-${port}`;
    for (const cookie of ['', `${own}=`, `${own}=${token.slice(1)}`, `other=${token}`])
      expect((await get('/', { headers: { cookie } })).code).toBe(401);
    expect(await sendBytes(port, upgradeOf(port, '/stately'))).toMatch(/^HTTP\/1\.1 401 /);
    // The first value of a repeated parameter counts.
    expect((await get(`/?token=wrong&token=${token}`)).code).toBe(401);
  });

  test('opens the WebSocket of the Stately inspector, in the URL or the cookie', async () => {
    const inspected = {
      ...fakeInspected(),
      acceptStately: (_: unknown, connection: NodeJS.WritableStream) =>
        void connection.end('HTTP/1.1 200 Taken\r\n\r\n'),
    };
    const { port } = await servedPage({ token, inspected });
    const opened = (path: string, headers = {}) => sendBytes(port, upgradeOf(port, path, headers));
    expect(await opened('/stately')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await opened(`/stately?token=${token}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await opened('/stately', { cookie: `statelet-token-${port}=${token}` })).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('is moved from the link into a cookie that scripts cannot read', async () => {
    const { get, port } = await servedPage({ token });
    const { code, headers, body } = await get(`/pod/default/web?view=pod&token=${token}&token=again&at=5`);
    expect([code, headers.location, body]).toEqual([303, '/pod/default/web?view=pod&at=5', '']);
    const [cookie = ''] = headers['set-cookie'] ?? [];
    expect(cookie).toBe(`statelet-token-${port}=${token}; HttpOnly; SameSite=Lax; Path=/`);
    const [own = ''] = cookie.split(';');
    expect((await get('/api/rail', { headers: { cookie: `a=b; ${own}; c=d` } })).code).toBe(200);
    // An empty token in the URL does not invalidate the cookie.
    const again = await get('/?token=', { headers: { cookie: own } });
    expect([again.code, again.headers['set-cookie']?.[0]?.split(';')[0]]).toEqual([303, own]);
  });

  test('never redirects to a different host', async () => {
    const { get } = await servedPage({ token });
    for (const path of [
      '//evil.example/',
      '/.//evil.example/',
      '/\\\\evil.example/',
      'http://evil.example//other.example/',
    ])
      expect((await get(`${path}?token=${token}`)).headers.location).toMatch(/^\/(?![/\\])/);
  });

  test('is left in the URL if none is required', async () => {
    const { get } = await servedPage();
    const { code, headers } = await get('/api/rail?token=%0d%0aset-cookie:a=b');
    expect([code, headers]).toEqual([200, expect.not.objectContaining({ 'set-cookie': expect.anything() })]);
  });
});

describe('an odd request', () => {
  test.each([
    ['//', 200],
    ['/%', 200],
    ['/%zz?%=%', 200],
    ['//evil.example/api/rail', 200],
    ['/favicon.ico', 404],
    ['/robots.txt', 404],
    ['/pod/default/web.v1', 200],
    ['/api', 200],
    ['/api/', 404],
    ['/api//rail', 404],
    ['/api/rail/', 404],
    ['/api/constructor', 404],
    ['/api/__proto__', 404],
    ['/api/snapshot?at=', 400],
    ['/api/snapshot?at=now', 400],
    [`/api/snapshot?at=${'9'.repeat(310)}`, 400],
    ['/api/snapshot?at=8640000000000001', 400],
    ['/api/snapshot?at=8640000000000000', 200],
    ['/api/snapshot?at=-1e99', 400],
    ['/api/story?from=abc', 400],
    ['/api/story?to=2026-13-01T00:00:00Z', 400],
    ['/api/story?uid=%00%ff&from=1', 200],
    ['/api/detail?path=__proto__', 200],
    ['/api/stream', 400],
  ])('%s', async (path, code) => {
    const { get } = await servedPage();
    expect((await get(path)).code).toBe(code);
  });

  test('that is not HTTP or too large closes only its own connection', async () => {
    const { port, get } = await servedPage();
    expect(await sendBytes(port, 'constructor\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect((await get(`/${'a'.repeat(10_000)}`)).code).toBe(200);
    expect(await sendBytes(port, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await sendBytes(port, 'CONNECT evil.example:80 HTTP/1.1\r\nhost: evil.example:80\r\n\r\n')).toBe('');
    expect((await get('/api/rail')).code).toBe(200);
  });

  test('is passed on with its parameters as parsed', async () => {
    const { get } = await servedPage();
    const asked = async (path: string): Promise<unknown> => JSON.parse((await get(path)).body);
    expect(await asked('/api/story?uid=a&uid=b&from=5&to=1970-01-01T00:00:01Z')).toEqual({
      asked: ['story', 'a', 5, 1000],
    });
    expect(await asked('/api/story')).toEqual({ asked: ['story', '', 0, 8.64e15] });
    expect(await asked('/api/detail?path=pod%2Fx')).toEqual({ asked: ['detail', 'pod/x', null] });
    expect(await asked('/api/snapshot')).toEqual({ asked: ['moment', null] });
    expect(await asked('/api/object?uid=a&at=5')).toEqual({ asked: ['object', 'a', 5] });
    expect(await asked('/api/entry?actor=a&source=pleg&at=5')).toEqual({ asked: ['entry', 'a', 'pleg', 5] });
  });
});

describe('the inspected node', () => {
  test('is opened once, on the first authorized request, and again if that failed', async () => {
    let made = 0;
    const inspected = async () => {
      made += 1;
      if (made === 1) throw new Error('not yet');
      return fakeInspected();
    };
    const { get } = await servedPage({ inspected });
    expect((await get('/', { headers: { host: 'evil.example' } })).code).toBe(403);
    expect(made).toBe(0);
    const failed = await get('/api/rail');
    expect([failed.code, JSON.parse(failed.body).message]).toEqual([500, 'not yet']);
    await Promise.all([get('/api/rail'), get('/api/rail')]);
    expect(made).toBe(2);
  });

  test('may fail or report missing data, each with its reason', async () => {
    const failing = (error: Error) => async () => Promise.reject(error);
    const missing = {
      ...fakeInspected(),
      rail: failing(new NotInspected('none')),
      object: failing(new Error('broken')),
    };
    const { get } = await servedPage({ inspected: missing });
    const [rail, object] = [await get('/api/rail'), await get('/api/object')];
    expect([rail.code, JSON.parse(rail.body)]).toEqual([
      404,
      expect.objectContaining({ reason: 'NotFound', message: 'none' }),
    ]);
    expect([object.code, JSON.parse(object.body).message]).toEqual([500, 'broken']);
  });

  test('is closed with the server, which waits for no client', async () => {
    let closed = 0;
    const live = fakeLive();
    const inspected = {
      ...fakeInspected(live),
      // A connection that was upgraded stays open until the server closes it.
      acceptStately: () => {},
      close: async () => {
        closed += 1;
      },
    };
    const page = await servedPage({ inspected });
    const { port } = page;
    const streams = sendBytes(port, `GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    const socket = sendBytes(port, upgradeOf(port, '/stately'));
    await until(() => live.followers.size === 1);
    await page.close();
    expect([closed, live.followers.size]).toEqual([1, 0]);
    expect(await streams).toContain('event: snapshot');
    await socket;
    await expect(page.get('/')).rejects.toThrow();
  });
});

test('an unusable address fails with the reason in plain words', async () => {
  const { port } = await servedPage();
  const servedOn = (host: string) =>
    servePage({
      address: { host, port },
      directory: '/',
      token: undefined,
      openInspectedNode: async () => fakeInspected(),
    });
  const errorOn = (host: string) =>
    servedOn(host).then(
      () => 'served',
      (error: unknown) => String(error),
    );
  expect(await errorOn('127.0.0.1')).toBe(`NodeFailure: port ${port} of 127.0.0.1 is in use by another process`);
  expect(await errorOn('192.0.2.1')).toBe('NodeFailure: 192.0.2.1 is not an address of this host');
});
