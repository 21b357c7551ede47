/** The tokens of a node's pods, on a test API server in memory. */
import { ServiceAccountTokens } from '../../../../actors/objects/tokens/serviceAccountTokens.ts';
import { KubeClient } from '../../../../kubeclient/client.ts';
import type { TokenRequest } from '../../../../kubernetes/objects/podObjects.ts';
import type { Fault } from '../../../../testing/apiserver/faults.ts';
import { cluster } from '../../../fakes/cluster.ts';
import { SettableClock } from '../../../fakes/settableClock.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';

const { signal } = new AbortController();
const PODS = '/api/v1/namespaces/default/pods';
/** The token that admission mounts into every pod. */
export const MOUNTED = { audience: '', expirationSeconds: 3607 };
export const VAULT = { audience: 'vault', expirationSeconds: 600 };

const projected = (audience: string) => ({ sources: [{ serviceAccountToken: { audience, path: 'token' } }] });
const SPEC = {
  nodeName: 'node-1',
  serviceAccountName: 'builder',
  containers: [{ name: 'app', image: 'app:1' }],
  volumes: ['', 'vault'].map((audience, at) => ({ name: `v${at}`, projected: projected(audience) })),
};

/** Returns a node with a pod `web` at a test API server, whose clock is `ahead` milliseconds ahead of the node's. */
export async function tokenStory({ ahead = 0, chance = () => 0 }: { ahead?: number; chance?: () => number } = {}) {
  const clock = new SettableClock();
  const server = {
    now: () => clock.now() + ahead,
    monotonic: () => clock.monotonic(),
    setTimeout: clock.setTimeout.bind(clock),
    clearTimeout: clock.clearTimeout.bind(clock),
  };
  const { api, transport, ask } = cluster(server);
  await ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'builder' } });
  const create = async (name: string) => {
    const { metadata } = await ask('POST', PODS, { metadata: { name }, spec: SPEC });
    // The server assigns a UID to each object.
    const { uid } = metadata as { uid: string };
    return aPod({ serviceAccountName: 'builder' }, { name, namespace: 'default', uid });
  };
  const pod = await create('web');
  const [gone, errors] = [new Set<string>(), [] as string[]];
  const client = new KubeClient({ transport, clock, userAgent: 'statelet/test' });
  const tokens = new ServiceAccountTokens({
    client,
    clock,
    jitter: chance,
    isGone: ({ uid }) => gone.has(uid),
    onError: (source, error) => errors.push(`${source}: ${(error as Error).message}`),
  });
  transport.requests.splice(0);
  return {
    clock,
    transport,
    ask,
    create,
    pod,
    tokens,
    gone,
    errors,
    /** Returns the number of requests since the last call. */
    asked: () => transport.requests.splice(0).length,
    trouble: (fault: Fault, times = Number.POSITIVE_INFINITY) =>
      api.faults.add({ fault, times, matches: (_, user) => user === 'system:node:node-1' }),
    get: (request: TokenRequest = MOUNTED, of = pod) => tokens.get(of, request, { signal }),
    remove: async () => {
      gone.add(pod.metadata.uid);
      await ask('DELETE', `${PODS}/web`, { gracePeriodSeconds: 0 });
    },
    /** Whether the server accepts a token. */
    isGood: async (token: string) => {
      const headers = new Map([['authorization', `Bearer ${token}`]]);
      return (await api.respond({ method: 'GET', url: '/api', headers, body: '' })).code !== 401;
    },
  };
}

/** Returns the claims of a token. */
export const claimsOf = (token: string) => JSON.parse(String(Buffer.from(token.split('.')[1] ?? '', 'base64url')));
