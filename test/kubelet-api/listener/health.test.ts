/** Tests the health checks of the node, whose output is that of the kubelet. */
import { expect, test } from '@jest/globals';
import { type HealthCheck, healthRoutes, PING_CHECK } from '../../../kubelet-api/listener/health.ts';
import { listening } from './support/listening.ts';

const bad: HealthCheck = {
  name: 'syncloop',
  runCheck: () => {
    throw new Error('sync Loop took longer than expected');
  },
};
const good: HealthCheck = { name: 'log', runCheck: () => {} };

test('C39: a healthy agent responds ok, with every check if verbose', async () => {
  const { ask } = await listening({ routes: healthRoutes([PING_CHECK, good]) });
  const text = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  expect(await ask('/healthz')).toMatchObject({ code: 200, body: 'ok', headers: text });
  expect(await ask('/healthz', { method: 'POST' })).toMatchObject({ code: 200, body: 'ok' });
  expect((await ask('/healthz?verbose')).body).toBe('[+]ping ok\n[+]log ok\nhealthz check passed\n');
  expect(await ask('/healthz/log')).toMatchObject({ code: 200, body: 'ok' });
  expect(await ask('/healthz/none')).toMatchObject({ code: 404 });
});

test('C39: a failing check is named without its reason, which is shown only for that check alone', async () => {
  const { ask } = await listening({ routes: healthRoutes([PING_CHECK, bad]) });
  expect(await ask('/healthz')).toMatchObject({
    code: 500,
    body: '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n',
  });
  expect(await ask('/healthz/syncloop')).toMatchObject({
    code: 500,
    body: 'internal server error: sync Loop took longer than expected\n',
  });
  expect(await ask('/healthz?exclude=syncloop&exclude=b&exclude=a&verbose')).toMatchObject({
    code: 200,
    body: '[+]ping ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n',
  });
});
