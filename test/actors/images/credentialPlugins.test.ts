import { describe, expect, test } from '@jest/globals';
import { credentialPlugins } from '../../../actors/images/credentialPlugins.ts';
import type { CredentialQuery } from '../../../actors/services/images/nodeCredentials.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { CredentialProvider } from '../../../kubernetes/images/credentialProvider.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

const V1 = 'credentialprovider.kubelet.k8s.io/v1';
const TOKEN = 'token-of-the-pod-hunter2';

const aProvider = (over: Partial<CredentialProvider> = {}): CredentialProvider => ({
  name: 'plugin',
  apiVersion: V1,
  matchImages: ['*.example'],
  defaultCacheMs: 60_000,
  args: [],
  env: [],
  ...over,
});

const answer = (over: object = {}) => ({
  kind: 'CredentialProviderResponse',
  apiVersion: V1,
  cacheKeyType: 'Image',
  auth: { '*.example': { username: 'me', password: 'hunter2' } },
  ...over,
});

type Run = (provider: CredentialProvider, request: string) => unknown;

/** Creates plugins whose responses are set by the test, and records their requests. */
function plugins(providers: readonly CredentialProvider[], answers: Run = () => answer()) {
  const clock = new SimulatedClock();
  const pluginCalls: { readonly name: string; readonly image: string }[] = [];
  const problems: string[] = [];
  const find = credentialPlugins({
    providers,
    clock,
    run: async (provider, request) => {
      pluginCalls.push({ name: provider.name, ...JSON.parse(request) });
      const response = await answers(provider, request);
      return typeof response === 'string' ? response : JSON.stringify(response);
    },
    onProblem: (name, why) => void problems.push(`${name}: ${why}`),
  });
  const ask = async (repository: string, over: Partial<CredentialQuery> = {}) => {
    const { signal } = new AbortController();
    return find({ repository, pod: aPod(), signal, ...over });
  };
  const users = async (...query: Parameters<typeof ask>) => (await ask(...query)).map(({ username }) => username);
  return { clock, pluginCalls, problems, ask, users };
}

describe('a credential plugin', () => {
  test('is called only for images that it matches, with nothing but the image', async () => {
    const { users, pluginCalls } = plugins([aProvider()]);
    expect(await users('r.example/team/app')).toEqual(['me']);
    expect(await users('r.other/app')).toEqual([]);
    const request = { kind: 'CredentialProviderRequest', apiVersion: V1, image: 'r.example/team/app' };
    expect(pluginCalls).toEqual([{ name: 'plugin', ...request }]);
  });

  test('provides the credentials that match the image, merged over all plugins with longer paths first', async () => {
    const { users } = plugins([aProvider({ name: 'a' }), aProvider({ name: 'b' })], ({ name }) => {
      const places = ['r.example', `r.example/${name}`, 'other.example'];
      return answer({ auth: Object.fromEntries(places.map((place) => [place, { username: `${name} ${place}` }])) });
    });
    expect(await users('r.example/b/app')).toEqual(['b r.example/b', 'a r.example', 'b r.example']);
  });

  test.each([
    ['Image', ['r.example/a', 'r.example/b', 's.example/a']],
    ['Registry', ['r.example/a', 's.example/a']],
    ['Global', ['r.example/a']],
  ])('is called once per cache key if its response is cached per %s', async (cacheKeyType, images) => {
    const { ask, pluginCalls } = plugins([aProvider()], () => answer({ cacheKeyType }));
    for (const image of ['r.example/a', 'r.example/a', 'r.example/b', 's.example/a']) await ask(image);
    expect(pluginCalls.map(({ image }) => image)).toEqual(images);
  });

  test.each([
    ['the duration in the response', { cacheDuration: '5m' }, 60_000, 300_000],
    ['the duration in its configuration', {}, 60_000, 60_000],
    ['the duration in its configuration, if the response has null', { cacheDuration: null }, 60_000, 60_000],
  ])('has its response cached for %s', async (_, over, defaultCacheMs, ms) => {
    const { ask, pluginCalls, clock } = plugins([aProvider({ defaultCacheMs })], () => answer(over));
    await ask('r.example/a');
    await clock.advance(ms);
    await ask('r.example/a');
    expect(pluginCalls).toHaveLength(1);
    await clock.advance(1);
    await ask('r.example/a');
    expect(pluginCalls).toHaveLength(2);
  });

  test.each([
    ['its response has the duration 0', { cacheDuration: '0s' }, 60_000],
    ['its configuration has the duration 0', {}, 0],
  ])('is called on every request if %s', async (_, over, defaultCacheMs) => {
    const { ask, pluginCalls } = plugins([aProvider({ defaultCacheMs })], () => answer(over));
    await ask('r.example/a');
    await ask('r.example/a');
    expect(pluginCalls).toHaveLength(2);
  });

  test('is called once for simultaneous identical requests, and an aborted caller stops waiting', async () => {
    const answered = Promise.withResolvers<object>();
    const { ask, users, pluginCalls } = plugins([aProvider()], () => answered.promise);
    const ending = new AbortController();
    const leaving = ask('r.example/a', { signal: ending.signal });
    const staying = users('r.example/a');
    ending.abort();
    await expect(leaving).rejects.toMatchObject({ name: 'AbortError' });
    answered.resolve(answer());
    expect(await staying).toEqual(['me']);
    expect(pluginCalls).toHaveLength(1);
  });

  test.each([
    ['no JSON', 'hunter2', 'its answer is no CredentialProviderResponse'],
    ['another kind', answer({ kind: 'Secret' }), 'its answer is no CredentialProviderResponse'],
    ['what nobody knows', answer({ more: 'hunter2' }), 'its answer is no CredentialProviderResponse'],
    ['no such cacheKeyType', answer({ cacheKeyType: 'hunter2' }), 'its answer is no CredentialProviderResponse'],
    ['no duration', answer({ cacheDuration: 'hunter2' }), 'its answer has no valid cacheDuration'],
    ['another version', answer({ apiVersion: `${V1}beta1` }), `its answer is not of apiVersion ${V1}`],
  ])(
    'that responds with %s provides no credentials, and the error does not quote the response',
    async (_, response, why) => {
      const { users, problems } = plugins([aProvider(), aProvider({ name: 'sound' })], ({ name }) =>
        name === 'sound' ? answer() : response,
      );
      expect(await users('r.example/a')).toEqual(['me']);
      expect(problems).toEqual([`plugin: ${why}`]);
    },
  );

  test('that fails provides nothing, and is called again', async () => {
    const { users, problems, pluginCalls } = plugins([aProvider()], () => {
      if (pluginCalls.length === 1) throw new Error('no\n  network');
      return answer();
    });
    expect([await users('r.example/a'), await users('r.example/a')]).toEqual([[], ['me']]);
    expect(problems).toEqual(['plugin: no network']);
  });
});

describe('a credential plugin that requires a token', () => {
  const token = {
    audience: 'registry',
    cacheType: 'ServiceAccount' as const,
    isRequired: true,
    requiredAnnotations: ['example.com/role'],
    optionalAnnotations: ['example.com/hint'],
  };
  const pod = (serviceAccountName = 'puller') => aPod({ serviceAccountName });

  /** Returns a cluster whose service accounts have these annotations. */
  function cluster(annotations: Readonly<Record<string, string>> = { 'example.com/role': 'r', other: 'x' }) {
    const tokenRequests: unknown[] = [];
    return {
      tokenRequests,
      tokens: {
        get: async (_: unknown, request: object) => {
          tokenRequests.push(request);
          return { token: `${TOKEN}-${tokenRequests.length}`, renewAt: 0 };
        },
      },
      findServiceAccount: async ({ name }: { readonly name: string }) => {
        if (name === 'none') throw new Error('serviceaccounts "none" not found');
        return { uid: `uid-${name}`, annotations };
      },
    };
  }

  test('receives the token and the required annotations, and its credentials are recorded with the service account', async () => {
    const world = cluster();
    const { ask, pluginCalls } = plugins([aProvider({ token })]);
    const found = await ask('r.example/a', { pod: pod(), ...world });
    const source = { kind: 'serviceAccount', uid: 'uid-puller', namespace: 'default', name: 'puller' };
    expect(found).toEqual([{ username: 'me', password: 'hunter2', source }]);
    expect(pluginCalls).toMatchObject([
      { serviceAccountToken: `${TOKEN}-1`, serviceAccountAnnotations: { 'example.com/role': 'r' } },
    ]);
    expect(world.tokenRequests).toEqual([{ audience: 'registry', accountUid: 'uid-puller' }]);
  });

  test('has its response cached per service account or per token', async () => {
    for (const [cacheType, times] of [
      ['ServiceAccount', 2],
      ['Token', 3],
    ] as const) {
      const world = cluster();
      const { ask, pluginCalls } = plugins([aProvider({ token: { ...token, cacheType } })]);
      for (const name of ['puller', 'puller', 'other']) await ask('r.example/a', { pod: pod(name), ...world });
      expect(pluginCalls).toHaveLength(times);
    }
  });

  test('is not called if an annotation is missing, or for a pod without a service account unless the token is optional', async () => {
    const { ask, pluginCalls, problems } = plugins([aProvider({ token })]);
    await ask('r.example/a', { pod: pod(), ...cluster({ other: 'x' }) });
    await ask('r.example/a', { pod: aPod(), ...cluster() });
    expect([pluginCalls, problems]).toEqual([[], []]);
    const optional = plugins([aProvider({ token: { ...token, isRequired: false } })]);
    expect(await optional.ask('r.example/a', { pod: aPod() })).toEqual([{ username: 'me', password: 'hunter2' }]);
    expect(optional.pluginCalls[0]).not.toHaveProperty('serviceAccountToken');
  });

  test('provides nothing without the service account or without a cluster', async () => {
    const { ask, problems } = plugins([aProvider({ token })]);
    expect(await ask('r.example/a', { pod: pod('none'), ...cluster() })).toEqual([]);
    expect(await ask('r.example/a', { pod: pod() })).toEqual([]);
    expect(problems).toEqual([
      'plugin: serviceaccounts "none" not found',
      'plugin: there is no cluster to request a token from for service account default/puller',
    ]);
  });

  test('must not return the token itself, unless its responses are cached per token', async () => {
    const echo: Run = (_, request) =>
      answer({ auth: { 'r.example': { password: JSON.parse(request).serviceAccountToken } } });
    const { ask, problems } = plugins([aProvider({ token })], echo);
    expect(await ask('r.example/a', { pod: pod(), ...cluster() })).toEqual([]);
    expect(problems).toEqual(['plugin: the response contains the token itself, which requires the cacheType "Token"']);
    const alone = plugins([aProvider({ token: { ...token, cacheType: 'Token' } })], echo);
    expect(await alone.ask('r.example/a', { pod: pod(), ...cluster() })).toMatchObject([{ password: `${TOKEN}-1` }]);
  });

  test('has the token redacted from its error messages', async () => {
    const { ask, problems } = plugins([aProvider({ token })], (_, request) => {
      throw new Error(`bad request: ${request}`);
    });
    await ask('r.example/a', { pod: pod(), ...cluster() });
    expect(problems).toEqual([expect.stringContaining('"serviceAccountToken":"…"')]);
    expect(problems.join()).not.toContain(TOKEN);
  });
});

test('secret values from the configuration of a credential plugin are redacted from its error messages', async () => {
  const env = [
    { name: 'PASSWORD', value: 'hunter2-of-the-plugin' },
    { name: 'DEBUG', value: '1' },
  ];
  const { ask, problems } = plugins([aProvider({ env })], () => {
    throw new Error('+ login hunter2-of-the-plugin: 1 attempt');
  });
  await ask('r.example/a');
  expect(problems).toEqual(['plugin: + login …: 1 attempt']);
});
