import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hookService } from '../../../../actors/services/containers/hookService.ts';
import { hostNetwork as network } from '../../../../actors/services/http/hostNetwork.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { Cri } from '../../../../cri/client/calls.ts';
import { POD_UID_LABEL } from '../../../../cri/config/labels.ts';
import { type ExecSyncRequest, type ExecSyncResponse, PodSandboxStatus } from '../../../../cri/generated/runtime.ts';
import type { LifecycleHandler } from '../../../../kubernetes/api/schema/container.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { withRoot } from '../../../volume/onDisk.ts';
import { certificate, key } from '../certificate.ts';

/** A request that a server has received. */
interface ReceivedRequest {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const asked: ReceivedRequest[] = [];
const servers: (Server | TcpServer)[] = [];
let [plain, secure] = [0, 0];

const portOf = (server: Server | TcpServer, { port = 0, host = '127.0.0.1' } = {}) =>
  new Promise<number>((resolve, reject) => {
    servers.push(server);
    server.once('error', reject);
    // A server that listens on a port has an address of this type.
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });

/**
 * Returns a server that sends the next of these responses on each connection, whatever the request is, and closes it.
 */
const respondingWith = (...answers: string[]) =>
  createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answers.shift() ?? ''));
  });

beforeAll(async () => {
  const answer: Parameters<typeof createServer>[1] = ({ url, headers }, response) => {
    asked.push({ path: url, headers });
    if (url === '/away') response.writeHead(302, { location: 'http://127.0.0.2:1/' });
    if (url === '/error') response.writeHead(500);
    if (url === '/from') response.writeHead(302, { location: '/to' });
    if (url === '/broken') response.writeHead(302, { location: 'http://[' });
    if (url !== '/never') response.end();
  };
  plain = await portOf(createServer({}, answer));
  secure = await portOf(createSecureServer({ cert: certificate, key }, answer));
});

afterAll(() => {
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

interface Run {
  readonly hook?: 'postStart' | 'preStop';
  readonly deadline?: number;
  readonly exec?: (request: ExecSyncRequest) => Partial<ExecSyncResponse>;
  readonly advance?: number;
}

const requests: ExecSyncRequest[] = [];

/** Runs a hook of the pod `web`. `exec` runs its commands. */
async function run(handler: LifecycleHandler, { hook = 'postStart', deadline, exec, advance = 0 }: Run = {}) {
  const clock = new SimulatedClock();
  const bytes = new Uint8Array();
  // A hook uses only this call of the runtime.
  const cri = {
    execSync: async (request: ExecSyncRequest) => {
      requests.push(request);
      return { exitCode: 0, stdout: bytes, stderr: bytes, ...exec?.(request) };
    },
  } as unknown as Cri;
  const container = aContainer({ lifecycle: { [hook]: handler }, ports: [{ name: 'web', containerPort: plain }] });
  const ended = hookService({ cri, clock, network, node: () => ({ hostIps: ['127.0.0.1'] }) })(
    {
      pod: aPod({ hostNetwork: true, containers: [container] }),
      container: 'main',
      id: 'c1',
      hook,
      podIp: undefined,
      graceSeconds: 30,
      deadline: deadline === undefined ? undefined : clock.now() + deadline,
    },
    { signal: new AbortController().signal },
  );
  const began = clock.now();
  await clock.advance(advance);
  const { deadline: until, failure, ...more } = await ended;
  return { graceMs: until - began, failure: failure && `${failure.reason}: ${failure.message}`, ...more };
}

const bytesOf = (text: string) => Buffer.from(text);

describe('C10: an exec hook', () => {
  test('runs the command unexpanded, and without a timeout in the runtime', async () => {
    requests.length = 0;
    const handler = { exec: { command: ['sh', '-c', 'true $(X)'] } };
    expect(await run(handler)).toMatchObject({ failure: null });
    expect(await run(handler, { hook: 'preStop', deadline: 4_500 })).toEqual({
      graceMs: 4_500,
      graceSeconds: 30,
      failure: null,
    });
    expect(requests).toEqual([
      { containerId: 'c1', cmd: ['sh', '-c', 'true $(X)'], timeout: 0n },
      { containerId: 'c1', cmd: ['sh', '-c', 'true $(X)'], timeout: 0n },
    ]);
  });

  test('is awaited until the grace period ends, and is not canceled then or when the caller aborts', async () => {
    const signals: AbortSignal[] = [];
    const clock = new SimulatedClock();
    // A hook uses only this call of the runtime.
    const cri = {
      execSync: (_: ExecSyncRequest, { signal }: { signal: AbortSignal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    } as unknown as Cri;
    const container = aContainer({ lifecycle: { preStop: { exec: { command: ['sleep', '9'] } } } });
    const input = {
      pod: aPod({ containers: [container] }),
      container: 'main',
      id: 'c1',
      podIp: undefined,
      hook: 'preStop' as const,
      graceSeconds: 30,
      deadline: clock.now() + 4_000,
    };
    const leaving = new AbortController();
    const ended = [new AbortController(), leaving].map(({ signal }) =>
      hookService({ cri, clock, network, node: () => ({ hostIps: [] }) })(input, { signal }),
    );
    leaving.abort();
    expect(await ended[1]).toMatchObject({ failure: null });
    await clock.advance(4_000);
    expect(await ended[0]).toMatchObject({ failure: null });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  test('that fails reports the message of a kubelet', async () => {
    const exec = () => ({ exitCode: 3, stdout: bytesOf('so\n'), stderr: bytesOf('no "way"') });
    const { failure } = await run({ exec: { command: ['sh', '-c', 'exit 3'] } }, { exec });
    expect(failure).toBe(
      'PostStartHookError: Exec lifecycle hook ([sh -c exit 3]) for Container "main" in Pod "web_default(uid-1)" failed' +
        ` - error: command 'sh -c exit 3' exited with 3: no "way", message: "so\\nno \\"way\\""`,
    );
    const preStop = await run({ exec: { command: ['false'] } }, { exec, hook: 'preStop' });
    expect(preStop).toMatchObject({ graceMs: 30_000, failure: expect.stringMatching(/^FailedPreStopHook: Exec /) });
  });
});

test('C10: a tcpSocket hook fails, because Kubernetes has no such hook', async () => {
  const { failure } = await run({ tcpSocket: { port: plain } });
  expect(failure).toBe('PostStartHookError: Cannot run handler: invalid handler: tcpSocket');
  expect((await run({ tcpSocket: { port: plain } }, { hook: 'preStop' })).failure).toMatch(/^FailedPreStopHook: /);
});

describe('C10: an httpGet hook', () => {
  const action = (path: string, more = {}) => ({ httpGet: { path, port: plain, ...more } });

  test('of a pod known only from the runtime is sent to the address that the runtime reports', async () => {
    asked.length = 0;
    const looks: string[] = [];
    const sandbox = PodSandboxStatus.fromPartial({
      id: 's1',
      metadata: { name: 'web', namespace: 'default', uid: 'uid-1' },
      network: { ip: '127.0.0.1' },
      labels: { [POD_UID_LABEL]: 'uid-1' },
    });
    // The hook uses only these calls of the runtime.
    const cri = {
      listContainers: async ({ filter }: { filter: { id: string } }) => {
        looks.push(filter.id);
        return { containers: [{ podSandboxId: 's1' }] };
      },
      podSandboxStatus: async ({ podSandboxId }: { podSandboxId: string }) => {
        looks.push(podSandboxId);
        return { status: sandbox };
      },
    } as unknown as Cri;
    const container = aContainer({ lifecycle: { preStop: action('/bye') } });
    const clock = new SimulatedClock();
    // No server listens on the address of the node.
    const ended = await hookService({ cri, clock, network, node: () => ({ hostIps: ['127.0.0.9'] }) })(
      {
        pod: aPod({ containers: [container] }),
        container: 'main',
        id: 'c1',
        podIp: undefined,
        hook: 'preStop',
        graceSeconds: 1,
        deadline: undefined,
      },
      { signal: new AbortController().signal },
    );
    expect(ended).toMatchObject({ failure: null });
    expect(asked.map(({ path }) => path)).toEqual(['/bye']);
    expect(looks).toEqual(['c1', 's1']);
  });

  test('is sent with its headers to its host, or else to the pod', async () => {
    asked.length = 0;
    const httpHeaders = [
      { name: 'X-Hook', value: 'yes' },
      { name: 'Host', value: 'example.com' },
    ];
    expect(await run(action('/hook?a=b', { httpHeaders }))).toMatchObject({ failure: null });
    expect(await run(action('/named', { port: 'web', host: 'localhost' }))).toMatchObject({ failure: null });
    expect(asked).toMatchObject([
      { path: '/hook?a=b', headers: { 'x-hook': 'yes', host: 'example.com', accept: '*/*' } },
      {
        path: '/named',
        headers: { host: `localhost:${plain}`, 'user-agent': expect.stringMatching(/^kube-lifecycle/) },
      },
    ]);
  });

  test.each([
    ['//status', '/'],
    ['http://e/foo', '/foo'],
    ['/a/../b', '/a/../b'],
    ['/a\\b', '/a%5Cb'],
    ['/%zz', '/%25zz'],
    ['/x?', '/x?'],
  ])('requests the path %j as %j, like Go', async (path, target) => {
    asked.length = 0;
    expect(await run(action(path))).toMatchObject({ failure: null });
    expect(asked.map((each) => each.path)).toEqual([target]);
  });

  test('keeps its Host over a relative redirect, sends no empty User-Agent, and fails if Location cannot be parsed', async () => {
    asked.length = 0;
    const httpHeaders = [
      { name: 'Host', value: 'example.com' },
      { name: 'User-Agent', value: '' },
    ];
    expect(await run(action('/from', { httpHeaders }))).toMatchObject({ failure: null });
    expect(asked.map(({ path, headers }) => [path, headers.host])).toEqual([
      ['/from', 'example.com'],
      ['/to', 'example.com'],
    ]);
    for (const { headers } of asked) expect(headers).not.toHaveProperty('user-agent');
    expect((await run(action('/broken'))).failure).toMatch(
      /^PostStartHookError: HTTP .*failed to parse Location header/,
    );
  });

  test('over HTTPS accepts any certificate, and falls back to HTTP if the server has no TLS', async () => {
    expect(await run(action('/', { port: secure, scheme: 'HTTPS' }))).toMatchObject({ failure: null });
    asked.length = 0;
    const httpHeaders = [{ name: 'Authorization', value: 'secret' }];
    const { failure, warnings } = await run(action('/', { scheme: 'HTTPS', httpHeaders }));
    expect(failure).toBeNull();
    const message = `request to HTTPS lifecycle hook 127.0.0.1:${plain} got HTTP response, retry with HTTP succeeded`;
    expect(warnings).toEqual([{ eventType: 'Warning', reason: 'LifecycleHTTPFallback', message }]);
    // A secret header is not sent without TLS.
    expect(asked).toHaveLength(1);
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
  });

  test('succeeds with any response status', async () => {
    expect(await run(action('/error'))).toMatchObject({ failure: null });
    expect(await run(action('/away'))).toMatchObject({ failure: null });
  });

  withRoot('over HTTPS tells the port of a server without TLS also when it is the usual one', async () => {
    const host = '127.44.3.1';
    await portOf(respondingWith('HTTP/1.1 400 Bad Request\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'), { port: 443, host });
    const { failure, warnings } = await run(action('/', { host, port: 443, scheme: 'HTTPS' }));
    expect(failure).toBeNull();
    expect(warnings?.[0]?.message).toMatch(`request to HTTPS lifecycle hook ${host}:443 got HTTP response`);
  });

  test('over HTTPS fails with the first error if the HTTP fallback fails as well', async () => {
    const port = await portOf(respondingWith('HTTP/1.1 400 Bad Request\r\n\r\n', ''));
    const { failure, warnings } = await run(action('/x', { port, scheme: 'HTTPS' }));
    expect(failure).toMatch(
      `failed - error: Get "https://127.0.0.1:${port}/x": http: server gave HTTP response to HTTPS client`,
    );
    expect(warnings).toBeUndefined();
  });

  test('succeeds with a response whose body breaks off', async () => {
    const half = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nha';
    const port = await portOf(respondingWith(half, 'HTTP/1.1 400 Bad Request\r\n\r\n', half));
    expect(await run(action('/', { port }))).toMatchObject({ failure: null });
    const { failure, warnings } = await run(action('/', { port, scheme: 'HTTPS' }));
    expect([failure, warnings]).toMatchObject([null, [{ reason: 'LifecycleHTTPFallback' }]]);
  });

  test('without a listening server fails', async () => {
    const { failure } = await run(action('/x', { port: 1 }));
    expect(failure).toBe(
      'PostStartHookError: HTTP lifecycle hook (/x) for Container "main" in Pod "web_default(uid-1)" failed' +
        ' - error: Get "http://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });

  test('is aborted at the end of the grace period', async () => {
    const { failure } = await run(action('/never'), { hook: 'preStop', deadline: 2_000, advance: 2_000 });
    expect(failure).toMatch(/^FailedPreStopHook: HTTP .* context deadline exceeded/);
  });

  test('fails without a valid port', async () => {
    expect((await run(action('/', { port: 'none' }))).failure).toMatch(/^PostStartHookError: HTTP .*none/);
  });
});

describe('C10: a sleep hook', () => {
  test('sleeps for its duration, or until the grace period is over', async () => {
    expect(await run({ sleep: { seconds: 5 } }, { advance: 5_000 })).toMatchObject({ failure: null });
    expect(
      await run({ sleep: { seconds: 3_600 } }, { hook: 'preStop', deadline: 2_000, advance: 2_000 }),
    ).toMatchObject({ failure: null });
    expect(await run({ sleep: { seconds: 0 } })).toMatchObject({ failure: null });
    const days = 30 * 86_400;
    expect(
      await run({ sleep: { seconds: days } }, { hook: 'preStop', deadline: 31 * 86_400_000, advance: days * 1_000 }),
    ).toMatchObject({ failure: null });
    expect(await run({ sleep: { seconds: days } }, { hook: 'postStart', advance: days * 1_000 })).toMatchObject({
      failure: null,
    });
  });
});
