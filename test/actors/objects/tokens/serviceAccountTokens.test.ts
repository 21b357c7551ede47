import { describe, expect, test } from '@jest/globals';
import { ServiceAccountTokens } from '../../../../actors/objects/tokens/serviceAccountTokens.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import { SettableClock } from '../../../fakes/settableClock.ts';
import { answered, ToldTransport } from '../../../fakes/toldTransport.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';
import { claimsOf, MOUNTED, tokenStory, VAULT } from '../support/tokenStory.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

test('a token is requested once, and is bound to the service account and the pod', async () => {
  const { pod, get, asked, clock, isGood } = await tokenStory();
  const { token, renewAt } = await get();
  expect(claimsOf(token)).toMatchObject({
    sub: 'system:serviceaccount:default:builder',
    'kubernetes.io': { pod: { name: 'web', uid: pod.metadata.uid } },
  });
  expect(renewAt - clock.now()).toBe(2_885_600);
  expect(await get()).toEqual({ token, renewAt, goodUntil: clock.now() + 3_607_000 });
  expect(asked()).toBe(1);
  expect(await isGood(token)).toBe(true);
});

test('each combination of audience, expiry and pod has its own token with its own lifetime', async () => {
  const { get, asked, clock, create } = await tokenStory();
  const other = await create('other');
  asked();
  const all = [
    await get(),
    await get(VAULT),
    await get({ ...VAULT, expirationSeconds: 700 }),
    await get(MOUNTED, other),
  ];
  expect(new Set(all.map(({ token }) => token)).size).toBe(4);
  expect(all.map(({ renewAt }) => renewAt - clock.now())).toEqual([2_885_600, 480_000, 560_000, 2_885_600]);
  expect(claimsOf(all[1]?.token ?? '').aud).toEqual(['vault']);
  expect(asked()).toBe(4);
});

test('a recreated service account gets a new token, and a request for the former account gets none', async () => {
  const { get, asked, ask, clock } = await tokenStory();
  const path = '/api/v1/namespaces/default/serviceaccounts/builder';
  const uidNow = async () => ((await ask('GET', path)).metadata as { uid: string }).uid;
  const former = { audience: 'vault', accountUid: await uidNow() };
  const { token, renewAt } = await get(former);
  // A lifetime of one hour, which is the default of the server. A token is renewed after four fifths of it.
  expect(renewAt - clock.now()).toBe(2_880_000);
  await ask('DELETE', path);
  await ask('POST', path.slice(0, path.lastIndexOf('/')), { metadata: { name: 'builder' } });
  const later = { audience: 'vault', accountUid: await uidNow() };
  expect((await get(later)).token).not.toBe(token);
  expect(asked()).toBe(2);
  await clock.advance(49 * HOUR);
  await expect(get(former)).rejects.toThrow(
    /the UID in the token request \(.*\) does not match the UID of the service account/,
  );
});

test('simultaneous callers share one token request, which continues if one of them aborts', async () => {
  const { tokens, pod, get, asked } = await tokenStory();
  const leaving = new AbortController();
  const left = tokens.get(pod, MOUNTED, { signal: leaving.signal }).catch(String);
  const [one, other] = [get(), get()];
  leaving.abort(new Error('no more'));
  expect(await left).toBe('Error: no more');
  expect(await one).toEqual(await other);
  expect(asked()).toBe(1);
});

test('a token request without waiting callers is aborted, which is not a failure', async () => {
  const { tokens, pod, get, asked, trouble, clock, errors } = await tokenStory();
  trouble({ kind: 'hung' }, 1);
  const leaving = new AbortController();
  const left = tokens.get(pod, MOUNTED, { signal: leaving.signal }).catch(String);
  await clock.advance(SECOND);
  leaving.abort(new Error('no more'));
  await left;
  await clock.advance(0);
  expect(clock.pending).toBe(0);
  expect(await get()).toHaveProperty('token');
  await expect(tokens.get(pod, MOUNTED, { signal: leaving.signal })).rejects.toThrow('no more');
  expect([asked(), errors]).toEqual([2, []]);
});

test('a token is renewed when it is due, and not before', async () => {
  const { get, asked, clock } = await tokenStory();
  const { token, renewAt } = await get();
  await clock.advance(renewAt - clock.now() - 2 * SECOND);
  expect((await get()).token).toBe(token);
  await clock.advance(2 * SECOND);
  expect((await get()).token).not.toBe(token);
  expect(asked()).toBe(2);
});

test('a slightly early timer renews the token instead of waiting again', async () => {
  const { get, clock } = await tokenStory();
  const { token, renewAt } = await get();
  await clock.advance(renewAt - clock.now() - 1);
  expect((await get()).token).not.toBe(token);
});

test('tokens of different pods are renewed at different times', async () => {
  let drawn = 0;
  const { get, clock, create } = await tokenStory({ chance: () => (drawn++ % 10) / 10 });
  const waits: number[] = [];
  for (const name of ['a', 'b', 'c']) waits.push((await get(MOUNTED, await create(name))).renewAt - clock.now());
  expect(waits).toEqual([2_885_600, 2_884_600, 2_883_600]);
});

test('a token is always valid during a week, with a request every 48 minutes', async () => {
  const { get, asked, clock, isGood } = await tokenStory({ chance: () => 0.5 });
  const end = clock.now() + 7 * 24 * HOUR;
  let current = await get({ audience: '', expirationSeconds: 3_600 });
  while (clock.now() < end) {
    await clock.advance(Math.min(5 * MINUTE, current.renewAt - clock.now()));
    expect(await isGood(current.token)).toBe(true);
    current = await get({ audience: '', expirationSeconds: 3_600 });
  }
  expect(asked()).toBe(1 + Math.floor((7 * 24 * HOUR) / (48 * MINUTE - 5 * SECOND)));
});

test('a token with a lifetime of a year is renewed every day', async () => {
  const { get, asked, clock } = await tokenStory();
  const long = { audience: 'vault', expirationSeconds: 365 * 24 * 3_600 };
  for (let day = 0; day < 7; day++) {
    const { renewAt } = await get(long);
    expect(renewAt - clock.now()).toBe(24 * HOUR);
    await clock.advance(renewAt - clock.now());
  }
  expect(asked()).toBe(7);
});

test('a server clock that differs from the clock of the node has no effect', async () => {
  for (const ahead of [-3 * HOUR, 3 * HOUR]) {
    const { get, asked, clock, isGood } = await tokenStory({ ahead });
    const { token, renewAt } = await get(VAULT);
    expect(renewAt - clock.now()).toBe(480_000);
    await clock.advance(479_000);
    expect((await get(VAULT)).token).not.toBe(token);
    expect(await isGood((await get()).token)).toBe(true);
    expect(asked()).toBe(3);
  }
});

test('the tokens of a forgotten pod are dropped', async () => {
  const { tokens, get, asked, pod, create } = await tokenStory();
  const other = await create('other');
  asked();
  const all = [await get(), await get(MOUNTED, other)];
  tokens.forget(pod.metadata.uid);
  const now = [await get(), await get(MOUNTED, other)];
  expect(now.map(({ token }, at) => token === all[at]?.token)).toEqual([false, true]);
  expect(asked()).toBe(3);
});

test('an unused token is dropped eventually, even if the removal of its pod was never reported', async () => {
  const { tokens, get, create, clock } = await tokenStory();
  await get();
  const other = await create('other');
  await clock.advance(47 * HOUR);
  await get(MOUNTED, other);
  expect(tokens.size).toBe(2);
  await clock.advance(2 * HOUR);
  await get(MOUNTED, other);
  expect(tokens.size).toBe(1);
});

describe('an unreadable token response', () => {
  const secret = 'eyJhbGciOiJIUzI1NiJ9';

  test.each([
    ['is no JSON', `{"status":{"token":${secret}`, 'the response of the API server cannot be read'],
    [
      'is none',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', status: { token: secret } },
      'the response of the API server contains no token',
    ],
  ])('that %s is reported without the token', async (_, body, message) => {
    const clock = new SettableClock();
    const transport = new ToldTransport(answered(201, body));
    const tokens = new ServiceAccountTokens({
      client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }),
      clock,
      jitter: () => 0,
      isGone: () => false,
      onError: () => {},
    });
    const options = { signal: new AbortController().signal };
    await expect(tokens.get(aPod(), MOUNTED, options)).rejects.toThrow(`failed to fetch token: ${message}`);
  });
});
