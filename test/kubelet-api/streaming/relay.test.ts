/** Connections between a client and the runtime's streaming server when one side breaks while the other one is slow. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '../../../base/time/clock.ts';
import { PodSandbox, PodSandboxState } from '../../../cri/generated/runtime.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { SpdyConnection } from '../../../cri/streaming/spdyConnection.ts';
import type { SpdyStream } from '../../../cri/streaming/spdyStream.ts';
import { StreamSessions } from '../../../kubelet-api/sessions.ts';
import { streamingRoutes } from '../../../kubelet-api/streaming/routes.ts';
import { runningContainers } from '../../fakes/runningContainers.ts';
import { servedRoutes } from '../../fakes/serving/relay/served.ts';
import { openSockets } from '../../host/support/resettingClients.ts';
import { podView, running, seenPod } from '../../kubernetes/views.ts';

/** More data than the buffers of both connections and of the relay can hold. */
const FLOOD = Buffer.alloc(32 * 1024 * 1024, 'x');
/** Timers are fake, because the inspections of connections and the idle timeouts take much longer than a test may. */
const REAL_TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
] as const;

const ends: (() => unknown)[] = [];

// All tests share the timer of the inspections.
beforeAll(() => void jest.useFakeTimers({ doNotFake: [...REAL_TIMERS] }));
afterAll(() => void jest.useRealTimers());

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Waits in real time. The import from `node:timers` is not faked. */
async function until(description: string, isReached: () => boolean): Promise<void> {
  for (let waited = 0; !isReached(); waited += 1) {
    if (waited > 500) throw new Error(`timed out waiting until ${description}`);
    await pause(10);
  }
}

/** Advances the timers by seconds in steps, so that connections react in between. */
async function advance(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 4) {
    jest.advanceTimersByTime(4_000);
    await pause(2);
  }
}

interface Relayed {
  readonly client: Socket;
  /** The runtime's side of its connection. */
  readonly runtime: Socket;
  readonly sessions: StreamSessions;
}

const UPGRADE_RESPONSE = [
  'HTTP/1.1 101 Switching Protocols',
  'Connection: Upgrade',
  'Upgrade: SPDY/3.1',
  'X-Stream-Protocol-Version: v4.channel.k8s.io',
].join('\r\n');

/**
 * Connects a client to a runtime through the node's route for commands or ports. The runtime does not send any bytes on
 * its own.
 */
async function relayed(path: string, requestHeaders: readonly string[]): Promise<Relayed> {
  const runtimeServer = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(runtimeServer, 'listening');
  ends.push(() => runtimeServer.close());
  // Safe cast: a server that listens on a port has such an address.
  const { port: runtimePort } = runtimeServer.address() as AddressInfo;
  const accepted = once(runtimeServer, 'connection');
  const streamUrl = async () => ({ url: `http://127.0.0.1:${runtimePort}/stream` });
  const listContainers = runningContainers('u1', { main: 'c1' });
  const simulatedCri = inProcessCri(createSimulatedRuntime({ clock: systemClock }));
  const listPodSandbox = async () => ({ items: [READY_SANDBOX] });
  const cri = { ...simulatedCri, exec: streamUrl, portForward: streamUrl, listContainers, listPodSandbox };
  const main = { main: running({ containerId: 'c1' }) };
  const { pod } = seenPod(podView({ main, meta: { name: 'web', namespace: 'shop', uid: 'u1' } }));
  const sessions = new StreamSessions();
  const { port, close } = await servedRoutes(streamingRoutes({ pods: () => [pod], cri, clock: systemClock, sessions }));
  ends.push(close);
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  ends.push(() => client.destroy());
  client.write(`GET ${path} HTTP/1.1\r\nHost: node\r\n${requestHeaders.join('\r\n')}\r\n\r\n`);
  const [runtime]: Socket[] = await accepted;
  if (runtime === undefined) throw new Error('the runtime got no connection');
  ends.push(() => runtime.destroy());
  runtime.on('error', () => {});
  await once(runtime, 'data');
  runtime.pause().write(`${UPGRADE_RESPONSE}\r\n\r\n`);
  await until('the session has started', () => sessions.open.length === 1);
  return { client, runtime, sessions };
}

const READY_SANDBOX = PodSandbox.fromPartial({ id: 's1', state: PodSandboxState.SANDBOX_READY });

const EXEC = '/exec/shop/web/main?input=1&output=1&command=cat';
const SPDY_HEADERS = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.k8s.io'];
const WEB_SOCKET_HEADERS = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
];
const COMMAND_HEADER = 'Sec-WebSocket-Protocol: v5.channel.k8s.io';
const TUNNEL_HEADER = 'Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io';

/**
 * Resets the runtime's side of a connection whose client does not read, and waits until the node closes its own side.
 */
async function resetUnread(runtime: Socket): Promise<void> {
  await pause(300);
  expect(runtime.writableLength).toBeGreaterThan(0);
  const before = openSockets();
  runtime.resetAndDestroy();
  await until('the end of the runtime is closed', () => openSockets() === before - 1);
  await advance(20);
  expect(openSockets()).toBe(before - 1);
  await advance(20);
  await until('the end of the node is closed', () => openSockets() === before - 2);
}

/** A binary WebSocket message with 64 KiB of zeros and a mask of zeros. */
const MESSAGE = Buffer.concat([Buffer.of(0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0), Buffer.alloc(4 + 64 * 1024)]);
const MESSAGES = Buffer.concat(Array.from({ length: 512 }, () => MESSAGE));

/** Routes that relay bytes unchanged, each with more client data than all buffers can hold. */
const RELAYS = [
  ['a command', EXEC, SPDY_HEADERS, FLOOD],
  ['a tunnel of ports', '/portForward/shop/web', [...WEB_SOCKET_HEADERS, TUNNEL_HEADER], MESSAGES],
] as const;

test('C41: a runtime that resets its connection disconnects its client at once', async () => {
  const { client, runtime, sessions } = await relayed(EXEC, SPDY_HEADERS);
  const before = openSockets();
  const ended = once(client.resume(), 'end');
  runtime.resetAndDestroy();
  await ended;
  client.end();
  await until('the session ends', () => sessions.open.length === 0);
  expect(openSockets()).toBeLessThanOrEqual(before - 3);
});

describe.each(RELAYS)('C41: the connections of %s', (_, path, headers, input) => {
  test('the connection to the runtime is released if it is reset while the client does not read', async () => {
    const { client, runtime } = await relayed(path, headers);
    client.pause();
    runtime.write(FLOOD);
    await resetUnread(runtime);
  });

  test('both close if the client resets its connection while the runtime writes but does not read', async () => {
    const { client, runtime, sessions } = await relayed(path, headers);
    const before = openSockets();
    client.resume().write(input);
    const output = setInterval(() => runtime.write('tick\n'), 5);
    ends.push(() => clearInterval(output));
    await pause(300);
    expect(client.writableLength).toBeGreaterThan(0);
    client.resetAndDestroy();
    await advance(80);
    await until('the session ends', () => sessions.open.length === 0);
    expect(openSockets()).toBeLessThanOrEqual(before - 3);
  });

  test('both close if the client resets its connection while the runtime neither writes nor reads', async () => {
    const { client, sessions } = await relayed(path, headers);
    const before = openSockets();
    client.resume().write(input);
    await pause(300);
    expect(client.writableLength).toBeGreaterThan(0);
    client.resetAndDestroy();
    await advance(80);
    await until('the session ends', () => sessions.open.length === 0);
    expect(openSockets()).toBeLessThanOrEqual(before - 3);
  });
});

test('C41: the connection of a translated command is released if the runtime resets it while the client does not read', async () => {
  const { client, runtime } = await relayed(EXEC, [...WEB_SOCKET_HEADERS, COMMAND_HEADER]);
  client.pause();
  const onStream = (stream: SpdyStream) => stream.headers.get('streamtype') === 'stdout' && void stream.write(FLOOD);
  new SpdyConnection(runtime, { role: 'server', onStream });
  await resetUnread(runtime);
});
