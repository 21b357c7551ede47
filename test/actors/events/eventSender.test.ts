import { describe, expect, test } from '@jest/globals';
import { EventSender } from '../../../actors/events/eventSender.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { EVENT_TYPE } from '../../../kubeclient/paths.ts';
import { coreEvent } from '../../../kubernetes/events/event.ts';
import { type InvolvedObject, recordedEvent, warning } from '../../../kubernetes/events/recordedEvent.ts';
import type { EventQueueState } from '../../../machines/node/cluster/eventQueue.ts';
import { cluster } from '../../fakes/cluster.ts';
import { answered, type Reply, refused, silent, ToldTransport, unreachable } from '../../fakes/toldTransport.ts';

const EVENTS = '/api/v1/namespaces/default/events';
const POD: InvolvedObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  namespace: 'default',
  name: 'web',
  uid: 'u',
  fieldPath: 'spec.containers{main}',
};

const started = (name: string, count = 1, involved = POD) =>
  coreEvent(recordedEvent(involved, { reason: 'Started', message: 'Container started' }), {
    host: 'node-1',
    at: Date.UTC(2026, 0, 1, 0, 0, count),
    firstAt: Date.UTC(2026, 0, 1),
    count,
    name,
  });

function sender(...replies: readonly Reply[]) {
  const clock = new SimulatedClock();
  const transport = new ToldTransport(...replies);
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  const errors: string[] = [];
  const end = new AbortController();
  const onError = (source: string, error: unknown) => errors.push(`${source}: ${String(error)}`);
  const states: EventQueueState[] = [];
  const onState = (state: EventQueueState) => states.push(state);
  const starts = { areInLine: false };
  const told = { jitter: () => 0.5, hasQueuedStarts: () => starts.areInLine, onError, onState };
  const events = new EventSender({ client, clock, ...told, signal: end.signal });
  const asked = () => transport.requests.map(({ method, path }) => `${method} ${path.slice(EVENTS.length)}`.trim());
  return { clock, transport, events, errors, states, end, asked, starts };
}

const unreachables = (count: number) => Array.from({ length: count }, () => unreachable());
const taken = (count: number) => Array.from({ length: count }, () => answered(201, EVENT_TYPE));

test('C36: an event is created, and its count is patched when it recurs', async () => {
  const { api, client, ask } = cluster(new SimulatedClock());
  await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } });
  const end = new AbortController();
  const clock = new SimulatedClock();
  const errors: unknown[] = [];
  const parts = { client, clock, jitter: () => 0, onError: (_: string, error: unknown) => errors.push(error) };
  const events = new EventSender({ ...parts, hasQueuedStarts: () => false, onState: () => {}, signal: end.signal });
  events.send(started('web.1'));
  await clock.advance(0);
  events.send(started('web.1', 3));
  await clock.advance(0);
  expect([api, errors]).toEqual([api, []]);
  expect(await ask('GET', `${EVENTS}/web.1`)).toMatchObject({
    involvedObject: POD,
    reason: 'Started',
    message: 'Container started',
    type: 'Normal',
    count: 3,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:03Z',
    source: { component: 'kubelet', host: 'node-1' },
    reportingComponent: 'kubelet',
    reportingInstance: 'node-1',
    eventTime: null,
  });
});

test('C36: an update of an event contains only what changed, and an event that the server has lost is created again', async () => {
  const { clock, transport, events, asked } = sender(
    answered(200, EVENT_TYPE),
    refused(404, 'NotFound'),
    answered(201, EVENT_TYPE),
  );
  events.send(started('web.1', 2));
  await clock.advance(0);
  events.send(started('web.1', 3));
  await clock.advance(0);
  expect(asked()).toEqual(['PATCH /web.1', 'PATCH /web.1', 'POST']);
  expect(JSON.parse(transport.requests[0]?.body ?? '')).toEqual({
    count: 2,
    lastTimestamp: '2026-01-01T00:00:02Z',
    message: 'Container started',
  });
});

describe('an event about the node', () => {
  const NODE: InvolvedObject = { kind: 'Node', name: 'node-1', uid: 'node-1' };
  const involved = ({ transport }: Pick<ReturnType<typeof sender>, 'transport'>) =>
    transport.requests.map(({ body }) => JSON.parse(body ?? '').involvedObject);

  test('C36: waits for the UID of its Node, and is then sent with the UID in the namespace default', async () => {
    const { clock, transport, events, asked } = sender(...taken(4));
    events.send(started('node-1.1', 1, NODE));
    events.send(started('node-1.2', 1, NODE));
    events.send(started('web.1'));
    await clock.advance(9_999);
    expect(involved({ transport })).toEqual([POD]);
    events.setNodeUid('uid-1');
    await clock.advance(0);
    const node = { kind: 'Node', name: 'node-1', uid: 'uid-1', apiVersion: 'v1' };
    expect(involved({ transport })).toEqual([POD, node, node]);
    expect(asked()).toEqual(['POST', 'POST', 'POST']);
    expect(JSON.parse(transport.requests[1]?.body ?? '').metadata).toEqual({ name: 'node-1.1', namespace: 'default' });
    events.setNodeUid('uid-2');
    events.send(started('node-1.3', 1, NODE));
    await clock.advance(0);
    expect(involved({ transport }).at(-1)).toEqual({ ...node, uid: 'uid-2' });
    expect(clock.pending).toBe(0);
  });

  test('C36: refers to the new Node when it recurs after its Node was replaced', async () => {
    const clock = new SimulatedClock();
    const { client, ask } = cluster(clock);
    await ask('POST', '/api/v1/nodes', { metadata: { name: 'node-1' } });
    const parts = {
      client,
      clock,
      jitter: () => 0,
      hasQueuedStarts: () => false,
      onError: () => {},
      onState: () => {},
    };
    const events = new EventSender({ ...parts, signal: new AbortController().signal });
    const told = async (name: string, count: number, of = NODE) => {
      events.send(started(name, count, of));
      await clock.advance(0);
      const { involvedObject, count: counted } = await ask('GET', `${EVENTS}/${name}`);
      return [(involvedObject as InvolvedObject).uid, (involvedObject as InvolvedObject).name, counted];
    };
    events.setNodeUid('uid-1');
    expect(await told('node-1.1', 1)).toEqual(['uid-1', 'node-1', 1]);
    events.setNodeUid('uid-1');
    expect(await told('node-1.1', 2)).toEqual(['uid-1', 'node-1', 2]);
    expect(await told('web.1', 1, POD)).toEqual(['u', 'web', 1]);
    events.setNodeUid('uid-2');
    expect(await told('node-1.1', 3)).toEqual(['uid-2', 'node-1', 3]);
    events.setNodeUid('uid-2');
    expect(await told('node-1.1', 4)).toEqual(['uid-2', 'node-1', 4]);
    expect(await told('web.1', 2, POD)).toEqual(['u', 'web', 2]);
  });

  test('C36: created before the Node UID was known gets the UID when it recurs', async () => {
    const { clock, transport, events } = sender(...taken(3));
    events.send(started('node-1.1', 1, NODE));
    await clock.advance(10_000);
    events.setNodeUid('uid-1');
    events.send(started('node-1.1', 2, NODE));
    await clock.advance(0);
    expect(involved({ transport })).toEqual([{ kind: 'Node', name: 'node-1', apiVersion: 'v1' }, { uid: 'uid-1' }]);
  });

  test('C36: waits at most ten seconds, and is then sent with only the name of the Node', async () => {
    const { clock, transport, events } = sender(...taken(2));
    events.send(started('node-1.1', 1, NODE));
    await clock.advance(10_000);
    events.send(started('node-1.2', 1, NODE));
    await clock.advance(0);
    const node = { kind: 'Node', name: 'node-1', apiVersion: 'v1' };
    expect(involved({ transport })).toEqual([node, node]);
  });
});

test('C36: while an event waits for the server later events wait too, and recurrences are merged into one request', async () => {
  const { clock, transport, events, asked } = sender(unreachable(), ...taken(2));
  events.send(started('web.1'));
  events.send(started('web.2'));
  events.send(started('web.2', 2));
  await clock.advance(4_999);
  expect(asked()).toEqual(['POST']);
  await clock.advance(1);
  expect(asked()).toEqual(['POST', 'POST', 'POST']);
  expect(transport.requests.map(({ body }) => JSON.parse(body ?? '').count)).toEqual([1, 1, 2]);
});

test('C36: an event that cannot be sent is dropped after twelve attempts, and reported', async () => {
  const { clock, events, errors, asked } = sender(...unreachables(12), ...taken(1));
  events.send(started('web.1'));
  events.send(started('web.2'));
  await clock.advance(5_000 + 9 * 10_000);
  expect([asked().length, errors]).toEqual([11, []]);
  await clock.advance(10_000);
  expect(errors).toEqual([expect.stringContaining('event Started of default/web.1: ')]);
  expect(asked()).toHaveLength(13);
});

test('C36: an event that the server rejects is reported and not resent, and one that already exists is not even reported', async () => {
  const { clock, events, errors, asked } = sender(refused(403, 'Forbidden'), refused(409, 'AlreadyExists'));
  events.send(started('web.1'));
  events.send(started('web.2'));
  await clock.advance(60_000);
  expect(asked()).toHaveLength(2);
  expect(errors).toEqual(['events: NodeFailure: event Started of default/web.1: Forbidden it is']);
});

test('C36: at most a thousand events are queued', async () => {
  const { clock, events, asked } = sender(unreachable(), ...taken(2_000));
  for (let number = 1; number <= 1_100; number += 1) events.send(started(`web.${number}`));
  await clock.advance(10_000);
  // Two attempts for the event that was in flight, and one for each queued event.
  expect(asked()).toHaveLength(1_002);
});

test('C36: nothing is sent after the sender has stopped', async () => {
  const { clock, events, end, errors, asked } = sender(unreachable(), ...taken(2));
  events.send(started('web.1'));
  events.send(started('web.2'));
  events.send(started('node-1.1', 1, { kind: 'Node', name: 'node-1', uid: 'node-1' }));
  await clock.advance(0);
  end.abort();
  await clock.advance(60_000);
  events.send(started('web.3'));
  await clock.advance(60_000);
  expect([asked(), errors, clock.pending]).toEqual([['POST'], [], 0]);
});

test('a blocked event queue is reported with its length, reason and next attempt, and so is its recovery', async () => {
  const { clock, events, states } = sender(...unreachables(2), ...taken(3));
  const start = clock.now();
  const failure = { message: 'connect ECONNREFUSED 127.0.0.1:6443' };
  for (const name of ['web.1', 'web.2', 'web.3']) events.send(started(name));
  await clock.advance(0);
  expect(states).toMatchObject([{ since: start, waitingCount: 3, until: start + 5_000, failure }]);
  await clock.advance(5_000);
  expect(states.slice(1)).toMatchObject([
    { since: start, waitingCount: 3, failure },
    { since: start, waitingCount: 3, until: start + 15_000, failure },
  ]);
  // During an attempt nobody knows when the next one would be.
  expect(states[1]).not.toHaveProperty('until');
  await clock.advance(10_000);
  expect(states.slice(4)).toEqual([
    { since: start + 15_000, waitingCount: 2, droppedCount: 0 },
    { since: start + 15_000, waitingCount: 0, droppedCount: 0 },
  ]);
});

describe('event delivery while pod starts are queued', () => {
  const unhealthy = (name: string) =>
    coreEvent(recordedEvent(POD, warning('Unhealthy', 'Probe failed')), {
      host: 'node-1',
      at: 0,
      firstAt: 0,
      count: 1,
      name,
    });
  const sent = ({ transport }: Pick<ReturnType<typeof sender>, 'transport'>) =>
    transport.requests.map(({ body }) => JSON.parse(body ?? '').metadata.name);

  test('C36: defers Normal events, but not Warning events', async () => {
    const { clock, transport, events, starts, states } = sender(...taken(4));
    starts.areInLine = true;
    events.send(started('web.1'));
    await clock.advance(300);
    events.send(unhealthy('web.2'));
    events.send(started('web.3'));
    await clock.advance(0);
    expect(sent({ transport })).toEqual(['web.2']);
    await clock.advance(400);
    starts.areInLine = false;
    await clock.advance(500);
    expect([sent({ transport }), clock.pending]).toEqual([['web.2', 'web.1', 'web.3'], 0]);
    // A short wait is not reported.
    expect(states).toEqual([]);
  });

  test('C36: defers events for at most thirty seconds, even if the clock is set back', async () => {
    const { clock, transport, events, starts } = sender(...taken(2));
    starts.areInLine = true;
    events.send(started('web.1'));
    await clock.advance(10_000);
    const shown = clock.now.bind(clock);
    clock.now = () => shown() - 3_600_000;
    events.send(started('web.2'));
    await clock.advance(19_999);
    expect(sent({ transport })).toEqual([]);
    await clock.advance(1);
    expect(sent({ transport })).toEqual(['web.1']);
    await clock.advance(10_000);
    expect([sent({ transport }), clock.pending]).toEqual([['web.1', 'web.2'], 0]);
  });

  test('reports the number of deferred events and the latest time at which they are sent', async () => {
    const { clock, events, starts, states } = sender(...taken(2));
    const start = clock.now();
    starts.areInLine = true;
    events.send(started('web.1'));
    await clock.advance(499);
    expect(states).toEqual([]);
    events.send(started('web.2'));
    await clock.advance(1);
    expect(states).toEqual([{ since: start + 500, waitingCount: 2, droppedCount: 0, until: start + 30_000 }]);
    starts.areInLine = false;
    await clock.advance(500);
    const since = start + 1_000;
    expect(states.slice(1)).toEqual([
      { since, waitingCount: 2, droppedCount: 0 },
      { since, waitingCount: 0, droppedCount: 0 },
    ]);
  });

  test('does not update the reported state for Warning events', async () => {
    const { clock, transport, events, starts, states } = sender(...taken(20));
    const start = clock.now();
    starts.areInLine = true;
    events.send(started('web.1'));
    for (let number = 2; number <= 20; number += 1) {
      await clock.advance(100);
      events.send(unhealthy(`web.${number}`));
    }
    await clock.advance(100);
    expect(sent({ transport })).toHaveLength(19);
    expect(states).toEqual([{ since: start + 500, waitingCount: 1, droppedCount: 0, until: start + 30_000 }]);
  });

  test('C36: sends the deferred events first when the agent stops', async () => {
    const { clock, transport, events, starts, states } = sender(...taken(2));
    starts.areInLine = true;
    for (const name of ['web.1', 'web.2']) events.send(started(name));
    await clock.advance(600);
    await clock.advanceUntilSettled(events.finish());
    expect([sent({ transport }), clock.pending]).toEqual([['web.1', 'web.2'], 0]);
    // The actors have stopped, so nothing is reported any more.
    expect(states).toMatchObject([{ waitingCount: 2 }]);
    await events.finish();
  });

  test('C36: sends events that wait for the Node UID when the agent stops', async () => {
    const { clock, events, asked } = sender(...taken(1));
    events.send(started('node-1.1', 1, { kind: 'Node', name: 'node-1', uid: 'node-1' }));
    await clock.advance(1_000);
    expect(asked()).toEqual([]);
    await clock.advanceUntilSettled(events.finish());
    expect(asked()).toEqual(['POST']);
  });

  test('waits on agent stop at most two seconds for an unresponsive server, and not at all for an unreachable one', async () => {
    const { clock, events, starts, asked } = sender(silent(), unreachable());
    starts.areInLine = true;
    for (const name of ['web.1', 'web.2']) events.send(started(name));
    const from = clock.now();
    await clock.advanceUntilSettled(events.finish());
    expect([clock.now() - from, asked()]).toEqual([2_000, ['POST']]);
    const away = sender(unreachable());
    away.events.send(started('web.1'));
    await away.clock.advance(0);
    await away.events.finish();
    expect(away.asked()).toEqual(['POST']);
  });

  test('C36: defers at most five hundred events', async () => {
    const { clock, transport, events, starts, states } = sender(...taken(600));
    starts.areInLine = true;
    for (let number = 1; number <= 500; number += 1) events.send(started(`web.${number}`));
    await clock.advance(0);
    expect(sent({ transport })).toEqual([]);
    // Deferred events may fill only half of the queue, so the oldest ones are sent.
    for (let number = 501; number <= 510; number += 1) events.send(started(`web.${number}`));
    await clock.advance(500);
    expect(sent({ transport })).toEqual(Array.from({ length: 10 }, (_, index) => `web.${index + 1}`));
    await clock.advance(500);
    expect(states).toMatchObject([{ waitingCount: 500, droppedCount: 0 }]);
  });

  test('leaves no timer when the wait is over', async () => {
    const { clock, events, starts, end, asked } = sender();
    starts.areInLine = true;
    events.send(started('web.1'));
    await clock.advance(100);
    end.abort();
    await clock.advance(60_000);
    expect([asked(), clock.pending]).toEqual([[], 0]);
  });
});

test('events that are sent immediately are not reported as waiting, and the number of dropped events is reported with the queue', async () => {
  const { clock, events, states } = sender(...taken(2), refused(403, 'Forbidden'), unreachable(), ...taken(2_000));
  events.send(started('web.1'));
  events.send(started('web.2'));
  events.send(started('web.3'));
  await clock.advance(0);
  expect(states).toEqual([]);
  for (let count = 0; count < 1_005; count += 1) events.send(started(`db.${count}`));
  await clock.advance(0);
  expect(states).toMatchObject([{ waitingCount: 1_001, droppedCount: 1 + 4 }]);
});
