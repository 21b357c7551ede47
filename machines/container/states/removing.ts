/** Removes a container from the runtime after an update removed it from its pod, which continues to run. */

import { retryStateOnReturn } from '../../shared/waiting/waits.ts';
import type { ContainerContext } from '../context.ts';
import { containerSetup } from '../setup.ts';

/** Returns the IDs of the containers known to this actor. The node's garbage collection removes older ones. */
const containerIds = ({ id, run, earlierRun }: ContainerContext): string[] => {
  const knownIds = [id, run?.containerId, earlierRun?.containerId];
  return [...new Set(knownIds.flatMap((each) => (each ? [each] : [])))];
};

export const removing = containerSetup.createStateConfig({
  description:
    'An update has removed the container from its pod, which continues to run. It is removed from the runtime.',
  meta: { region: 'stopping' },
  initial: 'requestingRemoval',
  states: {
    requestingRemoval: {
      description: 'The runtime removes the container.',
      tags: 'working',
      meta: { waitsFor: 'the runtime to remove it' },
      invoke: {
        src: 'removeContainers',
        input: ({ context }) => ({ ids: containerIds(context) }),
        onDone: '#container.removed',
        onError: { target: 'awaitingRetry', actions: 'recordCallFailure' },
      },
    },
    awaitingRetry: retryStateOnReturn('requestingRemoval', {
      description: 'The runtime could not remove the container. Another attempt follows after a delay.',
      waitsFor: 'another attempt to remove it',
    }),
  },
});
