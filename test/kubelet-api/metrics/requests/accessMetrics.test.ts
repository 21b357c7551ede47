/** Tests what is counted when requests to the node are authenticated and authorized. */
import { afterEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { KubeError } from '../../../../kubeclient/kubeError.ts';
import { createAccess } from '../../../../kubelet-api/access/access.ts';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import { registerAccessMetrics } from '../../../../kubelet-api/metrics/requests/accessMetrics.ts';
import { Reviewer } from '../../../fakes/serving/reviewer.ts';
import { samplesOf } from '../support/scraped.ts';

const end = new AbortController();
afterEach(() => end.abort());

function counted() {
  const clock = new SimulatedClock();
  const registry = new Registry();
  const reviewer = new Reviewer();
  reviewer.tokens.set('good-token', { username: 'prometheus', groups: [] });
  reviewer.allowed = () => true;
  const access = createAccess({
    nodeName: 'node-1',
    clock,
    signal: end.signal,
    client: reviewer,
    authentication: { isAnonymousAllowed: false, webhook: { cacheMs: 120_000 } },
    authorization: { mode: 'Webhook', allowedMs: 300_000, deniedMs: 30_000 },
    observer: registerAccessMetrics(registry, clock),
    onError: () => {},
  });
  const admit = (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = { method: 'GET', headers, rawHeaders: Object.entries(headers).flat() };
    return access.admit({ request, path: '/metrics', signal: new AbortController().signal });
  };
  return { clock, reviewer, admit, samples: () => samplesOf(registry) };
}

test('C42: reviews are counted by the status code of the API server, and tokens by cache hits and misses', async () => {
  const { admit, samples } = counted();
  await admit('good-token');
  await admit('good-token');
  const now = await samples();
  expect(now.get('apiserver_delegated_authn_request_total{code="201"}')).toBe(1);
  expect(now.get('apiserver_delegated_authn_request_duration_seconds_count{code="201"}')).toBe(1);
  expect(now.get('apiserver_delegated_authz_request_total{code="201"}')).toBe(1);
  expect(now.get('apiserver_delegated_authz_request_duration_seconds_count{code="201"}')).toBe(1);
  expect(now.get('authentication_token_cache_request_total{status="miss"}')).toBe(1);
  expect(now.get('authentication_token_cache_request_total{status="hit"}')).toBe(1);
  expect(now.get('authentication_token_cache_request_duration_seconds_count{status="hit"}')).toBe(1);
  expect(now.get('authentication_token_cache_fetch_total{status="ok"}')).toBe(1);
  expect(now.get('authentication_token_cache_active_fetch_count{status="in_flight"}')).toBe(0);
  expect(now.get('authentication_token_cache_active_fetch_count{status="blocked"}')).toBe(0);
});

test.each([
  ['a refusal by its code', new KubeError(403, 'no'), '403'],
  ['a lost connection as an error', new Error('gone'), '<error>'],
])('C42: a review counts %s', async (_, failure, code) => {
  const { admit, reviewer, samples } = counted();
  reviewer.trouble = () => failure;
  await admit('good-token');
  const now = await samples();
  expect(now.get(`apiserver_delegated_authn_request_total{code="${code}"}`)).toBe(1);
  expect(now.get('authentication_token_cache_fetch_total{status="error"}')).toBe(1);
});
