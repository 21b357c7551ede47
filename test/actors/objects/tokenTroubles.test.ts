/** Tokens that cannot be obtained or renewed, and changes of the clock. */
import { describe, expect, test } from '@jest/globals';
import { MOUNTED, tokenStory, VAULT } from './support/tokenStory.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const UNTIL_DUE = 2_885_600;

describe('a token that cannot be obtained', () => {
  test.each([
    [{ kind: 'refused', code: 500 } as const, /^failed to fetch token: .*a fault that was asked for$/],
    [{ kind: 'lost' } as const, /^failed to fetch token: /],
    [{ kind: 'hung' } as const, /^failed to fetch token: no answer within 10s$/],
  ])('fails with the message of a kubelet: %j', async (fault, message) => {
    const { get, trouble, clock } = await tokenStory();
    trouble(fault, 1);
    await expect(clock.advanceUntilSettled(get())).rejects.toThrow(message);
    expect(await get()).toHaveProperty('token');
  });

  test('fails because the service account does not exist', async () => {
    const { get, ask } = await tokenStory();
    await ask('DELETE', '/api/v1/namespaces/default/serviceaccounts/builder');
    await expect(get()).rejects.toThrow(/^failed to fetch token: serviceaccounts "builder" not found$/);
  });

  test('fails because the pod has been replaced', async () => {
    const { get, pod, tokens } = await tokenStory();
    const other = { ...pod, metadata: { ...pod.metadata, uid: 'u-other' } };
    await expect(get(MOUNTED, other)).rejects.toThrow(
      /^failed to fetch token: serviceaccounts "builder" is forbidden: the UID in the bound object reference \(u-other\) does not match/,
    );
    expect(tokens.size).toBe(1);
  });

  test('fails because no volume of the pod names the audience', async () => {
    const { get } = await tokenStory();
    await expect(get({ audience: 'bank', expirationSeconds: 600 })).rejects.toThrow(
      /^failed to fetch token: serviceaccounts "builder" is forbidden: audience "bank" not found in pod spec volume, /,
    );
  });

  test('fails because its lifetime is shorter than ten minutes', async () => {
    const { get } = await tokenStory();
    await expect(get({ audience: '', expirationSeconds: 599 })).rejects.toThrow(
      /^failed to fetch token: .*may not specify a duration less than 10 minutes$/,
    );
  });
});

describe('a token that cannot be renewed', () => {
  test('is used until it expires, with retries at increasing intervals', async () => {
    const { get, transport, clock, asked, errors } = await tokenStory();
    const { token } = await get();
    await clock.advance(UNTIL_DUE);
    transport.isAway = true;
    const waits: number[] = [];
    for (let tries = 0; tries < 8; tries++) {
      const current = await get();
      expect(current.token).toBe(token);
      waits.push(current.renewAt - clock.now());
      await clock.advance(current.renewAt - clock.now());
    }
    expect(waits.map((wait) => wait / SECOND)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(asked()).toBe(9);
    expect(errors).toHaveLength(8);
    expect(errors[0]).toBe(
      'tokens: the token of service account builder for pod default/web could not be renewed and is used until it expires: connect ECONNREFUSED 127.0.0.1:6443',
    );
    transport.isAway = false;
    expect((await get()).token).not.toBe(token);
    expect((await get()).renewAt - clock.now()).toBe(UNTIL_DUE);
  });

  test('is not requested between the retries', async () => {
    const { get, transport, clock, asked } = await tokenStory();
    await get();
    await clock.advance(UNTIL_DUE);
    transport.isAway = true;
    await get();
    await get();
    await get();
    expect(asked()).toBe(2);
  });

  test('is retried after the Retry-After of the server if that is longer', async () => {
    const { get, trouble, clock } = await tokenStory();
    await get();
    await clock.advance(UNTIL_DUE);
    trouble({ kind: 'refused', code: 503, retryAfterSeconds: 20 }, 1);
    expect((await get()).renewAt - clock.now()).toBe(20 * SECOND);
  });

  test('because the server hangs is still used', async () => {
    const { get, trouble, clock } = await tokenStory();
    const { token } = await get();
    await clock.advance(UNTIL_DUE);
    trouble({ kind: 'hung' }, 1);
    expect((await clock.advanceUntilSettled(get())).token).toBe(token);
  });

  test('fails once it has expired, and is then requested on each use', async () => {
    const { get, transport, clock, asked, pod } = await tokenStory();
    const { token } = await get();
    await clock.advance(UNTIL_DUE);
    transport.isAway = true;
    for (let current = await get(); clock.now() < current.renewAt && asked() < 100; ) {
      expect(current.token).toBe(token);
      await clock.advance(current.renewAt - clock.now());
      current = await get().catch((error) => ({ token: String(error), renewAt: 0 }));
      if (current.renewAt === 0) expect(current.token).toContain('expired and refresh failed');
    }
    expect(clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1) + 3_607 * SECOND);
    const bound = `v1.BoundObjectReference{Kind:"Pod", APIVersion:"v1", Name:"web", UID:"${pod.metadata.uid}"}`;
    asked();
    const message = `token "builder"/"default"/[]string(nil)/3607/${bound}/"" expired and refresh failed: connect ECONNREFUSED 127.0.0.1:6443`;
    await expect(get()).rejects.toThrow(message);
    await expect(get()).rejects.toThrow(message);
    expect(asked()).toBe(2);
  });

  test('is due at its expiry, even if the back-off would end later', async () => {
    const { get, trouble, clock } = await tokenStory();
    await get();
    await clock.advance(3_600 * SECOND);
    trouble({ kind: 'refused', code: 503, retryAfterSeconds: 30 }, 1);
    expect((await get()).renewAt - clock.now()).toBe(7 * SECOND);
  });
});

describe('a pod that is deleted during a renewal', () => {
  test('retains its token without an error, even after the expiry, and no other token is requested', async () => {
    const { get, remove, clock, errors, asked } = await tokenStory();
    const { token } = await get();
    await remove();
    asked();
    await clock.advance(UNTIL_DUE);
    const due = await get();
    expect([due.token, due.renewAt - clock.now()]).toEqual([token, 60 * SECOND]);
    await clock.advance(HOUR);
    const current = await get();
    expect([current.token, current.renewAt > clock.now()]).toEqual([token, true]);
    await get();
    expect([asked(), errors]).toEqual([0, []]);
  });

  test('gets no token that it did not have before', async () => {
    const { get, remove } = await tokenStory();
    await remove();
    await expect(get()).rejects.toThrow(/^failed to fetch token: serviceaccounts "builder" is forbidden: /);
  });
});

describe('setting the clock', () => {
  test('forward past the renewal time renews the token', async () => {
    const { get, clock } = await tokenStory();
    const { token } = await get();
    clock.set(49 * MINUTE);
    expect((await get()).token).not.toBe(token);
  });

  test('forward past the expiry renews the token, and a failed renewal is an error', async () => {
    const { get, clock, transport } = await tokenStory();
    const { token } = await get();
    clock.set(2 * HOUR);
    transport.isAway = true;
    await expect(get()).rejects.toThrow('expired and refresh failed');
    transport.isAway = false;
    expect((await get()).token).not.toBe(token);
  });

  test('forward before the renewal time leaves that time unchanged', async () => {
    const { get, clock, asked } = await tokenStory();
    const { renewAt } = await get();
    clock.set(10 * MINUTE);
    expect((await get()).renewAt).toBe(renewAt);
    expect(asked()).toBe(1);
  });

  test('back renews the token, once', async () => {
    const { get, clock, asked, isGood } = await tokenStory();
    const { token } = await get(VAULT);
    await clock.advance(MINUTE);
    clock.set(-24 * HOUR);
    const next = await get(VAULT);
    expect(next.token).not.toBe(token);
    expect(next.renewAt - clock.now()).toBe(480 * SECOND);
    expect((await get(VAULT)).token).toBe(next.token);
    expect(await isGood((await get()).token)).toBe(true);
    expect(asked()).toBe(3);
  });

  test('back while the API server is down causes no more requests than other failures', async () => {
    const { get, clock, asked, transport } = await tokenStory();
    const { token } = await get();
    clock.set(-HOUR);
    transport.isAway = true;
    expect((await get()).token).toBe(token);
    expect((await get()).token).toBe(token);
    expect(asked()).toBe(2);
  });

  test('back and forth for a week always leaves a valid token', async () => {
    const { get, clock, isGood, asked } = await tokenStory({ chance: () => 0.9 });
    const jumps = [5 * MINUTE, -2 * HOUR, 3 * HOUR, -30 * SECOND, 70 * MINUTE, -10 * MINUTE];
    const request = { audience: '', expirationSeconds: 3_600 };
    const end = clock.monotonic() + 7 * 24 * HOUR;
    for (let turn = 0; clock.monotonic() < end; turn++) {
      const { token, renewAt } = await get(request);
      expect(await isGood(token)).toBe(true);
      await clock.advance(Math.min(10 * MINUTE, renewAt - clock.now()));
      if (turn % 5 === 0) clock.set(jumps[(turn / 5) % jumps.length] ?? 0);
    }
    // At most one request for each token lifetime, and one for each change of the clock.
    expect(asked()).toBeLessThan((7 * 24 * HOUR) / (47 * MINUTE) + (7 * 24 * HOUR) / (50 * MINUTE) + 2);
  });
});
