/** Tests the node's server with an API server that reviews tokens and access. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../../kubeclient/client.ts';
import { type Access, createAccess } from '../../../kubelet-api/access/access.ts';
import { ApiServer } from '../../../testing/apiserver/apiServer.ts';
import { textAt } from '../../../testing/apiserver/json.ts';
import { MemoryTransport } from '../../fakes/cluster.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const ACCOUNT = 'system:serviceaccount:default:scraper';
const end = new AbortController();
let clock: SimulatedClock;
let server: ApiServer;
let way: MemoryTransport;
let access: Access;

beforeEach(async () => {
  clock = new SimulatedClock();
  server = await ApiServer.start(clock);
  await server.request('POST', ACCOUNTS, { metadata: { name: 'scraper' } });
  way = new MemoryTransport(server, { name: 'system:node:node-1', groups: ['system:nodes'] });
  access = createAccess({
    nodeName: 'node-1',
    clock,
    signal: end.signal,
    onError: () => undefined,
    client: new KubeClient({ transport: way, clock, userAgent: 'test' }),
    authentication: { isAnonymousAllowed: false, webhook: { cacheMs: 120_000 } },
    authorization: { mode: 'Webhook', allowedMs: 300_000, deniedMs: 30_000 },
  });
});
afterEach(() => server.close());

async function tokenOf(spec: Record<string, string[] | number> = {}): Promise<string> {
  const { status } = await server.request('POST', `${ACCOUNTS}/scraper/token`, { spec });
  // Safe cast: this is the status of a TokenRequest.
  return textAt(status as Record<string, string>, 'token');
}

function get(path: string, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  return access.admit({ request: { method: 'GET', headers, rawHeaders: [] }, path, signal: end.signal });
}

test('a service account token is authorized for what is granted to the account', async () => {
  server.grants.push({ to: ACCOUNT, verbs: ['get'], resources: ['nodes/metrics'] });
  const token = await tokenOf();
  expect(await get('/metrics/cadvisor', token)).toMatchObject({
    isAdmitted: true,
    caller: {
      name: ACCOUNT,
      uid: expect.any(String),
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: new Map([['authentication.kubernetes.io/credential-id', [expect.stringMatching(/^JTI=/)]]]),
    },
  });
  expect(await get('/pods', token)).toEqual({
    isAdmitted: false,
    code: 403,
    text: `Forbidden (user=${ACCOUNT}, verb=get, resource=nodes, subresource(s)=[pods proxy])\n`,
  });
});

test('a token for a different audience, an expired one and one of a deleted account are rejected', async () => {
  server.grants.push({ to: ACCOUNT, verbs: ['*'], resources: ['*'] });
  expect(await get('/pods', await tokenOf({ audiences: ['vault'] }))).toMatchObject({ code: 401 });
  const short = await tokenOf({ expirationSeconds: 600 });
  expect(await get('/pods', short)).toMatchObject({ isAdmitted: true });
  await clock.advance(800_000);
  expect(await get('/pods', short)).toMatchObject({ code: 401 });
  const orphan = await tokenOf();
  await server.request('DELETE', `${ACCOUNTS}/scraper`);
  expect(await get('/pods', orphan)).toMatchObject({ code: 401 });
});

test('user tokens are authorized for a kubelet API admin and system:masters, and for nobody else', async () => {
  server.tokens.set('kubelet-admin', { name: 'system:kubelet-api-admin', groups: [] });
  server.tokens.set('master', { name: 'root', groups: ['system:masters'] });
  server.tokens.set('other', { name: 'alice', groups: ['developers'] });
  for (const token of ['kubelet-admin', 'master'])
    expect(await get('/containerLogs/a/b/c', token)).toMatchObject({ isAdmitted: true });
  expect(await get('/containerLogs/a/b/c', 'other')).toMatchObject({ code: 403 });
});

test('while the API server is down only cached reviews apply', async () => {
  server.tokens.set('master', { name: 'root', groups: ['system:masters'] });
  expect(await get('/pods', 'master')).toMatchObject({ isAdmitted: true });
  way.isAway = true;
  expect(await get('/pods', 'master')).toMatchObject({ isAdmitted: true });
  expect(await get('/logs/', 'master')).toMatchObject({ code: 500 });
  await clock.advance(120_000);
  expect(await get('/pods', 'master')).toMatchObject({ code: 401 });
  way.isAway = false;
  expect(await get('/pods', 'master')).toMatchObject({ isAdmitted: true });
});
