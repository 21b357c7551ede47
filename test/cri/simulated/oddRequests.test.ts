import { expect, test } from '@jest/globals';
import { playOddRequests } from '../oddRequests.ts';
import { oddRequestsExpected } from '../oddRequestsExpected.ts';
import { IMAGE, noAbort, simulate } from './support.ts';

test('odd requests get the status codes of a real containerd', async () => {
  const { clock, runtime } = simulate({ absentStopsFail: true, handlers: ['runc'] });
  const seen = playOddRequests({ call: (name, request) => runtime.call(name, request, noAbort) }, IMAGE);
  expect(await clock.advanceUntilSettled(seen)).toEqual(oddRequestsExpected);
});
