import { expect, test } from '@jest/globals';
import { Api } from '../../../testing/apiserver/api.ts';
import { ConnectionCut, type Fault, type FaultRule } from '../../../testing/apiserver/faults.ts';
import { Schedule } from '../../../testing/simulation/run/schedule.ts';

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
const tokens = new Map([['secret', { name: 'admin', groups: ['system:masters'] }]]);

function started() {
  const clock = new Schedule(Date.parse('2026-01-01T00:00:00Z'));
  const api = new Api({ clock, tokens, address: '127.0.0.1' });
  const headers = new Map([
    ['authorization', 'Bearer secret'],
    ['content-type', 'application/json'],
  ]);
  const ask = (method: string, url: string, body = '') => api.respond({ method, url, headers, body });
  return { api, ask, pass: (ms: number) => clock.advance(ms, turn) };
}

const NAMESPACES = '/api/v1/namespaces';
const namespaceNamed = (name: string) => JSON.stringify({ metadata: { name } });
const on = (fault: Fault, more: Omit<FaultRule, 'fault'> = {}): FaultRule => ({ fault, ...more });

test('a delayed request takes effect after its latency', async () => {
  const { api, ask, pass } = started();
  api.faults.add(on({ kind: 'latency', ms: 500 }));
  let code = 0;
  const answer = ask('GET', NAMESPACES).then((response) => {
    code = response.code;
  });
  await pass(499);
  expect(code).toBe(0);
  await pass(1);
  await answer;
  expect(code).toBe(200);
});

test('a refused request has the response of priority and fairness, or of a server error', async () => {
  const { api, ask } = started();
  api.faults.add(on({ kind: 'refused', code: 429, retryAfterSeconds: 7 }, { times: 1 }));
  const many = await ask('GET', NAMESPACES);
  expect([many.code, many.headers.get('retry-after'), many.headers.get('content-type')]).toEqual([
    429,
    '7',
    'text/plain; charset=utf-8',
  ]);
  api.faults.add(on({ kind: 'refused', code: 503 }, { times: 1 }));
  expect(await ask('GET', NAMESPACES)).toMatchObject({ code: 503, body: expect.stringContaining('"code":503') });
  expect(await ask('GET', NAMESPACES)).toMatchObject({ code: 200 });
});

test('a fault applies to matching requests until it is removed', async () => {
  const { api, ask } = started();
  const end = api.faults.add(
    on(
      { kind: 'refused', code: 500 },
      { matches: (request, user) => 'resource' in request && request.verb === 'create' && user === 'admin' },
    ),
  );
  expect(await ask('POST', NAMESPACES, namespaceNamed('a'))).toMatchObject({ code: 500 });
  expect(await ask('GET', NAMESPACES)).toMatchObject({ code: 200 });
  end();
  expect(await ask('POST', NAMESPACES, namespaceNamed('a'))).toMatchObject({ code: 201 });
});

test('a request whose response is lost takes effect', async () => {
  const { api, ask } = started();
  api.faults.add(on({ kind: 'lost' }, { times: 1 }));
  await expect(ask('POST', NAMESPACES, namespaceNamed('a'))).rejects.toThrow(ConnectionCut);
  expect(await ask('GET', `${NAMESPACES}/a`)).toMatchObject({ code: 200 });
});

test('a request that is lost has no effect', async () => {
  const { api, ask } = started();
  api.faults.add(on({ kind: 'dropped' }, { times: 1 }));
  await expect(ask('POST', NAMESPACES, namespaceNamed('a'))).rejects.toThrow(ConnectionCut);
  expect(await ask('GET', `${NAMESPACES}/a`)).toMatchObject({ code: 404 });
});

test('a hung request is never answered', async () => {
  const { api, ask, pass } = started();
  api.faults.add(on({ kind: 'hung' }, { times: 1 }));
  let isAnswered = false;
  void ask('GET', NAMESPACES).finally(() => {
    isAnswered = true;
  });
  await pass(1_000_000);
  expect(isAnswered).toBe(false);
});

test('a stale read returns an earlier revision', async () => {
  const { api, ask } = started();
  await ask('POST', NAMESPACES, namespaceNamed('old'));
  await ask('POST', NAMESPACES, namespaceNamed('new'));
  api.faults.add(on({ kind: 'stale', writes: 1 }));
  expect(await ask('GET', `${NAMESPACES}/old`)).toMatchObject({ code: 200 });
  expect(await ask('GET', `${NAMESPACES}/new`)).toMatchObject({ code: 404 });
  const list = await ask('GET', NAMESPACES);
  expect('body' in list && String(list.body)).not.toContain('"name":"new"');
});

async function watched(fault: Fault) {
  const { api, ask, pass } = started();
  api.faults.add(on(fault, { times: 1 }));
  const answer = await ask('GET', `${NAMESPACES}?watch=true&resourceVersion=${api.registry.store.revision}`);
  if ('body' in answer) throw new Error(String(answer.body));
  const calls: string[] = [];
  const stop = answer.start(
    () => calls.push('event'),
    () => calls.push('end'),
    () => calls.push('cut'),
  );
  await ask('POST', NAMESPACES, namespaceNamed('first'));
  await pass(1000);
  await ask('POST', NAMESPACES, namespaceNamed('second'));
  stop();
  return calls;
}

test('a watch that is cut receives no more events', async () => {
  expect(await watched({ kind: 'cut', afterMs: 1000 })).toEqual(['event', 'cut']);
});

test('a silent watch stays open without events', async () => {
  expect(await watched({ kind: 'silent' })).toEqual([]);
});
