import type { ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Cri, RuntimeEvent } from '../../cri/client/calls.ts';
import { connectCri } from '../../cri/client/connectCri.ts';
import * as events from '../../cri/generated/containerd_events.ts';
import * as wire from '../../cri/generated/runtime.ts';
import { type RuntimeServer, runtimeServer, type Served } from './runtimeServer.ts';

type CriStream = ServerWritableStream<wire.GetEventsRequest, wire.ContainerEventResponse>;
type ContainerdStream = ServerWritableStream<events.SubscribeRequest, events.Envelope>;

const version = (_: unknown, send: sendUnaryData<wire.VersionResponse>) =>
  send(null, wire.VersionResponse.fromPartial({ version: '0.1.0' }));

let server: RuntimeServer;
let cri: Cri;
let aborter: AbortController;
/** Events and openings of the stream, in order of arrival. */
let arrivals: ('open' | RuntimeEvent)[];
let wake: () => void;

async function serve(served: Served, requestTimeoutMs = 20_000): Promise<void> {
  server = await runtimeServer(served);
  cri = connectCri({ runtimeEndpoint: server.endpoint, requestTimeoutMs });
}

function listen(): Promise<void> {
  const hear = (what: 'open' | RuntimeEvent) => {
    arrivals.push(what);
    wake();
  };
  return cri.containerEvents(hear, { signal: aborter.signal, onOpen: () => hear('open') });
}

/** Waits until this number of events has arrived. */
async function until(count: number): Promise<void> {
  while (arrivals.length < count) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

beforeEach(() => {
  aborter = new AbortController();
  arrivals = [];
  wake = () => undefined;
});

afterEach(async () => {
  cri.close();
  await server.remove();
});

function criEvent(containerId: string, type: wire.ContainerEventType, uid?: string): wire.ContainerEventResponse {
  return wire.ContainerEventResponse.fromPartial({
    containerId,
    containerEventType: type,
    ...(uid ? { podSandboxStatus: { metadata: { uid } } } : {}),
  });
}

describe('the event stream of the CRI', () => {
  let stream: CriStream;
  beforeEach(() =>
    serve([
      [
        wire.RuntimeServiceService,
        {
          version,
          getContainerEvents: (call: CriStream) => {
            stream = call;
          },
        },
      ],
    ]),
  );

  test('reports exits but not starts', async () => {
    const done = listen();
    await until(1);
    stream.write(criEvent('c1', wire.ContainerEventType.CONTAINER_STARTED_EVENT, 'u1'));
    stream.write(criEvent('c1', wire.ContainerEventType.CONTAINER_STOPPED_EVENT, 'u1'));
    stream.write(criEvent('c2', wire.ContainerEventType.CONTAINER_STOPPED_EVENT));
    await until(3);
    expect(arrivals).toEqual(['open', { containerId: 'c1' }, { containerId: 'c2' }]);
    aborter.abort();
    await expect(done).resolves.toBeUndefined();
  });

  test('opens although the runtime sends nothing before its first event', async () => {
    listen();
    await until(1);
    expect(arrivals).toEqual(['open']);
    expect(stream.request).toEqual({});
    aborter.abort();
  });

  test('aborting ends the stream at the runtime', async () => {
    const done = listen();
    await until(1);
    const cancelled = new Promise<void>((resolve) => stream.on('cancelled', resolve));
    aborter.abort();
    await done;
    await cancelled;
  });

  test('a stream that the runtime ends is broken', async () => {
    const done = listen();
    await until(1);
    stream.end();
    await expect(done).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  });

  test('a runtime that stops breaks the stream, and a new subscription works after its return', async () => {
    const done = listen();
    await until(1);
    server.down();
    await expect(done).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    await expect(listen()).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    await server.up();
    let back = false;
    while (!back) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      listen().catch(() => undefined);
      back = await Promise.race([
        until(2).then(() => true),
        new Promise<false>((r) => setTimeout(() => r(false), 100)),
      ]);
    }
    expect(arrivals.slice(0, 2)).toEqual(['open', 'open']);
    aborter.abort();
  });

  test('an aborted signal subscribes to nothing', async () => {
    aborter.abort();
    await expect(listen()).resolves.toBeUndefined();
    expect(arrivals).toEqual([]);
  });

  test('a closed connection rejects', async () => {
    cri.close();
    await expect(listen()).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  });
});

test('a hanging runtime never opens the stream, and the subscription fails after the timeout', async () => {
  const hanging = { version: () => undefined, getContainerEvents: () => undefined };
  await serve([[wire.RuntimeServiceService, hanging]], 200);
  await expect(listen()).rejects.toMatchObject({
    reason: 'RuntimeUnavailable',
    message: expect.stringContaining('200'),
  });
  expect(arrivals).toEqual([]);
});

describe("containerd's event service, used if the CRI has no stream", () => {
  let stream: ContainerdStream;
  beforeEach(() =>
    serve([
      [wire.RuntimeServiceService, { version }],
      [
        events.EventsService,
        {
          subscribe: (call: ContainerdStream) => {
            stream = call;
          },
        },
      ],
    ]),
  );

  function exit(containerId: string, id: string): events.Envelope {
    const value = Buffer.from(events.TaskExit.encode(events.TaskExit.fromPartial({ containerId, id })).finish());
    return envelope(value);
  }

  function envelope(value: Buffer): events.Envelope {
    const event = { typeUrl: 'containerd.events.TaskExit', value };
    return events.Envelope.fromPartial({ namespace: 'k8s.io', topic: '/tasks/exit', event });
  }

  test('reports exits of containers but not of execs, and ignores unreadable events', async () => {
    const done = listen();
    await until(1);
    expect(stream.request.filters).toEqual(['namespace==k8s.io,topic=="/tasks/exit"']);
    stream.write(exit('c1', 'exec-7'));
    stream.write(envelope(Buffer.from([0x0a, 0xff])));
    stream.write(events.Envelope.fromPartial({ topic: '/tasks/exit' }));
    stream.write(exit('c2', 'c2'));
    await until(2);
    expect(arrivals).toEqual(['open', { containerId: 'c2' }]);
    aborter.abort();
    await done;
  });

  test('a stream that breaks rejects', async () => {
    const done = listen();
    await until(1);
    server.down();
    await expect(done).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  });
});

test('a runtime with neither service reports Unimplemented', async () => {
  await serve([[wire.RuntimeServiceService, { version }]]);
  await expect(listen()).rejects.toMatchObject({ reason: 'Unimplemented' });
});
