/** Tests which requests are counted in the same series. */
import { expect, test } from '@jest/globals';
import { Registry } from '../../../../kubelet-api/metrics/registry.ts';
import {
  pathLabel,
  registerKubeRequestMetrics,
  registerServedRequestMetrics,
} from '../../../../kubelet-api/metrics/requests/requestMetrics.ts';
import { samplesOf } from '../support/scraped.ts';

test.each([
  ['/pods', 'pods'],
  ['/pods/', 'pods'],
  ['/containerLogs/default/web/main?tailLines=1', 'containerLogs'],
  ['/metrics', 'metrics'],
  ['/metrics/cadvisor', 'metrics/cadvisor'],
  ['/metrics/slis', 'other'],
  ['/stats/summary', 'stats'],
  ['/', 'other'],
  ['', 'other'],
  ['/constructor', 'other'],
  ['//pods', 'other'],
])('%s has the path label %s', (target, path) => {
  expect(pathLabel(target)).toBe(path);
});

test('C42: the number of series is limited, however many paths and methods are requested', async () => {
  const registry = new Registry();
  const listen = registerServedRequestMetrics(registry)('readonly');
  for (let each = 0; each < 1_000; each += 1) listen({ method: `M${each}`, target: `/p${each}` })(2);
  listen({ method: 'GET', target: '/exec/default/web/main' });
  const samples = await samplesOf(registry);
  const other = '{method="other",path="other",server_type="readonly",long_running="false"}';
  const exec = '{method="GET",path="exec",server_type="readonly",long_running="true"}';
  expect(samples.get(`kubelet_http_requests_total${other}`)).toBe(1_000);
  expect(samples.get(`kubelet_http_inflight_requests${other}`)).toBe(0);
  expect(samples.get(`kubelet_http_inflight_requests${exec}`)).toBe(1);
  expect([...samples.keys()].filter((name) => name.startsWith('kubelet_http_requests_total'))).toHaveLength(2);
});

test('requests to the API server are counted by code, and without a code if there was no response', async () => {
  const registry = new Registry();
  const requests = registerKubeRequestMetrics(registry)('api:6443');
  requests.onAttempt({ method: 'GET', code: 200, isRetry: false, sentBytes: 0 });
  requests.onCompleted('GET', 7);
  requests.onAttempt({ method: 'GET', isRetry: false, sentBytes: 0 });
  requests.onCompleted('GET', 10_000);
  const samples = await samplesOf(registry);
  expect(samples.get('rest_client_requests_total{code="200",method="GET",host="api:6443"}')).toBe(1);
  expect(samples.get('rest_client_requests_total{code="<error>",method="GET",host="api:6443"}')).toBe(1);
  expect(samples.get('rest_client_request_duration_seconds_sum{verb="GET",host="api:6443"}')).toBeCloseTo(10.007);
});

test('C42: retries, rate limit delays and body sizes are recorded by method and host', async () => {
  const registry = new Registry();
  const requests = registerKubeRequestMetrics(registry)('api:6443');
  requests.onRateLimited('GET', 1_500);
  requests.onAttempt({ method: 'GET', code: 429, isRetry: false, sentBytes: 0 });
  requests.onAttempt({ method: 'GET', code: 200, isRetry: true, sentBytes: 0 });
  requests.onAttempt({ method: 'GET', code: 200, isRetry: false });
  requests.onResponse('GET', 300);
  const samples = await samplesOf(registry);
  const of = '{verb="GET",host="api:6443"}';
  expect(samples.get('rest_client_request_retries_total{code="200",verb="GET",host="api:6443"}')).toBe(1);
  expect(samples.get('rest_client_request_retries_total{code="429",verb="GET",host="api:6443"}')).toBe(undefined);
  expect(samples.get(`rest_client_rate_limiter_duration_seconds_sum${of}`)).toBe(1.5);
  expect(samples.get(`rest_client_response_size_bytes_sum${of}`)).toBe(300);
  expect(samples.get(`rest_client_request_size_bytes_count${of}`)).toBe(2);
  expect(samples.get('rest_client_requests_total{code="200",method="GET",host="api:6443"}')).toBe(2);
});

test('C42: WebSocket streams are counted by their purpose', async () => {
  const registry = new Registry();
  const startRequest = registerServedRequestMetrics(registry)('readwrite');
  startRequest({ method: 'GET', target: '/portForward/a/b', isWebSocket: true })(1);
  startRequest({ method: 'POST', target: '/exec/a/b/c' })(1);
  startRequest({ method: 'GET', target: '/pods', isWebSocket: true })(1);
  const samples = await samplesOf(registry);
  const counts = [...samples].filter(([name]) => name.startsWith('kubelet_websocket'));
  expect(counts).toEqual([['kubelet_websocket_streaming_requests_total{subresource="portforward"}', 1]]);
});
