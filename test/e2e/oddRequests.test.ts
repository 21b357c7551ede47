import { expect, test } from '@jest/globals';
import { playOddRequests } from '../cri/oddRequests.ts';
import { oddRequestsExpected } from '../cri/oddRequestsExpected.ts';
import { rawCalls } from '../cri/rawCalls.ts';
import { withContainerd } from './support/containerd.ts';

test('a real containerd responds to odd requests with the same codes as the simulated runtime', async () => {
  const seen = await withContainerd(async ({ containerd }) => {
    const calls = rawCalls(containerd.endpoint);
    try {
      return await playOddRequests(calls, 'statelet.local/busybox:1');
    } finally {
      calls.close();
    }
  });
  expect(seen).toEqual(oddRequestsExpected);
}, 60_000);
