import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { setUpHost } from '../../../node/host/hostSetup.ts';

test('a limit of open files that the kernel refuses is logged, and the start continues', async () => {
  const messages: string[] = [];
  const record = (message: string) => void messages.push(message);
  const setup = { kernelParameters: 'unchanged', createsUtilChains: false, maxOpenFiles: 2 ** 40 } as const;
  const stop = await setUpHost(setup, { logger: { info: record, warn: record }, clock: new SimulatedClock() });
  stop();
  expect(messages).toEqual([expect.stringContaining('because it cannot be set to 1099511627776')]);
});
