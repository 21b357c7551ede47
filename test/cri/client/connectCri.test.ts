import { Client, Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { NodeFailure } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { runtimeFailure, runtimeMessageWithCode } from '../../../cri/client/failure.ts';
import * as wire from '../../../cri/generated/runtime.ts';
import { type RuntimeServer, runtimeServer } from '../runtimeServer.ts';

const VERSION = { version: '0.1.0', runtimeName: 'test', runtimeVersion: '1', runtimeApiVersion: 'v1' };
const signal = new AbortController().signal;
const containerId = 'c1';

/** Implements ContainerStatus. Set by each test. */
let answer: (
  call: ServerUnaryCall<wire.ContainerStatusRequest, wire.ContainerStatusResponse>,
  send: sendUnaryData<wire.ContainerStatusResponse>,
) => void;
let server: RuntimeServer;
let cri: Cri;

beforeEach(async () => {
  server = await runtimeServer([
    [
      wire.RuntimeServiceService,
      {
        version: (_: unknown, send: sendUnaryData<wire.VersionResponse>) => send(null, VERSION),
        containerStatus: (...call: Parameters<typeof answer>) => answer(...call),
        execSync: (_: unknown, send: sendUnaryData<wire.ExecSyncResponse>) =>
          send({ code: status.DEADLINE_EXCEEDED, details: 'command timed out' }),
        // The server never responds to this call.
        stopContainer: () => undefined,
      },
    ],
    [
      wire.ImageServiceService,
      {
        pullImage: ({ request }: { request: wire.PullImageRequest }, send: sendUnaryData<wire.PullImageResponse>) => {
          const code = Number(request.image?.annotations.code ?? status.OK);
          if (code !== status.OK) send({ code, details: 'failed to pull and unpack image' });
          else setTimeout(() => send(null, { imageRef: 'sha256:1' }), 1500);
        },
      },
    ],
  ]);
  cri = connectCri({ runtimeEndpoint: server.endpoint, requestTimeoutMs: 1000 });
});

afterEach(async () => {
  cri.close();
  await server.remove();
});

async function failureOf(call: Promise<unknown>): Promise<NodeFailure> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof NodeFailure) return outcome;
  throw new Error(`not a NodeFailure: ${outcome}`);
}

function containerStatus(options: { signal?: AbortSignal; timeoutMs?: number } = {}) {
  return cri.containerStatus({ containerId, verbose: false }, { signal, ...options });
}

describe('responses', () => {
  test('returns the response of a call with numbers beyond 2^53 intact', async () => {
    const createdAt = 1_700_000_000_123_456_789n;
    answer = ({ request }, send) =>
      send(null, wire.ContainerStatusResponse.fromPartial({ status: { id: request.containerId, createdAt } }));
    expect((await containerStatus({ timeoutMs: 10_000 })).status).toMatchObject({ id: containerId, createdAt });
  });

  test('receives a response above 4 MiB, the default limit of gRPC', async () => {
    const message = 'x'.repeat(5 * 1024 * 1024);
    answer = (_, send) => send(null, wire.ContainerStatusResponse.fromPartial({ status: { message } }));
    expect((await containerStatus({ timeoutMs: 10_000 })).status?.message.length).toBe(message.length);
  });

  test('sends image calls to the image endpoint if there is one', async () => {
    const images = await runtimeServer([
      [
        wire.ImageServiceService,
        {
          removeImage: (_: unknown, send: sendUnaryData<wire.RemoveImageResponse>) => send(null, {}),
        },
      ],
    ]);
    const split = connectCri({
      runtimeEndpoint: server.endpoint,
      imageEndpoint: images.endpoint,
      requestTimeoutMs: 5000,
    });
    await expect(split.removeImage({ image: undefined }, { signal })).resolves.toEqual({});
    await expect(split.version({ version: '' }, { signal })).resolves.toEqual(VERSION);
    split.close();
    await images.remove();
  });
});

describe('errors of the runtime', () => {
  test.each([
    ['NOT_FOUND', status.NOT_FOUND, 'NotFound'],
    ['UNAVAILABLE', status.UNAVAILABLE, 'RuntimeUnavailable'],
    ['DEADLINE_EXCEEDED', status.DEADLINE_EXCEEDED, 'RuntimeUnavailable'],
    ['UNKNOWN', status.UNKNOWN, 'RuntimeError'],
    ['INVALID_ARGUMENT', status.INVALID_ARGUMENT, 'RuntimeError'],
  ])('%s', async (_, code, reason) => {
    answer = (_call, send) => send({ code, details: 'its own words' });
    const failure = await failureOf(containerStatus());
    expect(failure).toMatchObject({ reason, message: 'ContainerStatus: its own words' });
    expect(failure.cause).toMatchObject({ code });
  });

  test.each([
    ['Unavailable', status.UNAVAILABLE],
    ['DeadlineExceeded', status.DEADLINE_EXCEEDED],
    ['Canceled', status.CANCELLED],
  ])('C16: a pull that fails with %s counts as a failure of the registry', async (name, code) => {
    const image = { image: 'registry/site:1', annotations: { code: `${code}` } };
    const failure = await failureOf(cri.pullImage(wire.PullImageRequest.fromPartial({ image }), { signal }));
    expect(failure.reason).toBe('RuntimeError');
    expect(runtimeMessageWithCode(failure)).toBe(`rpc error: code = ${name} desc = failed to pull and unpack image`);
  });

  test('a runtime that stops during a pull does not count as a failure of the registry', async () => {
    const pulling = failureOf(cri.pullImage(wire.PullImageRequest.fromPartial({ image: { image: 'a' } }), { signal }));
    await cri.version({ version: '' }, { signal });
    server.down();
    expect((await pulling).reason).toBe('RuntimeUnavailable');
  });

  test('a runtime without RuntimeConfig reports Unimplemented', async () => {
    const failure = await failureOf(cri.runtimeConfig({}, { signal }));
    expect(failure).toMatchObject({ reason: 'Unimplemented' });
  });

  test('a command that exceeds its timeout does not make the runtime unavailable', async () => {
    const failure = await failureOf(cri.execSync({ containerId, cmd: ['sleep', '9'], timeout: 1n }, { signal }));
    expect(failure).toMatchObject({ reason: 'DeadlineExceeded', message: 'ExecSync: command timed out' });
  });
});

describe('timeouts', () => {
  test('a hanging runtime is unavailable after the configured timeout, and the call is cancelled at the runtime', async () => {
    const cancelled = new Promise<void>((resolve) => {
      answer = (call) => call.on('cancelled', resolve);
    });
    const failure = await failureOf(containerStatus());
    expect(failure.reason).toBe('RuntimeUnavailable');
    expect(failure.message).toBe('ContainerStatus: the runtime did not answer within 1000 ms');
    await cancelled;
  });

  test('the timeout of a call replaces the configured one', async () => {
    answer = (_, send) => setTimeout(() => send(null, wire.ContainerStatusResponse.fromPartial({})), 1500);
    await expect(containerStatus({ timeoutMs: 5000 })).resolves.toBeDefined();
    await expect(containerStatus({ timeoutMs: 20 })).rejects.toThrow('within 20 ms');
  });

  test('a stop has its grace period in addition to the timeout', async () => {
    const stop = cri.stopContainer({ containerId, timeout: 1n }, { signal });
    await expect(stop).rejects.toThrow('within 2000 ms');
  });

  test('a grace period beyond the range of timers does not abort the call', async () => {
    const aborter = new AbortController();
    const stop = failureOf(cri.stopContainer({ containerId, timeout: 2n ** 32n }, { signal: aborter.signal }));
    setTimeout(() => aborter.abort(), 100);
    expect((await stop).reason).toBe('Cancelled');
  });

  test('a pull is not limited by the request timeout', async () => {
    const pull = cri.pullImage(wire.PullImageRequest.fromPartial({}), { signal });
    await expect(pull).resolves.toEqual({ imageRef: 'sha256:1' });
  });

  test('the signal cancels the call at the runtime as well', async () => {
    const aborter = new AbortController();
    const cancelled = new Promise<void>((resolve) => {
      answer = (call) => {
        call.on('cancelled', resolve);
        aborter.abort(new Error('no longer wanted'));
      };
    });
    const failure = await failureOf(containerStatus({ signal: aborter.signal, timeoutMs: 10_000 }));
    expect(failure).toMatchObject({ reason: 'Cancelled', cause: { message: 'no longer wanted' } });
    await cancelled;
  });

  test('an aborted signal prevents the call from being sent', async () => {
    answer = () => {
      throw new Error('was called');
    };
    expect((await failureOf(containerStatus({ signal: AbortSignal.abort() }))).reason).toBe('Cancelled');
  });
});

describe('a runtime that is down', () => {
  test('fails calls immediately and repeatedly, and they succeed after its return', async () => {
    const version = () => cri.version({ version: '' }, { signal, timeoutMs: 50_000 });
    await version();
    server.down();
    const goneAt = performance.now();
    for (let i = 0; i < 20; i++) {
      expect((await failureOf(version())).reason).toBe('RuntimeUnavailable');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // Each call alone could take that long.
    expect(performance.now() - goneAt).toBeLessThan(50_000);
    await server.up();
    while (
      !(await version().then(
        () => true,
        () => false,
      ))
    ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  test('fails a call in flight', async () => {
    answer = () => server.down();
    expect((await failureOf(containerStatus({ timeoutMs: 5000 }))).reason).toBe('RuntimeUnavailable');
  });

  test('rejects calls on a closed connection', async () => {
    cri.close();
    await expect(cri.version({ version: '' }, { signal })).rejects.toBeInstanceOf(NodeFailure);
  });
});

test.each(['', '/run/containerd/containerd.sock', 'unix://run/c.sock', 'tcp://127.0.0.1:1', 'unix:///'])(
  'the endpoint "%s" is rejected with the expected format',
  (runtimeEndpoint) => {
    expect(() => connectCri({ runtimeEndpoint, requestTimeoutMs: 1 })).toThrow('expected unix:///path/to/runtime.sock');
  },
);

test.each([
  [
    'a container that it has lost track of',
    'failed to delete containerd container "c1": cannot delete running task c1: failed precondition',
    'TaskLost',
  ],
  [
    'a container that another call is starting',
    'failed to set starting state for container "c1": container is already in starting state',
    'AlreadyStarting',
  ],
])('the containerd error for %s has its own reason', (_, details, reason) => {
  const error = Object.assign(new Error(details), { code: status.UNKNOWN, details, metadata: new Metadata() });
  expect(runtimeFailure('RemovePodSandbox', error)).toMatchObject({ reason });
});

describe('an unreachable runtime is described in plain words', () => {
  const failed = (code: status, details: string) =>
    runtimeFailure('Version', Object.assign(new Error(details), { code, details, metadata: new Metadata() }));

  test.each([
    [
      status.UNAVAILABLE,
      'No connection established. Last error: Error: connect ENOENT /run/c.sock. Resolution note: ',
      'Version: there is no socket /run/c.sock: start the container runtime (connect ENOENT /run/c.sock)',
    ],
    [
      status.UNAVAILABLE,
      'No connection established. Last error: Error: connect ECONNREFUSED /run/c.sock. Resolution note: ',
      'Version: no container runtime listens on /run/c.sock: start it (connect ECONNREFUSED /run/c.sock)',
    ],
    [
      status.UNAVAILABLE,
      'No connection established. Last error: Error: connect EACCES /run/c.sock. Resolution note: ',
      'Version: permission denied on /run/c.sock: only root may use the container runtime (connect EACCES /run/c.sock)',
    ],
    [
      status.UNIMPLEMENTED,
      'unknown service runtime.v1.RuntimeService',
      'Version: the runtime does not offer CRI v1: remove "cri" from disabled_plugins in /etc/containerd/config.toml, and restart containerd (unknown service runtime.v1.RuntimeService)',
    ],
  ])('for status code %i: %s', (code, details, message) => {
    expect(failed(code, details)).toMatchObject({ reason: 'RuntimeUnavailable', message });
  });

  test('an unimplemented call does not count as unreachable', () => {
    expect(failed(status.UNIMPLEMENTED, 'unknown method').reason).toBe('Unimplemented');
  });
});

test('many calls start over several turns of the event loop', async () => {
  const starts = jest.spyOn(Client.prototype, 'makeUnaryRequest');
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  // This turn is scheduled before the calls, so that the test counts them before the calls of that turn start.
  const firstTurn = nextTurn();
  const calls = Promise.all(Array.from({ length: 200 }, () => cri.version({ version: 'v1' }, { signal })));
  let longest = 0;
  let count = 0;
  for (let turn = firstTurn; count < 200; turn = nextTurn()) {
    await turn;
    longest = Math.max(longest, starts.mock.calls.length - count);
    count = starts.mock.calls.length;
  }
  expect(await calls).toHaveLength(200);
  expect(longest).toBeLessThanOrEqual(40);
  starts.mockRestore();
});
