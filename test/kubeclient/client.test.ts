import { describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { KubeClient, type KubeClientOptions } from '../../kubeclient/client.ts';
import { POD } from '../../kubeclient/paths.ts';
import {
  answered,
  type Reply,
  refused,
  silent,
  ToldTransport,
  ToldWatch,
  unreachable,
} from '../fakes/toldTransport.ts';

const POD_PATH = '/api/v1/namespaces/default/pods/web';

function client(replies: readonly Reply[], more: Partial<KubeClientOptions> = {}) {
  const clock = new SimulatedClock();
  const transport = new ToldTransport(...replies);
  const kube = new KubeClient({ transport, clock, userAgent: 'statelet/test', ...more });
  const controller = new AbortController();
  return { clock, transport, kube, controller, signal: controller.signal };
}

/** Resolves with the value or the error of a promise that is awaited later. */
const outcomeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => ({ value }),
    (error) => error,
  );

describe('a request', () => {
  test("has the client's headers and an object as JSON", async () => {
    const { kube, transport, signal } = client([answered(201, { ...POD, metadata: { uid: 'u' } })]);
    const made = await kube.create('/api/v1/namespaces/default/pods', POD, { signal });
    expect(made).toEqual({ ...POD, metadata: { uid: 'u' } });
    expect(transport.requests).toEqual([
      {
        method: 'POST',
        path: '/api/v1/namespaces/default/pods',
        body: JSON.stringify(POD),
        headers: {
          accept: 'application/json',
          'user-agent': 'statelet/test',
          'content-type': 'application/json',
        },
      },
    ]);
  });

  test('that reads has no body', async () => {
    const { kube, transport, signal } = client([answered(200, POD)]);
    await kube.get(POD_PATH, { type: POD, signal });
    expect(transport.requests).toEqual([
      { method: 'GET', path: POD_PATH, headers: { accept: 'application/json', 'user-agent': 'statelet/test' } },
    ]);
  });

  test('that patches has the patch type, by default strategic merge', async () => {
    const { kube, transport, signal } = client([answered(200, POD), answered(200, POD)]);
    await kube.patch(POD_PATH, { status: {} }, { type: POD, signal });
    await kube.patch(POD_PATH, { status: null }, { type: POD, signal, patchType: 'merge-patch' });
    expect(transport.requests.map(({ method, body, headers }) => [method, body, headers['content-type']])).toEqual([
      ['PATCH', '{"status":{}}', 'application/strategic-merge-patch+json'],
      ['PATCH', '{"status":null}', 'application/merge-patch+json'],
    ]);
  });

  test('that writes or deletes has the corresponding method, and a deletion has its options', async () => {
    const { kube, transport, signal } = client([answered(200, POD), answered(200)]);
    await kube.update(POD_PATH, POD, { signal });
    expect(await kube.delete(POD_PATH, { preconditions: { uid: 'u' } }, { signal })).toBeUndefined();
    expect(transport.requests.map(({ method, body }) => [method, JSON.parse(String(body))])).toEqual([
      ['PUT', POD],
      ['DELETE', { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u' } }],
    ]);
  });
});

describe('a response', () => {
  test.each<[string, unknown, Readonly<Record<string, string>>, string]>([
    ['of another kind', { ...POD, kind: 'Node' }, {}, 'kind Node of v1, expected kind Pod of v1'],
    ['of another API version', { ...POD, apiVersion: 'v2' }, {}, 'kind Pod of v2, expected kind Pod of v1'],
    ['without a kind', { metadata: {} }, {}, 'expected kind Pod of v1 (apiVersion: Required value)'],
    ['without a body', '', {}, 'nothing, expected kind Pod of v1'],
    [
      'that is no JSON by its type',
      POD,
      { 'content-type': 'text/html' },
      'content of type text/html, expected application/json',
    ],
  ])('%s is an error for every call', async (_, body, headers, message) => {
    const { kube, signal } = client(Array.from({ length: 4 }, () => answered(200, body, headers)));
    const options = { type: POD, signal };
    await expect(kube.get(POD_PATH, options)).rejects.toThrow(`GET ${POD_PATH}: the server answered with `);
    await expect(kube.create(POD_PATH, POD, options)).rejects.toThrow(message);
    await expect(kube.update(POD_PATH, POD, options)).rejects.toThrow(message);
    await expect(kube.patch(POD_PATH, {}, options)).rejects.toThrow(message);
  });

  test('without a content type counts as JSON', async () => {
    const { kube, signal } = client([answered(200, POD)]);
    expect(await kube.get(POD_PATH, { type: POD, signal })).toEqual(POD);
  });
});

describe('an error response', () => {
  test('rejects with its code and reason, without a retry', async () => {
    const { kube, transport, signal } = client([refused(404, 'NotFound', { 'retry-after': '1' }), answered(200, POD)]);
    await expect(kube.get(POD_PATH, { type: POD, signal })).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
    expect(transport.requests).toHaveLength(1);
  });

  test('of a busy server is retried after the delay that the server requests', async () => {
    const busy = refused(429, 'TooManyRequests', { 'retry-after': '2' });
    const { kube, transport, clock, signal } = client([
      busy,
      refused(503, 'Away', { 'retry-after': '5' }),
      answered(200, POD),
    ]);
    const answer = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    await clock.advance(1_999);
    expect(transport.requests).toHaveLength(1);
    await clock.advance(1);
    expect(transport.requests).toHaveLength(2);
    await clock.advance(5_000);
    expect(await answer).toEqual({ value: POD });
    expect(clock.pending).toBe(0);
  });

  test('of a server that stays busy rejects after ten attempts', async () => {
    const busy = refused(429, 'TooManyRequests', { 'retry-after': '1' });
    const { kube, transport, clock, signal } = client(new Array(20).fill(busy));
    const answer = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    await clock.advance(60_000);
    expect(await answer).toMatchObject({ code: 429 });
    expect(transport.requests).toHaveLength(10);
  });

  test.each([
    ['3600', undefined],
    ['11', 60_000],
    ['5', 5_000],
  ])(
    'with a Retry-After of %s s rejects a call with a shorter timeout immediately (%s ms)',
    async (after, timeoutMs) => {
      const away = refused(503, 'Away', { 'retry-after': after });
      const { kube, transport, clock, signal } = client([away, answered(200, POD)]);
      const within = timeoutMs === undefined ? {} : { timeoutMs };
      await expect(kube.get(POD_PATH, { type: POD, signal, ...within })).rejects.toMatchObject({
        code: 503,
        retryAfterMs: +after * 1_000,
      });
      expect(transport.requests).toHaveLength(1);
      expect(clock.pending).toBe(0);
    },
  );

  test('rejects once the delays would exceed the timeout of the call', async () => {
    const busy = refused(503, 'Away', { 'retry-after': '4' });
    const { kube, transport, clock, signal } = client(new Array(5).fill(busy));
    const answer = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    await clock.advance(8_000);
    expect(await answer).toMatchObject({ code: 503 });
    expect(transport.requests).toHaveLength(3);
  });

  test.each([302, 304, 199])('may have a code that is neither success nor error: %i', async (code) => {
    const { kube, signal } = client([answered(code, '')]);
    await expect(kube.get(POD_PATH, { type: POD, signal })).rejects.toMatchObject({
      name: 'KubeError',
      code,
      message: `the server answered with code ${code}`,
    });
  });

  test('without retry-after is left to the caller', async () => {
    const { kube, transport, signal } = client([refused(500, ''), answered(200, POD)]);
    await expect(kube.get(POD_PATH, { type: POD, signal })).rejects.toMatchObject({ code: 500, message: ' it is' });
    expect(transport.requests).toHaveLength(1);
  });
});

describe('a call', () => {
  test('without a response fails after 10 s or its own timeout', async () => {
    const { kube, clock, signal } = client([silent(), silent()]);
    const usual = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    const short = outcomeOf(kube.get(POD_PATH, { type: POD, signal, timeoutMs: 500 }));
    await clock.advance(500);
    expect(await short).toMatchObject({ message: 'no answer within 0.5s' });
    await clock.advance(9_499);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await usual).toMatchObject({ message: 'no answer within 10s' });
  });

  test('that the caller cancels rejects with the caller’s reason and leaves no timer', async () => {
    const { kube, clock, controller, signal } = client([silent()]);
    const answer = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    await clock.advance(0);
    controller.abort(new Error('enough'));
    expect(await answer).toMatchObject({ message: 'enough' });
    expect(clock.pending).toBe(0);
  });

  test('that is cancelled while it waits for a busy server rejects immediately', async () => {
    const { kube, clock, controller, signal } = client([refused(429, 'Busy', { 'retry-after': '6' })]);
    const answer = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    await clock.advance(1);
    controller.abort(new Error('enough'));
    expect(await answer).toMatchObject({ message: 'enough' });
    expect(clock.pending).toBe(0);
  });

  test('without a server rejects with the reason and leaves no timer', async () => {
    const { kube, clock, signal } = client([unreachable()]);
    await expect(kube.get(POD_PATH, { type: POD, signal })).rejects.toThrow('ECONNREFUSED');
    expect(clock.pending).toBe(0);
  });
});

describe('a client with a rate limit', () => {
  const rateLimit = { qps: 2, burst: 3 };
  const many = () => new Array(10).fill(answered(200, POD));

  test('sends a burst of requests and then the others at the rate', async () => {
    const { kube, transport, clock, signal } = client(many(), { rateLimit });
    for (let i = 0; i < 5; i += 1) void kube.get(POD_PATH, { type: POD, signal });
    await clock.advance(499);
    expect(transport.requests).toHaveLength(3);
    await clock.advance(1);
    expect(transport.requests).toHaveLength(4);
    await clock.advance(500);
    expect(transport.requests).toHaveLength(5);
  });

  test('may send a burst again after a pause, but no more than that', async () => {
    const { kube, transport, clock, signal } = client(many(), { rateLimit });
    for (let i = 0; i < 3; i += 1) await kube.get(POD_PATH, { type: POD, signal });
    await clock.advance(60_000);
    for (let i = 0; i < 5; i += 1) void kube.get(POD_PATH, { type: POD, signal });
    await clock.advance(0);
    expect(transport.requests).toHaveLength(6);
  });

  test('releases the tokens of calls that are cancelled while they wait', async () => {
    const { kube, transport, clock, signal } = client(many(), { rateLimit: { qps: 1, burst: 1 } });
    await kube.get(POD_PATH, { type: POD, signal });
    const others = new AbortController();
    const givenUp = Array.from({ length: 100 }, () =>
      outcomeOf(kube.get(POD_PATH, { type: POD, signal: others.signal })),
    );
    others.abort(new Error('enough'));
    await Promise.all(givenUp);
    void kube.get(POD_PATH, { type: POD, signal });
    await clock.advance(1_000);
    expect(transport.requests).toHaveLength(2);
  });

  test('does not delay a call that has been cancelled already', async () => {
    const { kube, clock, controller, signal } = client(many(), { rateLimit: { qps: 1, burst: 1 } });
    await kube.get(POD_PATH, { type: POD, signal });
    controller.abort(new Error('enough'));
    const answer = outcomeOf(kube.get(POD_PATH, { type: POD, signal }));
    await clock.advance(0);
    expect(clock.pending).toBe(0);
    expect(await answer).toMatchObject({ message: 'enough' });
  });
});

describe('a watch', () => {
  const heard = async (events: AsyncIterable<unknown>, into: unknown[]) => {
    for await (const event of events) into.push(event);
  };

  test('yields events as their lines become complete, until the server ends it', async () => {
    const told = new ToldWatch();
    const { kube, transport, clock, signal } = client([told.opened]);
    const events: unknown[] = [];
    const done = heard(await kube.watch('/api/v1/pods?watch=true', { signal }), events);
    told.write('{"type":"ADDED"}\n\n{"type":');
    await clock.advance(0);
    expect(events).toEqual([{ type: 'ADDED' }]);
    told.write('"MODIFIED"}\n{"type":"DELETED"}\n');
    await clock.advance(0);
    expect(events).toEqual([{ type: 'ADDED' }, { type: 'MODIFIED' }, { type: 'DELETED' }]);
    told.end();
    await done;
    expect(transport.requests).toMatchObject([{ method: 'GET', isWatch: true }]);
  });

  test('may be silent for longer than the timeout of a request, and ends with its signal', async () => {
    const told = new ToldWatch();
    const { kube, clock, controller, signal } = client([told.opened]);
    const events: unknown[] = [];
    const done = outcomeOf(heard(await kube.watch('/api/v1/pods', { signal }), events));
    await clock.advance(3_600_000);
    told.write('{"type":"ADDED"}\n');
    await clock.advance(0);
    expect(events).toEqual([{ type: 'ADDED' }]);
    controller.abort(new Error('enough'));
    expect(await done).toMatchObject({ name: 'AbortError' });
  });

  test('that breaks rejects when it is read', async () => {
    const told = new ToldWatch();
    const { kube, clock, signal } = client([told.opened]);
    const done = outcomeOf(heard(await kube.watch('/api/v1/pods', { signal }), []));
    await clock.advance(0);
    told.cut();
    expect(await done).toMatchObject({ message: 'read ECONNRESET' });
  });

  test('without a response fails after 10 s, and one that is rejected fails with the error', async () => {
    const { kube, clock, signal } = client([silent(), refused(403, 'Forbidden')]);
    const opening = outcomeOf(kube.watch('/api/v1/pods', { signal }));
    await clock.advance(10_000);
    expect(await opening).toMatchObject({ message: 'no answer within 10s' });
    await expect(kube.watch('/api/v1/pods', { signal })).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
  });
});
