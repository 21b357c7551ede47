/** Metrics of clients about their requests, counted as in client-go. */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import { POD } from '../../kubeclient/paths.ts';
import type { RateLimitOptions } from '../../kubeclient/rateLimit.ts';
import { answered, type Reply, refused, silent, ToldTransport, unreachable } from '../fakes/toldTransport.ts';

const POD_PATH = '/api/v1/namespaces/default/pods/web';
const FOUND = JSON.stringify({ ...POD, über: 'ü' });
const FOUND_BYTES = Buffer.byteLength(FOUND);

function stand(replies: readonly Reply[], rateLimit?: RateLimitOptions) {
  const clock = new SimulatedClock();
  const reports: unknown[][] = [];
  const observer = {
    onRateLimited: (...said: unknown[]) => void reports.push(['throttled', ...said]),
    onAttempt: ({ method, ...said }: { readonly method: string }) => void reports.push(['attempted', method, said]),
    onResponse: (...said: unknown[]) => void reports.push(['received', ...said]),
    onCompleted: (...said: unknown[]) => void reports.push(['completed', ...said]),
  };
  const transport = new ToldTransport(...replies);
  const kube = new KubeClient({
    transport,
    clock,
    userAgent: 'statelet/test',
    observer,
    ...(rateLimit ? { rateLimit } : {}),
  });
  return { clock, kube, reports, signal: new AbortController().signal };
}

test('a request reports its body, the body of its response in bytes, and its duration', async () => {
  const { kube, reports, signal } = stand([answered(201, FOUND)]);
  await kube.create('/api/v1/namespaces/default/pods', POD, { signal });
  expect(reports).toEqual([
    ['attempted', 'POST', { code: 201, isRetry: false, sentBytes: JSON.stringify(POD).length }],
    ['received', 'POST', FOUND_BYTES],
    ['completed', 'POST', 0],
  ]);
});

test('a request that the server defers reports each attempt, one duration, and only the size of the last response', async () => {
  const { clock, kube, reports, signal } = stand([
    refused(429, 'TooManyRequests', { 'retry-after': '2' }),
    answered(200, FOUND),
  ]);
  const done = kube.get(POD_PATH, { type: POD, signal });
  await clock.advance(2_000);
  await done;
  expect(reports).toEqual([
    ['attempted', 'GET', { code: 429, isRetry: false, sentBytes: 0 }],
    ['attempted', 'GET', { code: 200, isRetry: true, sentBytes: 0 }],
    ['received', 'GET', FOUND_BYTES],
    ['completed', 'GET', 2_000],
  ]);
});

test('an error response reports its size, and a request without a response its duration', async () => {
  const { clock, kube, reports, signal } = stand([answered(404, 'gone'), unreachable(), silent()]);
  for (let each = 0; each < 2; each += 1) await kube.get(POD_PATH, { type: POD, signal }).catch(() => {});
  const late = kube.get(POD_PATH, { type: POD, signal }).catch(() => {});
  await clock.advance(10_000);
  await late;
  const unanswered = ['attempted', 'GET', { code: undefined, isRetry: false, sentBytes: 0 }];
  expect(reports).toEqual([
    ['attempted', 'GET', { code: 404, isRetry: false, sentBytes: 0 }],
    ['received', 'GET', 4],
    ['completed', 'GET', 0],
    unanswered,
    ['completed', 'GET', 0],
    unanswered,
    ['completed', 'GET', 10_000],
  ]);
});

test('every rate-limited request reports its wait, even if it did not wait, and its duration includes the wait', async () => {
  const { clock, kube, reports, signal } = stand([answered(200, FOUND), answered(200, FOUND)], { qps: 1, burst: 1 });
  await kube.get(POD_PATH, { type: POD, signal });
  const second = kube.get(POD_PATH, { type: POD, signal });
  await clock.advance(1_000);
  await second;
  const of = (kind: string) => reports.filter(([first]) => first === kind).map(([, , ms]) => ms);
  expect([of('throttled'), of('completed')]).toEqual([
    [0, 1_000],
    [0, 1_000],
  ]);
});

test('a watch reports only its attempts, without sizes and durations', async () => {
  const { kube, reports, signal } = stand([answered(200, '{}\n'), refused(410, 'Expired')]);
  await kube.watch('/api/v1/pods?watch=true', { signal });
  await kube.watch('/api/v1/pods?watch=true', { signal }).catch(() => {});
  const sent = (code: number) => ['attempted', 'GET', { code, isRetry: false, sentBytes: undefined }];
  expect(reports).toEqual([sent(200), sent(410)]);
});
