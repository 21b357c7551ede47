/** An update took it out of its pod: nothing of it is left behind while that goes on. */
import { remains } from '../context.ts';
import { containerSetup } from '../setup.ts';

export const removing = containerSetup.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      tags: 'working',
      meta: { waitsFor: 'its container to be removed' },
      invoke: {
        src: 'removeContainers',
        input: ({ context }) => ({ ids: remains(context) }),
        onDone: '#container.removed',
        onError: { target: 'awaitingRetry', actions: 'recordCallFailure' },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another try to remove its container', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'asking', 'runtime.returned': 'asking' },
    },
  },
});
