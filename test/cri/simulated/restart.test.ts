import { expect, test } from '@jest/globals';
import { playRestartStory, restartStoryExpected } from '../restartStory.ts';
import { IMAGE, noAbort, simulate } from './support.ts';

test('containers that the runtime cannot recover after a restart are unknown, as in a real containerd', async () => {
  const { clock, runtime } = simulate();
  const named = new Set(['with-log', 'removed', 'passer-by']);
  const story = playRestartStory({
    image: IMAGE,
    logDirectory: '/var/log/pods',
    call: (name, request) => runtime.call(name, request, noAbort),
    restart: async () => runtime.restart({ unknown: ({ containerName }) => named.has(containerName) }),
    wait: (ms) => new Promise((resolve) => void clock.setTimeout(resolve, ms)),
  });
  expect(await clock.advanceUntilSettled(story)).toEqual(restartStoryExpected);
});
