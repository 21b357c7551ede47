import { beforeEach, describe, expect, test } from '@jest/globals';
import { hookService } from '../../../actors/services/containers/hookService.ts';
import { probeServices } from '../../../actors/services/probes/probeServices.ts';
import type { SimulatedServer } from '../../../actors/simulated/connection.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { SimulatedNetwork } from '../../../actors/simulated/simulatedNetwork.ts';
import { fetchText } from '../../../actors/sources/http/fetchText.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { type Gate, openGate } from '../../../host/simulated/gate.ts';
import type { Container, Probe } from '../../../kubernetes/api/schema/container.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';

let clock: SimulatedClock;
let servers: Record<string, SimulatedServer>;
let gate: Gate;

beforeEach(() => {
  clock = new SimulatedClock();
  servers = {};
  gate = openGate;
});

const network = () =>
  new SimulatedNetwork({
    clock,
    findServer: (host, port) => servers[`${host}:${port}`],
    gate: (call, act) => gate(call, act),
  });

const { signal } = new AbortController();
// The test makes no call to the runtime.
const cri = {} as Cri;
const node = () => ({ hostIps: ['192.0.2.1'] });

/** Returns the result of a probe of a container at 10.0.0.1, and how long it took. */
async function probed(probe: Probe) {
  const { runProbe } = probeServices({ cri, clock, network: network(), node, jitter: () => 0 });
  const pod = aPod({ containers: [aContainer({ livenessProbe: probe })] });
  const run = { pod, container: 'main', kind: 'liveness', id: 'id', podIp: '10.0.0.1' } as const;
  const { result, message, startedAt, at } = await clock.advanceUntilSettled(runProbe(run, { signal }));
  return { result, message, took: at - startedAt };
}

const httpProbe = (path = '/') => probed({ httpGet: { port: 80, path }, timeoutSeconds: 2 });
const tcpProbe = () => probed({ tcpSocket: { port: 80 }, timeoutSeconds: 2 });
const grpcProbe = (service = '') => probed({ grpc: { port: 80, service }, timeoutSeconds: 2 });

const listen = (server: SimulatedServer) => {
  servers['10.0.0.1:80'] = server;
};

describe('a probe of a simulated server', () => {
  test('gets the response for its path after a delay', async () => {
    listen({
      connectMs: 30,
      respond: (path) => (path === '/ready?now' ? { body: 'yes', delayMs: 70 } : { status: 503 }),
      health: (service) => ({ served: service === 'db' ? 2 : 1 }),
    });
    expect(await httpProbe('/ready?now')).toEqual({ result: 'success', message: 'yes', took: 100 });
    expect(await httpProbe()).toMatchObject({ result: 'failure', message: 'HTTP probe failed with statuscode: 503' });
    expect(await tcpProbe()).toEqual({ result: 'success', message: '', took: 30 });
    expect(await grpcProbe()).toEqual({ result: 'success', message: 'service healthy', took: 30 });
    expect(await grpcProbe('db')).toMatchObject({ message: 'service unhealthy (responded with "NOT_SERVING")' });
  });

  test('fails if no server listens or the address is unreachable', async () => {
    const refused = 'dial tcp 10.0.0.1:80: connect: connection refused';
    expect(await tcpProbe()).toEqual({ result: 'failure', message: refused, took: 0 });
    expect(await httpProbe()).toMatchObject({ result: 'failure', message: `Get "http://10.0.0.1:80/": ${refused}` });
    expect(await grpcProbe()).toMatchObject({ message: expect.stringMatching(/failed to connect .* 2s/), took: 2_000 });
    listen({ connection: 'unreachable', connectMs: 10 });
    expect(await tcpProbe()).toMatchObject({ message: expect.stringMatching(/no route to host$/), took: 10 });
  });

  test('times out if the server accepts no connection or never responds', async () => {
    listen({ connection: 'silent' });
    expect(await tcpProbe()).toMatchObject({ message: 'dial tcp 10.0.0.1:80: i/o timeout', took: 2_000 });
    listen({});
    expect(await tcpProbe()).toMatchObject({ result: 'success' });
    expect(await httpProbe()).toMatchObject({ message: expect.stringContaining('awaiting headers'), took: 2_000 });
    expect(await grpcProbe()).toMatchObject({ message: expect.stringContaining('did not complete'), took: 2_000 });
  });

  test('fails if the response breaks off, the connection is closed or the server falls silent', async () => {
    const cutting = (bytes: number, ending: 'closed' | 'reset' | 'silent') =>
      listen({ respond: () => ({ body: 'a long text', cut: { bytes, ending } }) });
    cutting(10, 'reset');
    expect(await httpProbe()).toMatchObject({ result: 'failure', message: expect.stringMatching(/connection reset/) });
    cutting(10, 'closed');
    expect(await httpProbe()).toMatchObject({ result: 'failure', message: expect.stringMatching(/malformed HTTP/) });
    cutting(45, 'reset');
    expect(await httpProbe()).toMatchObject({ result: 'error', message: 'read: connection reset by peer' });
    cutting(45, 'closed');
    expect(await httpProbe()).toMatchObject({ result: 'error', message: 'unexpected EOF' });
    cutting(45, 'silent');
    expect(await httpProbe()).toMatchObject({ result: 'error', message: expect.stringMatching(/while reading body/) });
  });

  test('leaves no timer behind in any of these cases', async () => {
    listen({ connectMs: 5_000, respond: () => ({ delayMs: 5_000 }) });
    for (const probe of [httpProbe, tcpProbe, grpcProbe]) await probe();
    listen({ respond: () => ({ delayMs: 5_000 }) });
    await httpProbe();
    expect(clock.pending).toBe(0);
  });
});

test('an HTTPS hook that gets a plain-text response is sent once more over HTTP', async () => {
  listen({ respond: (path) => (path === '/end' ? {} : undefined) });
  const gatedCalls: string[] = [];
  gate = (call, act) => {
    gatedCalls.push(`${call.name} ${call.about}`);
    return openGate(call, act);
  };
  const httpGet = { port: 80, path: '/end', scheme: 'HTTPS' as const };
  const lifecycle: NonNullable<Container['lifecycle']> = { preStop: { httpGet } };
  const pod = aPod({ containers: [aContainer({ lifecycle })] });
  const run = hookService({ cri, clock, network: network(), node })(
    { pod, container: 'main', id: 'id', hook: 'preStop', podIp: '10.0.0.1', graceSeconds: 30, deadline: undefined },
    { signal },
  );
  expect(await clock.advanceUntilSettled(run)).toMatchObject({
    failure: null,
    warnings: [{ reason: 'LifecycleHTTPFallback' }],
  });
  expect(gatedCalls).toEqual(['connect 10.0.0.1:80', 'connect 10.0.0.1:80']);
});

describe('fetching a URL from a simulated server', () => {
  const get = () =>
    clock.advanceUntilSettled(
      fetchText({ url: 'http://pods.example/list?a=b', headers: [], clock, network: network(), signal }),
    );
  const serve = (server: SimulatedServer) => {
    servers['pods.example:80'] = server;
  };

  test('returns the response of the server', async () => {
    serve({ connectMs: 1_000, respond: (path) => ({ body: `at ${path}`, delayMs: 1_000 }) });
    expect(await get()).toBe('at /list?a=b');
    serve({ respond: () => ({ status: 404 }) });
    await expect(get()).rejects.toThrow('the server answered 404 Not Found');
  });

  test('fails on an incomplete or missing response', async () => {
    await expect(get()).rejects.toThrow('connect ECONNREFUSED pods.example:80');
    for (const bytes of [5, 45]) {
      serve({ respond: () => ({ body: 'a long text', cut: { bytes, ending: 'reset' } }) });
      await expect(get()).rejects.toThrow('read ECONNRESET');
      serve({ respond: () => ({ body: 'a long text', cut: { bytes, ending: 'silent' } }) });
      await expect(get()).rejects.toThrow('no response within 10 s');
    }
    serve({});
    await expect(get()).rejects.toThrow('no response within 10 s');
    expect(clock.pending).toBe(0);
  });
});

test('a connection that the gate rejects fails with that reason', async () => {
  listen({ respond: () => ({}) });
  gate = () => Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
  expect(await tcpProbe()).toMatchObject({ result: 'failure', message: 'too many open files' });
});
