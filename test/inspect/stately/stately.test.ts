import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createWebSocketReceiver } from '@statelyai/inspect';
import { WebSocket } from 'ws';
import type { StatelyEvent } from '../../../inspect/stately/stately.ts';
import { podRunning, podWith } from '../../fakes/pods.ts';
import { type ServedPage, servedPage, until } from '../support/served.ts';
import { type Simulation, simulation } from '../support/simulation.ts';

const sockets: WebSocket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

async function served(): Promise<{ readonly node: Simulation; readonly page: ServedPage }> {
  const pods = [
    podWith('web', {
      containers: [{ name: 'main', image: 'statelet.local/app:1', env: [{ name: 'A', value: 's3cret-v4lue' }] }],
    }),
  ];
  const node = await simulation({ pods });
  await node.node.advance('5s');
  return { node, page: await servedPage({ inspected: node.page().inspected }) };
}

function follow({ port }: ServedPage): { readonly received: StatelyEvent[]; readonly socket: WebSocket } {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/stately`);
  sockets.push(socket);
  const received: StatelyEvent[] = [];
  // The server sends only this type of message.
  socket.on('message', (data) => received.push(JSON.parse(String(data)) as StatelyEvent));
  return { received, socket };
}

describe('the Stately inspector protocol', () => {
  test('sends all actors, parents first, and then each event and snapshot to the official client', async () => {
    const { node, page } = await served();
    const received: StatelyEvent[] = [];
    // The client is typed with its own version of the protocol.
    createWebSocketReceiver({ server: `ws://127.0.0.1:${page.port}/stately` }).subscribe((event) => {
      received.push(event as unknown as StatelyEvent);
    });
    const { actors } = node.now();
    await until(() => received.length >= actors.length);
    expect(received.map(({ sessionId }) => sessionId)).toEqual(actors.map(({ path }) => path || 'nodeAgent'));
    const known = new Set<string>();
    for (const event of received) {
      if (event.type !== '@xstate.actor') throw new Error(`${event.type} before all actors`);
      if (event.parentId !== undefined) expect(known).toContain(event.parentId);
      known.add(event.sessionId);
      expect(JSON.parse(event.definition)).toHaveProperty('id');
    }
    const container = received.find(({ sessionId }) => sessionId === 'pod/web-uid/container/main');
    expect(container).toMatchObject({
      rootId: 'nodeAgent',
      parentId: 'pod/web-uid',
      snapshot: { status: 'active', value: { running: expect.anything() }, context: {} },
    });
    const before = received.length;
    node.node.apply(podRunning('bad', 'exit 1'));
    await node.node.advance('1s');
    await until(() =>
      received.some((event) => event.type === '@xstate.snapshot' && event.sessionId === 'pod/bad-uid/container/main'),
    );
    const kinds = new Set(received.slice(before).map(({ type }) => type));
    expect([...kinds].sort()).toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    for (const event of received.slice(before)) {
      if (event.type !== '@xstate.actor') expect(Object.keys(event.event)).toEqual(['type']);
      if (event.type !== '@xstate.event') expect(event.snapshot.context).toEqual({});
    }
    expect(JSON.stringify(received)).not.toContain('s3cret-v4lue');
    await page.close();
  });

  test('stops the observation when the last client has disconnected', async () => {
    const { node, page } = await served();
    expect(node.observers()).toBe(0);
    const [one, other] = [follow(page), follow(page)];
    await until(() => one.received.length > 0 && other.received.length > 0);
    expect(node.observers()).toBe(1);
    one.socket.close();
    other.socket.terminate();
    await until(() => node.observers() === 0);
  });

  test('serves at most eight clients, and ignores what they send', async () => {
    const { page } = await served();
    const eight = Array.from({ length: 8 }, () => follow(page));
    await until(() => eight.every(({ received }) => received.length > 0));
    const [error] = await once(follow(page).socket, 'error');
    expect(String(error)).toContain('503');
    const [first] = eight;
    first?.socket.send('a'.repeat(2_000));
    const [code] = first ? await once(first.socket, 'close') : [];
    expect(code).toBe(1009);
  });

  test('disconnects a client that does not read, whose queue is bounded', async () => {
    const { node, page } = await served();
    const { received, socket } = follow(page);
    await until(() => received.length > 0);
    socket.pause();
    const { inspect } = node.page().audience.listeners;
    const before = process.memoryUsage().arrayBuffers;
    const root = { id: 'x'.repeat(10_000), _parent: undefined, logic: {} };
    const event = {
      type: '@xstate.event',
      actorRef: root,
      sourceRef: undefined,
      event: { type: 'x'.repeat(10_000) },
      rootId: 'x',
    };
    for (let count = 0; count < 3_000; count += 1) {
      // The event has all the fields that the inspector reads.
      inspect(event as never);
      if (count % 100 === 0) await new Promise(setImmediate);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 2 ** 20);
    const ended = once(socket, 'close');
    socket.resume();
    expect((await ended)[0]).toBe(1013);
    expect(received.length).toBeLessThan(2_500);
  });

  test('disconnects the clients when the agent stops', async () => {
    const { page } = await served();
    const { socket, received } = follow(page);
    await until(() => received.length > 0);
    const ended = once(socket, 'close');
    await page.close();
    expect((await ended)[0]).toBe(1001);
  });
});
