import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import type { Route } from '../../kubelet-api/exchange.ts';
import { Scrapes } from '../../kubelet-api/scrapes.ts';
import { ask, begin, serve } from './logs/servedLogs.ts';

test('metrics and stats requests are counted by path, with the last client and with failures', async () => {
  let now = 1_000;
  const scrapes = new Scrapes(() => now);
  let code = 200;
  const route: Route = {
    pathPrefix: '/metrics/cadvisor',
    handle: async ({ response }) => {
      response.writeHead(code);
      if (code === 204) response.flushHeaders?.();
      else response.end('up 1\n');
    },
  };
  const { port } = await serve(scrapes.countRequests(route));
  await ask(port, '/metrics/cadvisor');
  now = 2_000;
  expect(scrapes.scrapes).toEqual([
    { path: '/metrics/cadvisor', count: 1, failed: 0, at: 1_000, caller: 'kube-apiserver' },
  ]);
  code = 500;
  await ask(port, '/metrics/cadvisor?a=b');
  code = 200;
  const gone = await begin(port, '/metrics/cadvisor', { connection: 'close' });
  gone.resume();
  await once(gone, 'close');
  expect(scrapes.scrapes).toMatchObject([{ path: '/metrics/cadvisor', count: 3, failed: 1, at: 2_000 }]);
});

test('a client that disconnects early counts as a failure', async () => {
  const scrapes = new Scrapes(() => 0);
  const closed = Promise.withResolvers<void>();
  const handle: Route['handle'] = async ({ response }) => {
    response.once('close', () => closed.resolve());
    response.flushHeaders?.();
  };
  const { port } = await serve(scrapes.countRequests({ pathPrefix: '/stats', handle }));
  const answered = await begin(port, '/stats/summary');
  answered.destroy();
  await closed.promise;
  expect(scrapes.scrapes).toMatchObject([{ path: '/stats', count: 1, failed: 1 }]);
});

test('other requests are not counted', () => {
  const scrapes = new Scrapes(() => 0);
  const route: Route = { pathPrefix: '/pods', handle: async () => {} };
  expect(scrapes.countRequests(route)).toBe(route);
  expect(scrapes.countRequests({ ...route, pathPrefix: '/metricsx' })).toMatchObject({ handle: route.handle });
});
