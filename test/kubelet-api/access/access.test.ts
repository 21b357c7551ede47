import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { KubeError } from '../../../kubeclient/kubeError.ts';
import { type AccessOptions, createAccess } from '../../../kubelet-api/access/access.ts';
import { Reviewer } from '../../fakes/serving/reviewer.ts';

let clock: SimulatedClock;
let reviewer: Reviewer;
let errors: string[];
let end: AbortController;

beforeEach(() => {
  clock = new SimulatedClock();
  reviewer = new Reviewer();
  errors = [];
  end = new AbortController();
  reviewer.tokens.set('good-token', { username: 'prometheus', groups: ['monitoring'] });
  reviewer.allowed = ({ user, resourceAttributes: { verb, subresource } }) =>
    user === 'prometheus' && verb === 'get' && ['metrics', 'proxy'].includes(subresource);
});
afterEach(() => end.abort());

const WEBHOOK = { mode: 'Webhook', allowedMs: 300_000, deniedMs: 30_000 } as const;

const access = (options: Partial<AccessOptions> = {}) =>
  createAccess({
    nodeName: 'node-1',
    clock,
    signal: end.signal,
    client: reviewer,
    authentication: { isAnonymousAllowed: false, webhook: { cacheMs: 120_000 } },
    authorization: WEBHOOK,
    onError: (source, error) => void errors.push(`${source}: ${error}`),
    ...options,
  });

const asking = (path: string, headers: Record<string, string> = {}, method = 'GET') => ({
  request: { method, headers: { ...headers }, rawHeaders: Object.entries(headers).flat() },
  path,
  signal: new AbortController().signal,
});
const bearing = (token: string) => ({ authorization: `Bearer ${token}` });

const UNAUTHORIZED = { isAdmitted: false, code: 401, text: 'Unauthorized' };
const forbidden = (user: string, verb: string, subresources: string) => ({
  isAdmitted: false,
  code: 403,
  text: `Forbidden (user=${user}, verb=${verb}, resource=nodes, subresource(s)=[${subresources}])\n`,
});

test('C38: a token known to the API server is authorized for its owner, and removed from the request', async () => {
  const { admit } = access();
  const exchange = asking('/metrics/cadvisor', { host: 'node', ...bearing('good-token') });
  const groups = ['monitoring', 'system:authenticated'];
  const caller = { name: 'prometheus', groups, extra: new Map() };
  expect(await admit(exchange)).toEqual({ isAdmitted: true, caller });
  expect(exchange.request).toMatchObject({ headers: { host: 'node' }, rawHeaders: ['host', 'node'] });
  expect(exchange.request.headers).not.toHaveProperty('authorization');
  expect(reviewer.asked).toEqual([
    { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token: 'good-token' } },
    {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: {
        resourceAttributes: { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'metrics', name: 'node-1' },
        user: 'prometheus',
        groups,
        extra: {},
      },
    },
  ]);
});

test('C38: the subresources are reviewed in order, until one is allowed', async () => {
  const { admit } = access();
  expect(await admit(asking('/pods', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  const subresources = reviewer.asked.slice(1).map(({ spec }) => spec.resourceAttributes.subresource);
  expect(subresources).toEqual(['pods', 'proxy']);
  expect(await admit(asking('/pods', bearing('good-token'), 'POST'))).toEqual(
    forbidden('prometheus', 'create', 'pods proxy'),
  );
  expect(await admit(asking('/pods', bearing('good-token'), 'HEAD'))).toEqual(
    forbidden('prometheus', '', 'pods proxy'),
  );
});

test('C38: a request without credentials or with unknown ones is unauthorized', async () => {
  const { admit, counts } = access();
  for (const headers of [{}, bearing('unknown'), { authorization: 'Basic YTpi' }, bearing('x'.repeat(40_000))])
    expect(await admit(asking('/healthz', headers))).toEqual(UNAUTHORIZED);
  expect(counts().tokens).toMatchObject({ requested: 1 });
  expect(errors).toEqual([]);
});

test('C38: a request without credentials is anonymous if that is enabled, but one with invalid credentials is not', async () => {
  reviewer.allowed = ({ user }) => user === 'system:anonymous';
  const { admit } = access({ authentication: { isAnonymousAllowed: true, webhook: { cacheMs: 1000 } } });
  expect(await admit(asking('/healthz'))).toEqual({
    isAdmitted: true,
    caller: { name: 'system:anonymous', groups: ['system:unauthenticated'], extra: new Map() },
  });
  expect(await admit(asking('/healthz', bearing('unknown')))).toEqual(UNAUTHORIZED);
  reviewer.isAway = true;
  expect(await admit(asking('/healthz', bearing('other')))).toEqual(UNAUTHORIZED);
});

test('C38: token reviews are cached for 2 minutes, positive or negative', async () => {
  const { admit, counts } = access({ authorization: { mode: 'AlwaysAllow' } });
  const ask = async (token: string) => (await admit(asking('/pods', bearing(token)))).isAdmitted;
  expect([await ask('good-token'), await ask('unknown')]).toEqual([true, false]);
  reviewer.tokens.clear();
  reviewer.tokens.set('unknown', { username: 'late' });
  await clock.advance(119_999);
  expect([await ask('good-token'), await ask('unknown')]).toEqual([true, false]);
  await clock.advance(1);
  expect([await ask('good-token'), await ask('unknown')]).toEqual([false, true]);
  expect(counts().tokens).toEqual({ requested: 4, cached: 2, shared: 0, failed: 0, underWay: 0, cachedResults: 2 });
});

test('C38: access reviews are cached for 5 minutes if allowed, and for 30 seconds if denied', async () => {
  const { admit, counts } = access();
  const ask = async (method: string) => (await admit(asking('/metrics', bearing('good-token'), method))).isAdmitted;
  expect([await ask('GET'), await ask('POST')]).toEqual([true, false]);
  reviewer.allowed = ({ resourceAttributes }) => resourceAttributes.verb === 'create';
  await clock.advance(29_999);
  expect([await ask('GET'), await ask('POST')]).toEqual([true, false]);
  await clock.advance(1);
  expect([await ask('GET'), await ask('POST')]).toEqual([true, true]);
  await clock.advance(270_000);
  expect([await ask('GET'), await ask('POST')]).toEqual([false, true]);
  expect(counts().access).toMatchObject({ requested: 4, failed: 0 });
});

test('C38: while the API server is down cached reviews apply, and everything else fails', async () => {
  const { admit, counts } = access();
  expect(await admit(asking('/metrics', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  reviewer.isAway = true;
  expect(await admit(asking('/metrics', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  expect(await admit(asking('/metrics', bearing('new-token')))).toEqual(UNAUTHORIZED);
  expect(await admit(asking('/pods', bearing('good-token')))).toEqual({
    isAdmitted: false,
    code: 500,
    text: 'Authorization error (user=prometheus, verb=get, resource=nodes, subresource=pods)',
  });
  expect(errors.map((each) => each.split(':', 1)[0])).toEqual(['authentication', 'authorization']);
  await clock.advance(120_000);
  expect(await admit(asking('/metrics', bearing('good-token')))).toEqual(UNAUTHORIZED);
  const lastFailure = { reason: 'InternalError', at: clock.now() };
  expect(counts().tokens).toMatchObject({ failed: 2, lastFailure, failingSince: lastFailure.at - 120_000 });
  // Failures are not cached.
  reviewer.isAway = false;
  expect(await admit(asking('/metrics', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  expect(await admit(asking('/pods', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  expect(counts()).toMatchObject({ tokens: { failed: 2, lastFailure }, access: { failed: 1 } });
  expect(counts().tokens).not.toHaveProperty('failingSince');
});

test('simultaneous identical reviews share one request, and an aborted client does not affect the others', async () => {
  const { admit, counts } = access();
  const held = Promise.withResolvers<void>();
  reviewer.holdBack = held.promise;
  const gone = new AbortController();
  const first = admit({ ...asking('/metrics', bearing('good-token')), signal: gone.signal });
  const others = Array.from({ length: 9 }, () => admit(asking('/metrics', bearing('good-token'))));
  await clock.advance(1);
  gone.abort(new Error('the client has gone'));
  await expect(first).rejects.toThrow('the client has gone');
  held.resolve();
  for (const other of await Promise.all(others)) expect(other).toMatchObject({ isAdmitted: true });
  expect([reviewer.count('TokenReview'), reviewer.count('SubjectAccessReview')]).toEqual([1, 1]);
  expect(counts()).toMatchObject({ tokens: { requested: 1, shared: 9 }, access: { requested: 1, shared: 8 } });
});

test('an unanswered review times out after 30 seconds, or when the server stops', async () => {
  const silent = (_: string, __: object, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((_done, fail) => signal.addEventListener('abort', () => fail(signal.reason), { once: true }));
  const { admit } = access({ client: { create: silent } });
  const late = admit(asking('/pods', bearing('good-token')));
  await clock.advance(30_000);
  expect(await late).toEqual(UNAUTHORIZED);
  expect(errors).toEqual(['authentication: Error: no answer within 30s']);
  const ended = admit(asking('/pods', bearing('good-token')));
  await clock.advance(1);
  end.abort(new Error('the server ends'));
  expect(await ended).toEqual(UNAUTHORIZED);
  expect(clock.pending).toBe(0);
});

test('a review is attempted up to five times if the server has an internal error', async () => {
  const { admit } = access();
  let failures = 2;
  reviewer.trouble = () => new KubeError(500, 'etcd is slow');
  const admission = admit(asking('/metrics', bearing('good-token')));
  await clock.advance(499);
  expect(reviewer.asked).toHaveLength(1);
  await clock.advance(1);
  failures = reviewer.asked.length;
  reviewer.trouble = undefined;
  await clock.advance(750);
  expect([failures, await admission]).toMatchObject([2, { isAdmitted: true }]);
  reviewer.trouble = () =>
    Object.assign(new Error('read'), { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) });
  reviewer.asked.length = 0;
  const hopeless = admit(asking('/logs/', bearing('good-token')));
  await clock.advance(5000);
  expect(await hopeless).toMatchObject({ code: 500 });
  expect(reviewer.asked).toHaveLength(5);
});

test('a flood of unknown tokens does not evict known tokens from the cache', async () => {
  const { admit, counts } = access();
  expect(await admit(asking('/metrics', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  for (let each = 0; each < 10_000; each += 1)
    expect((await admit(asking('/metrics', bearing(`flood-${each}`)))).isAdmitted).toBe(false);
  reviewer.isAway = true;
  expect(await admit(asking('/metrics', bearing('good-token')))).toMatchObject({ isAdmitted: true });
  expect(counts().tokens).toMatchObject({ requested: 10_001, failed: 0, cachedResults: 1025 });
});

test('concurrent reviews are limited', async () => {
  const { admit, counts } = access();
  const held = Promise.withResolvers<void>();
  reviewer.holdBack = held.promise;
  const all = Array.from({ length: 1000 }, (_, each) => admit(asking('/metrics', bearing(`flood-${each}`))));
  await clock.advance(1);
  expect(counts().tokens).toMatchObject({ requested: 256, underWay: 256, failed: 744 });
  held.resolve();
  for (const each of await Promise.all(all)) expect(each).toEqual(UNAUTHORIZED);
  expect(counts().tokens.underWay).toBe(0);
});

test.each([
  ['the refusal of the API server', () => new KubeError(403, 'no review of secret-token for you')],
  ['a part of it', () => new KubeError(403, 'no review of secret-to… for you')],
  ['an error on the way', () => new Error('cannot send {"token":"secret-token"}')],
])('an error message does not disclose the token: %s', async (_, trouble) => {
  const { admit } = access();
  reviewer.trouble = trouble;
  const answer = await admit(asking('/metrics', bearing('secret-token')));
  expect(errors).toHaveLength(1);
  expect(JSON.stringify([answer, errors])).not.toContain('secret');
});

test('no token is disclosed for an odd response, or for one with an error message', async () => {
  for (const status of [{ authenticated: 'secret-token' }, { error: 'secret-token has expired' }]) {
    const { admit } = access({ client: { create: async () => ({ kind: 'TokenReview', status }) } });
    expect(await admit(asking('/metrics', bearing('secret-token')))).toEqual(UNAUTHORIZED);
  }
  expect(errors).toHaveLength(2);
  expect(errors.join()).not.toContain('secret');
});

test('a review that is both allowed and denied is an error', async () => {
  reviewer.create = async (_, object) => ({ ...object, status: { allowed: true, denied: true } });
  const findTokenOwner = async () => ({ name: 'somebody', groups: [], extra: new Map() });
  const { admit } = access({ authentication: { isAnonymousAllowed: false }, findTokenOwner });
  expect(await admit(asking('/logs/', bearing('any')))).toMatchObject({ code: 500 });
});

test('without an API server only owners of local tokens in system:masters are authorized, for everything', async () => {
  const owners = new Map([
    ['master', ['system:masters']],
    ['other', ['viewers']],
  ]);
  const { admit } = createAccess({
    nodeName: 'node-1',
    clock,
    signal: end.signal,
    onError: () => undefined,
    authentication: { isAnonymousAllowed: false },
    authorization: { mode: 'Masters' },
    findTokenOwner: async (token) => {
      const groups = owners.get(token);
      return groups && { name: token, groups, extra: new Map() };
    },
  });
  expect(await admit(asking('/exec/a/b/c', bearing('master'), 'POST'))).toMatchObject({ isAdmitted: true });
  expect(await admit(asking('/pods', bearing('other')))).toEqual(forbidden('other', 'get', 'pods proxy'));
  expect(await admit(asking('/pods', bearing('unknown')))).toEqual(UNAUTHORIZED);
  expect(await admit(asking('/pods'))).toEqual(UNAUTHORIZED);
});

test.each([
  [{ authorization: WEBHOOK, authentication: { isAnonymousAllowed: true } }, 'authorization.mode: Webhook needs'],
  [{ authentication: { isAnonymousAllowed: true, webhook: { cacheMs: 1 } } }, 'authentication.webhook.enabled needs'],
  [{ authentication: { isAnonymousAllowed: false } }, 'no authentication method is configured'],
] as const)('a configuration whose authentication or authorization cannot work is rejected', (options, message) => {
  const { client: _, ...parts } = {
    nodeName: 'node-1',
    clock,
    signal: end.signal,
    onError: () => undefined,
    client: 0,
  };
  expect(() => createAccess({ ...parts, authorization: { mode: 'AlwaysAllow' }, ...options })).toThrow(message);
});
