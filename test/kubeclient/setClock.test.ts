/** Code that measures durations uses the monotonic clock, which nobody sets. */
import { expect, test } from '@jest/globals';
import { BackOff } from '../../kubeclient/backOff.ts';
import { KubeClient } from '../../kubeclient/client.ts';
import { POD } from '../../kubeclient/paths.ts';
import { RateLimit } from '../../kubeclient/rateLimit.ts';
import { Reflector, type ReflectorState } from '../../kubeclient/reflector.ts';
import { watchOf } from '../fakes/followed.ts';
import { SettableClock } from '../fakes/settableClock.ts';
import { ToldTransport, ToldWatch } from '../fakes/toldTransport.ts';

const HOUR = 3_600_000;

test('a watch without events while the clock is set back does not count as ended immediately', async () => {
  const clock = new SettableClock();
  const [first, quiet] = [watchOf(8), new ToldWatch()];
  const transport = new ToldTransport(first.opened, quiet.opened, new ToldWatch().opened);
  const steps: ReflectorState[] = [];
  void new Reflector({
    client: new KubeClient({ transport, clock, userAgent: 'statelet/test' }),
    path: '/api/v1/pods',
    type: POD,
    clock,
    jitter: () => 0,
    signal: new AbortController().signal,
    onSet: () => {},
    onStep: (step) => steps.push(step),
  }).run();
  await clock.advance(0);
  first.end();
  await clock.advance(60_000);
  clock.set(-HOUR);
  quiet.end();
  await clock.advance(0);
  expect(transport.requests).toHaveLength(3);
  expect(steps.filter(({ state }) => state === 'failing')).toEqual([]);
});

test('the back-off starts again after two minutes, whatever the clock is set to', () => {
  const clock = new SettableClock();
  const backOff = new BackOff(clock, () => 0);
  expect([backOff.nextDelay(), backOff.nextDelay()]).toEqual([800, 1_600]);
  clock.set(HOUR);
  expect(backOff.nextDelay()).toBe(3_200);
});

test('setting the clock does not add tokens to the rate limit', () => {
  const clock = new SettableClock();
  const limit = new RateLimit({ qps: 1, burst: 1 }, clock);
  expect([limit.takeToken(), limit.takeToken()]).toEqual([0, 1_000]);
  clock.set(HOUR);
  expect(limit.takeToken()).toBe(2_000);
});
