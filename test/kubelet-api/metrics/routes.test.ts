/** Tests the metrics of a whole node with a scrape over TLS. */

import { once } from 'node:events';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { healthRoutes, PING_CHECK } from '../../../kubelet-api/listener/health.ts';
import { metricsRoutes } from '../../../kubelet-api/metrics/routes.ts';
import { authority, listening } from '../listener/support/listening.ts';
import { countedNode, readFamilies } from './support/scraped.ts';

async function servedMetrics() {
  const { metrics } = await countedNode();
  let fails = false;
  const moody = {
    name: 'moody',
    runCheck: () => {
      if (fails) throw new Error('not now');
    },
  };
  const routes = [...metricsRoutes(metrics.registries), ...healthRoutes([PING_CHECK, moody], metrics.checkListener)];
  const listener = await listening({ routes, onRequest: metrics.observeServedRequests('readwrite') });
  return {
    ...listener,
    metrics,
    fail: () => {
      fails = true;
    },
  };
}

test('C42: metrics are served for any method in the Prometheus text format, with the process start time', async () => {
  const { ask } = await servedMetrics();
  const { code, headers, body } = await ask('/metrics');
  expect(code).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    'process-start-time-unix': expect.stringMatching(/^\d+$/),
  });
  expect(body).toContain('# TYPE kubelet_node_name gauge\nkubelet_node_name{node="node-1"} 1\n');
  expect(body).toContain('process_open_fds ');
  expect((await ask('/metrics', { method: 'POST' })).code).toBe(200);
  expect((await ask('/metrics/other')).code).toBe(404);
  expect((await ask('/metrics/probes')).body).toMatch(/^# HELP process_start_time_seconds \[ALPHA\] /);
});

test('metrics are compressed if the client accepts that', async () => {
  const { port } = await servedMetrics();
  const headers = { 'accept-encoding': 'gzip' };
  const clientRequest = request({
    host: '127.0.0.1',
    port,
    path: '/metrics',
    ca: authority.cert,
    servername: 'localhost',
    headers,
  });
  clientRequest.end();
  const [response] = await once(clientRequest, 'response');
  expect(response.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(await buffer(response)).toString()).toContain('kubelet_node_name');
});

test('requests are counted by class, with the current one among those in flight', async () => {
  const { ask } = await servedMetrics();
  await ask('/nowhere/secret');
  await ask('/metrics/probes?x=1', { method: 'PATCH' });
  const families = readFamilies((await ask('/metrics')).body);
  const of = (method: string, path: string) =>
    `{method="${method}",path="${path}",server_type="readwrite",long_running="false"}`;
  const total = families.get('kubelet_http_requests_total')?.samples;
  expect(Object.fromEntries(total ?? [])).toEqual({
    [`kubelet_http_requests_total${of('GET', 'other')}`]: 1,
    [`kubelet_http_requests_total${of('other', 'metrics/probes')}`]: 1,
    [`kubelet_http_requests_total${of('GET', 'metrics')}`]: 1,
  });
  const open = families.get('kubelet_http_inflight_requests')?.samples;
  expect(open?.get(`kubelet_http_inflight_requests${of('GET', 'metrics')}`)).toBe(1);
  expect(open?.get(`kubelet_http_inflight_requests${of('GET', 'other')}`)).toBe(0);
  const duration = families.get('kubelet_http_requests_duration_seconds')?.samples;
  expect(duration?.get(`kubelet_http_requests_duration_seconds_count${of('GET', 'other')}`)).toBe(1);
});

test('C42: health check results are exposed once all have been requested, until they are deleted', async () => {
  const { ask, fail } = await servedMetrics();
  const scrapeFamilies = async () => {
    const families = [...readFamilies((await ask('/metrics/slis')).body).values()];
    return Object.fromEntries(
      families.flatMap(({ samples }) => [...samples]).filter(([name]) => name.includes('moody')),
    );
  };
  await ask('/healthz');
  await ask('/healthz/moody');
  fail();
  await ask('/healthz');
  await ask('/healthz?exclude=moody');
  expect(await scrapeFamilies()).toEqual({
    'kubernetes_healthcheck{name="moody",type="healthz"}': 0,
    'kubernetes_healthchecks_total{name="moody",type="healthz",status="success"}': 1,
    'kubernetes_healthchecks_total{name="moody",type="healthz",status="error"}': 1,
  });
  expect(await ask('/metrics/slis', { method: 'DELETE' })).toMatchObject({ code: 200, body: 'metrics reset\n' });
  expect(await scrapeFamilies()).toEqual({});
  expect((await ask('/metrics/slis')).body).toContain('process_start_time_seconds');
});
