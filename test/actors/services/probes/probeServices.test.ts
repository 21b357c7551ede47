/** A single attempt of each kind of probe, against real servers on this host. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { hostNetwork as network } from '../../../../actors/services/http/hostNetwork.ts';
import { probeServices } from '../../../../actors/services/probes/probeServices.ts';
import { NodeFailure } from '../../../../base/failure.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import type { Container, LifecycleHandler, Probe } from '../../../../kubernetes/api/schema/container.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { certificate, key } from '../certificate.ts';

const HOST = '127.0.0.1';
const never = new AbortController().signal;
const servers: (Server | TcpServer)[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  // A server that listens on a port has an address of this type.
  return (server.address() as AddressInfo).port;
}

const serving = (listener: RequestListener) => listening(createServer(listener));

/** Returns a port on which no server listens. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type ExecSync = Parameters<typeof probeServices>[0]['cri']['execSync'];

/** Runs a readiness probe of the container `main` once. */
async function probeOnce(
  probe: Probe,
  { more = {}, execSync }: { more?: Partial<Container>; execSync?: ExecSync } = {},
): Promise<{ result: string; message: string; took: number }> {
  const pod = aPod({ containers: [aContainer({ readinessProbe: probe, ...more })] });
  const cri = { execSync } as Parameters<typeof probeServices>[0]['cri'];
  const { runProbe } = probeServices({
    network,
    cri,
    clock: systemClock,
    node: () => ({ hostIps: ['192.0.2.1'] }),
    jitter: () => 0,
  });
  const run = { pod, container: 'main', kind: 'readiness', id: 'c1', podIp: HOST } as const;
  const { result, message, startedAt, at } = await runProbe(run, { signal: never });
  return { result, message, took: at - startedAt };
}

type HttpHeader = NonNullable<NonNullable<LifecycleHandler['httpGet']>['httpHeaders']>[number];

const success = { result: 'success' };
const failure = (message: unknown) => ({ result: 'failure', message });

describe('httpGet', () => {
  test('succeeds with 200 to 399, and fails otherwise with the status and without the body', async () => {
    const port = await serving((request, response) => {
      response.statusCode = Number(request.url?.slice(1));
      response.end('secret');
    });
    for (const status of [200, 204, 299]) {
      expect(await probeOnce({ httpGet: { port, path: `/${status}` } })).toMatchObject(success);
    }
    for (const status of [400, 404, 500, 503]) {
      expect(await probeOnce({ httpGet: { port, path: `/${status}` } })).toMatchObject(
        failure(`HTTP probe failed with statuscode: ${status}`),
      );
    }
  });

  test('sends the request of a kubelet with the headers of the probe', async () => {
    const seen: Record<string, unknown>[] = [];
    const port = await serving((request, response) => {
      seen.push({ method: request.method, url: request.url, ...request.headers });
      response.end();
    });
    await probeOnce({ httpGet: { port, path: 'healthz?full=1&x=%20' } });
    expect(seen[0]).toEqual({
      method: 'GET',
      url: '/healthz?full=1&x=%20',
      host: `${HOST}:${port}`,
      'user-agent': 'kube-probe/1.36',
      accept: '*/*',
      connection: 'close',
    });
    const httpHeaders = [
      { name: 'Host', value: 'shop.example' },
      { name: 'User-Agent', value: 'mine' },
      { name: 'Accept', value: '' },
      { name: 'X-Many', value: 'a' },
      { name: 'x-many', value: 'b' },
    ];
    await probeOnce({ httpGet: { port, httpHeaders } });
    expect(seen[1]).toEqual({
      method: 'GET',
      url: '/',
      host: 'shop.example',
      'user-agent': 'mine',
      'x-many': 'a, b',
      connection: 'close',
    });
  });

  test('accepts a named port, a port as a string and a custom host, and rejects an invalid port', async () => {
    const port = await serving((_, response) => void response.end());
    const ports = [{ name: 'web', containerPort: port }];
    expect(await probeOnce({ httpGet: { port: 'web' } }, { more: { ports } })).toMatchObject(success);
    expect(await probeOnce({ httpGet: { port: String(port), host: 'localhost' } })).toMatchObject(success);
    expect(await probeOnce({ httpGet: { port: 'other' } }, { more: { ports } })).toMatchObject({
      result: 'error',
      message: 'strconv.Atoi: parsing "other": invalid syntax',
    });
  });

  test('follows redirects on the same host only, and ends with a warning on a redirect to another', async () => {
    const port = await serving(({ url = '' }, response) => {
      const location = {
        '/near': '/200',
        '/far': 'http://localhost:1/',
        '/round': '/round',
        '/files': `ftp://${HOST}:1/file`,
        '/opaque': 'mailto:x',
        '/empty': '',
      }[url];
      response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location }).end('body');
    });
    expect(await probeOnce({ httpGet: { port, path: '/near' } })).toMatchObject(success);
    for (const path of ['/far', '/opaque', '/empty']) {
      expect(await probeOnce({ httpGet: { port, path } })).toMatchObject({
        result: 'warning',
        message: 'Probe terminated redirects, Response body: body',
      });
    }
    expect(await probeOnce({ httpGet: { port, path: '/round' } })).toMatchObject(
      failure('Get "/round": stopped after 10 redirects'),
    );
    expect(await probeOnce({ httpGet: { port, path: '/files' } })).toMatchObject(
      failure(`Get "ftp://${HOST}:1/file": unsupported protocol scheme "ftp"`),
    );
  });

  test.each([
    ['/%zz', 'parse "/%zz": invalid URL escape "%zz"'],
    ['http://h\\x/', 'parse "http://h\\\\x/": invalid character "\\\\" in host name'],
  ])('fails on a redirect to %s, which is not a URL', async (location, reason) => {
    const port = await serving((_, response) => void response.writeHead(302, { location }).end());
    expect(await probeOnce({ httpGet: { port, path: '/a' } })).toMatchObject(
      failure(`Get "http://${HOST}:${port}/a": failed to parse Location header ${JSON.stringify(location)}: ${reason}`),
    );
  });

  describe('after a redirect', () => {
    /** Returns the headers of the second request. */
    async function redirected(locationOf: (port: number) => string, httpHeaders: HttpHeader[] = []) {
      const seen: Record<string, unknown>[] = [];
      const port: number = await serving((request, response) => {
        seen.push({ url: request.url, ...request.headers });
        response.writeHead(seen.length === 1 ? 302 : 200, { location: locationOf(port) }).end();
      });
      expect(await probeOnce({ httpGet: { port, path: '/a?b', httpHeaders } })).toMatchObject(success);
      return { port, seen: seen[1] };
    }
    const host = { name: 'Host', value: 'app.example.test' };

    test('sends a custom Host again if the Location has no scheme', async () => {
      const key = { name: 'X-Key', value: 'k1' };
      const { seen, port } = await redirected(() => '/login/', [host, key]);
      expect(seen).toMatchObject({ url: '/login/', host: 'app.example.test', 'x-key': 'k1' });
      expect(seen).toMatchObject({ referer: `http://${HOST}:${port}/a?b` });
      expect((await redirected((each) => `//${HOST}:${each}/x`, [host])).seen).toMatchObject({ host: host.value });
    });

    test('sends the Host of an absolute Location instead of a custom one', async () => {
      const { seen, port } = await redirected((each) => `http://${HOST}:${each}/x`, [host]);
      expect(seen).toMatchObject({ url: '/x', host: `${HOST}:${port}` });
    });

    test('sends the Referer of the probe again', async () => {
      const { seen } = await redirected(() => '/x', [{ name: 'Referer', value: 'http://mine' }]);
      expect(seen).toMatchObject({ referer: 'http://mine' });
    });
  });

  test('omits a User-Agent set to "", and sends an invalid Host as ""', async () => {
    const seen: Record<string, unknown>[] = [];
    const port = await serving((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const httpHeaders = [
      { name: 'User-Agent', value: '' },
      { name: 'Host', value: 'a/b' },
    ];
    await probeOnce({ httpGet: { port, httpHeaders } });
    expect(seen[0]).toEqual({ host: '', accept: '*/*', connection: 'close' });
  });

  test('sends the user and password of a URL-like path as an Authorization header', async () => {
    const seen: Record<string, unknown>[] = [];
    const port = await serving((request, response) => {
      seen.push({ url: request.url, ...request.headers });
      response.end();
    });
    await probeOnce({ httpGet: { port, path: '//u:p@h/x' } });
    expect(seen[0]).toMatchObject({ url: '/x', authorization: 'Basic dTpw', host: `${HOST}:${port}` });
    expect((await probeOnce({ httpGet: { port: await closedPort(), path: '//u:p@h/x' } })).message).toContain('u:***@');
  });

  test('fails on a path that results in no host', async () => {
    expect(await probeOnce({ httpGet: { port: 80, path: 'mailto:x' } })).toMatchObject(
      failure('Get "http:x": http: no Host in request URL'),
    );
  });

  test('reads at most 10 KiB of the body', async () => {
    const port = await serving((_, response) => void response.end('x'.repeat(50_000)));
    expect((await probeOnce({ httpGet: { port } })).message).toHaveLength(10 * 1024);
  });

  test('accepts any certificate over HTTPS, and reports a server without TLS', async () => {
    const port = await listening(createSecureServer({ key, cert: certificate }, (_, response) => void response.end()));
    expect(await probeOnce({ httpGet: { port, scheme: 'HTTPS' } })).toMatchObject(success);
    const plain = await serving((_, response) => void response.end());
    expect(await probeOnce({ httpGet: { port: plain, scheme: 'HTTPS' } })).toMatchObject(
      failure(`Get "https://${HOST}:${plain}/": http: server gave HTTP response to HTTPS client`),
    );
  });

  test('fails if no server listens, if the response times out and if the connection is closed', async () => {
    const closed = await closedPort();
    expect(await probeOnce({ httpGet: { port: closed } })).toMatchObject(
      failure(`Get "http://${HOST}:${closed}/": dial tcp ${HOST}:${closed}: connect: connection refused`),
    );
    const silent = await serving(() => {});
    const { took, ...late } = await probeOnce({ httpGet: { port: silent } });
    expect(late).toEqual(
      failure(
        `Get "http://${HOST}:${silent}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
      ),
    );
    expect(took).toBeGreaterThan(900);
    const rude = await listening(createTcpServer((socket) => socket.end()));
    expect(await probeOnce({ httpGet: { port: rude } })).toMatchObject(failure(`Get "http://${HOST}:${rude}/": EOF`));
  });

  test('counts an incomplete response as a probe error after three attempts, and does not send a header with a line break', async () => {
    let asked = 0;
    const half = await serving((_, response) => {
      asked += 1;
      response.writeHead(200, { 'content-length': 9 }).write('half');
      setTimeout(() => response.destroy(), 10);
    });
    expect(await probeOnce({ httpGet: { port: half } })).toMatchObject({ result: 'error', message: 'unexpected EOF' });
    expect(asked).toBe(3);
    const httpHeaders = [{ name: 'X-Evil', value: 'a\r\nX-More: b' }];
    expect(await probeOnce({ httpGet: { port: half, httpHeaders } })).toMatchObject(
      failure(`Get "http://${HOST}:${half}/": net/http: invalid header field value for "X-Evil"`),
    );
    expect(asked).toBe(3);
  });

  test('reports a reset connection during the response as Go does', async () => {
    const breaking = (answer: string) =>
      listening(
        createTcpServer((socket) => {
          socket.once('data', () => socket.write(answer, () => socket.resetAndDestroy()));
        }),
      );
    const body = await breaking('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    const reset = 'read: connection reset by peer';
    expect(await probeOnce({ httpGet: { port: body } })).toMatchObject({ result: 'error', message: reset });
    const head = await breaking('HTTP/1.1 200 OK\r\n');
    expect(await probeOnce({ httpGet: { port: head } })).toMatchObject(
      failure(`Get "http://${HOST}:${head}/": ${reset}`),
    );
  });
});

describe('tcpSocket', () => {
  test('succeeds if the connection can be established', async () => {
    const port = await listening(createTcpServer());
    expect(await probeOnce({ tcpSocket: { port } })).toMatchObject(success);
    const closed = await closedPort();
    expect(await probeOnce({ tcpSocket: { port: closed } })).toMatchObject(
      failure(`dial tcp ${HOST}:${closed}: connect: connection refused`),
    );
  });
});

describe('exec', () => {
  const answers =
    (exitCode: number, stdout = '', stderr = ''): ExecSync =>
    async () => ({ exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) });

  test('is decided by the exit code, with the output as the message', async () => {
    const exec = { command: ['check'] };
    expect(await probeOnce({ exec }, { execSync: answers(0, 'fine') })).toMatchObject({ ...success, message: 'fine' });
    expect(await probeOnce({ exec }, { execSync: answers(1, 'out', 'err') })).toMatchObject(failure('outerr'));
  });

  test('fails without another attempt when the timeout expires', async () => {
    let calls = 0;
    const execSync: ExecSync = async ({ timeout, cmd }) => {
      calls += 1;
      expect([timeout, cmd]).toEqual([3n, ['sleep', '10']]);
      throw new NodeFailure('DeadlineExceeded', 'ExecSync: timeout 3s exceeded');
    };
    const env = [{ name: 'LONG', value: '10' }];
    expect(
      await probeOnce({ exec: { command: ['sleep', '$(LONG)'] }, timeoutSeconds: 3 }, { more: { env }, execSync }),
    ).toMatchObject(failure('command timed out: "sleep 10" timed out after 3s'));
    expect(calls).toBe(1);
  });

  test('retries a tool error up to three times, and such an error does not affect the container', async () => {
    let calls = 0;
    const failing = (times: number): ExecSync => {
      calls = 0;
      return async () => {
        calls += 1;
        if (calls <= times) throw new NodeFailure('RuntimeUnavailable', 'ExecSync: gone');
        return { exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      };
    };
    expect(await probeOnce({ exec: { command: ['x'] } }, { execSync: failing(2) })).toMatchObject(success);
    expect(await probeOnce({ exec: { command: ['x'] } }, { execSync: failing(9) })).toMatchObject({
      result: 'error',
      message: 'ExecSync: gone',
    });
    expect(calls).toBe(3);
  });
});
