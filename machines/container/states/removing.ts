/** An update took it out of its pod: nothing of it is left behind while that goes on. */
import type { ContainerContext } from '../context.ts';
import { containerSetup } from '../setup.ts';

/** The containers that it knows of itself; older dead ones the node collects. */
const remains = ({ id, run, earlierRun }: ContainerContext): string[] => {
  const known = [id, run?.containerId, earlierRun?.containerId];
  return [...new Set(known.flatMap((each) => (each ? [each] : [])))];
};

export const removing = containerSetup.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      tags: 'working',
      meta: { waitsFor: 'the runtime to remove it' },
      invoke: {
        src: 'removeContainers',
        input: ({ context }) => ({ ids: remains(context) }),
        onDone: '#container.removed',
        onError: { target: 'awaitingRetry', actions: 'recordCallFailure' },
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to remove it', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'asking', 'runtime.returned': 'asking' },
    },
  },
});
