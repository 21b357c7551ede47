/** The gRPC probe against a real server of the standard health protocol. */
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, expect, test } from '@jest/globals';
import { hostNetwork as network } from '../../../../actors/services/http/hostNetwork.ts';
import { probeGrpc } from '../../../../actors/services/probes/probeGrpc.ts';
import { probeServices } from '../../../../actors/services/probes/probeServices.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';

const host = '127.0.0.1';
const never = new AbortController().signal;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.forceShutdown();
});

/**
 * Serves health checks. The name of the service determines the response: `serving`, `starting`, `unknown`, `silent`.
 */
async function healthServer(path = '/grpc.health.v1.Health/Check'): Promise<{ port: number; agents: string[] }> {
  const server = new Server();
  servers.push(server);
  const agents: string[] = [];
  const codes: Readonly<Record<string, number>> = { '': 1, serving: 1, starting: 2 };
  const check = {
    path,
    requestStream: false,
    responseStream: false,
    requestDeserialize: (bytes: Buffer) => ({ service: bytes.subarray(2).toString('utf8') }),
    requestSerialize: (text: string) => Buffer.from(text),
    responseSerialize: (code: number) => Buffer.from([8, code]),
    responseDeserialize: (bytes: Buffer) => bytes[1] ?? 0,
  };
  server.addService(
    { check },
    {
      check: (
        call: { request: { service: string }; metadata: { get(name: string): unknown[] } },
        answer: (error: object | null, code?: number) => void,
      ) => {
        agents.push(String(call.metadata.get('user-agent')[0]));
        const code = codes[call.request.service];
        if (code !== undefined) answer(null, code);
        else if (call.request.service !== 'silent') answer({ code: status.NOT_FOUND, details: 'unknown service' });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${host}:0`, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, agents };
}

const probeOnce = (port: number, service = '') =>
  probeGrpc(
    network,
    { host, port, service },
    { timeoutSeconds: 1, deadline: systemClock.now() + 1_000, signal: never },
  );
const failure = (message: string) => ({ result: 'failure', message });

test('a gRPC probe succeeds only with SERVING', async () => {
  const { port, agents } = await healthServer();
  expect(await probeOnce(port)).toEqual({ result: 'success', message: 'service healthy' });
  expect(await probeOnce(port, 'serving')).toMatchObject({ result: 'success' });
  expect(await probeOnce(port, 'starting')).toEqual(failure('service unhealthy (responded with "NOT_SERVING")'));
  expect(await probeOnce(port, 'other')).toEqual(
    failure('error: health rpc probe failed: rpc error: code = NotFound desc = unknown service'),
  );
  expect(agents[0]).toMatch(/^kube-probe\/1\.36 /);
});

test('a gRPC probe fails if the server lacks the health service, never responds or does not listen', async () => {
  const { port } = await healthServer('/another.Service/Call');
  expect((await probeOnce(port)).message).toMatch(/^error: this server does not implement the grpc health protocol/);
  const silent = await healthServer();
  expect(await probeOnce(silent.port, 'silent')).toEqual(failure('timeout: health rpc did not complete within 1s'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const closed = typeof address === 'object' && address ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  expect(await probeOnce(closed)).toEqual(
    failure(`timeout: failed to connect service "${host}:${closed}" within 1s: context deadline exceeded`),
  );
});

test('a gRPC probe with a timeout too long for a timer is attempted, and ends by the clock of the node', async () => {
  const { port, agents } = await healthServer();
  const clock = new SimulatedClock(systemClock.now());
  // A gRPC probe sends no call to the runtime.
  const parts = {
    cri: {} as Parameters<typeof probeServices>[0]['cri'],
    node: () => ({ hostIps: [host] }),
    jitter: () => 0,
  };
  const { runProbe } = probeServices({ ...parts, network, clock });
  const timeoutSeconds = 30 * 86_400;
  const probed = (service: string) => {
    const containers = [aContainer({ readinessProbe: { grpc: { port, service }, timeoutSeconds } })];
    const run = { pod: aPod({ containers }), container: 'main', kind: 'readiness', id: 'c1', podIp: host } as const;
    return runProbe(run, { signal: never });
  };
  expect(await probed('serving')).toMatchObject({ result: 'success' });
  const silent = probed('silent');
  await eventually('the server is asked', () => agents.length === 2);
  await clock.advance(timeoutSeconds * 1_000 - 1);
  expect(await Promise.race([silent, pause(50)])).toBeUndefined();
  await clock.advance(1);
  expect(await silent).toMatchObject(failure('timeout: health rpc did not complete within 2592000s'));
});

test('a gRPC timeout too long for a timer does not expire at once, and only the signal ends the attempt', async () => {
  const { port } = await healthServer();
  const [limit, timeoutSeconds, deadline] = [new AbortController(), 30 * 86_400, Number.POSITIVE_INFINITY];
  const options = { timeoutSeconds, deadline, signal: limit.signal };
  expect(await probeGrpc(network, { host, port, service: '' }, options)).toMatchObject({ result: 'success' });
  const silent = probeGrpc(network, { host, port, service: 'silent' }, options);
  setTimeout(() => limit.abort(), 100);
  expect(await silent).toEqual(failure('timeout: health rpc did not complete within 2592000s'));
});
