import { expect, test } from '@jest/globals';
import type { CallName } from '../../../../cri/simulated/faults/callNames.ts';
import { noAbort, simulate } from '../support.ts';

test('a latency can be chosen for each call', async () => {
  const drawn: CallName[] = [];
  const latency = (call: CallName) => {
    drawn.push(call);
    return drawn.length * 10;
  };
  const { clock, cri } = simulate({ latency });
  const begin = clock.now();
  await clock.advanceUntilSettled(cri.version({ version: 'v1' }, { signal: noAbort }));
  await clock.advanceUntilSettled(cri.status({ verbose: false }, { signal: noAbort }));
  expect(drawn).toEqual(['version', 'status']);
  expect(clock.now() - begin).toBe(10 + 20);
});

test('calls complete in the order of their latencies', async () => {
  const latencies = [30, 10, 20];
  const { clock, cri } = simulate({ latency: () => latencies.shift() ?? 0 });
  const answered: number[] = [];
  const ask = (index: number) =>
    cri.version({ version: 'v1' }, { signal: noAbort }).then(() => void answered.push(index));
  await clock.advanceUntilSettled(Promise.all([0, 1, 2].map(ask)));
  expect(answered).toEqual([1, 2, 0]);
});
