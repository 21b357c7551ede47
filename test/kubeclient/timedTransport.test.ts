/** Requests to an API server, timed. */
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { type TimedRequest, timedTransport } from '../../kubeclient/timedTransport.ts';
import type { KubeTransport } from '../../kubeclient/transport.ts';

test('what is answered is told with its code, what is not without one', async () => {
  const clock = new SimulatedClock();
  const did: string[] = [];
  const real: KubeTransport = {
    send: async ({ path }) => {
      await clock.advance(40);
      if (path === '/gone') throw new Error('no connection');
      return { code: 404, headers: new Map(), body: (async function* () {})() };
    },
    reset: () => void did.push('reset'),
    close: () => void did.push('close'),
  };
  const told: TimedRequest[] = [];
  const tell = (request: TimedRequest) => void told.push(request);
  const transport = timedTransport(real, { origin: 'https://api.example.com:6443', clock, tell });
  const signal = new AbortController().signal;
  const ask = (path: string) => transport.send({ method: 'PUT', path, headers: {}, body: 'über' }, { signal });
  expect((await ask('/here')).code).toBe(404);
  await expect(ask('/gone')).rejects.toThrow('no connection');
  const common = { method: 'PUT', host: 'api.example.com:6443', ms: 40, sentBytes: 5 };
  expect(told).toEqual([{ ...common, code: 404 }, common]);
  transport.reset();
  transport.close();
  expect(did).toEqual(['reset', 'close']);
});
