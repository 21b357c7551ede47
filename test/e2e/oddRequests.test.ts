import { expect, test } from '@jest/globals';
import { playOddRequests } from '../cri/oddRequests.ts';
import { oddRequestsExpected } from '../cri/oddRequestsExpected.ts';
import { rawCalls } from '../cri/rawCalls.ts';
import { withContainerd } from './support/containerd.ts';
import { isContainerd2 } from './support/runtimes.ts';

/** The simulated runtime responds like containerd 1. */
const { sandboxes, creating, lists, lives, runtime } = oddRequestsExpected;
const expectedOfContainerd2 = {
  ...oddRequestsExpected,
  sandboxes: { ...sandboxes, nameTaken: 'FAILED_PRECONDITION', stop: 'OK OK OK UNKNOWN' },
  creating: {
    ...creating,
    inStopped: 'OK',
    inStoppedWithoutMetadata: 'UNKNOWN',
    nameTaken: 'FAILED_PRECONDITION',
    nameTakenWithoutImage: 'FAILED_PRECONDITION',
  },
  lists: { ...lists, containersOf: '1 1 0 5' },
  lives: { ...lives, stop: 'OK OK OK UNKNOWN' },
  runtime: { ...runtime, conditions: 'RuntimeReady NetworkReady ContainerdHasNoDeprecationWarnings' },
};

test('a real containerd responds to odd requests with the same codes as the simulated runtime', async () => {
  const seen = await withContainerd(async ({ containerd }) => {
    const calls = rawCalls(containerd.endpoint);
    try {
      return await playOddRequests(calls, 'statelet.local/busybox:1');
    } finally {
      calls.close();
    }
  });
  expect(seen).toEqual(isContainerd2 ? expectedOfContainerd2 : oddRequestsExpected);
}, 60_000);
