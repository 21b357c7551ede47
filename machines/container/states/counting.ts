/** How often a container that the runtime knows nothing of has run before (C23). A part of the chart in chart.ts. */
import { assign } from 'xstate';
import { containerSetup } from '../setup.ts';

export const counting = containerSetup.createStateConfig({
  meta: { waitsFor: 'its restarts to be counted' },
  invoke: {
    src: 'countRestarts',
    input: ({ context }) => ({ pod: context.pod, container: context.name }),
    onDone: {
      target: 'readyToCreate',
      // What was made and never started keeps its number.
      actions: assign(({ context, event }) => ({ attempt: Math.max(context.attempt, event.output.restarts) })),
    },
    // As on a kubelet: logs that cannot be read keep no container from running.
    onError: 'readyToCreate',
  },
  on: {
    'container.stop': { target: 'stopped', actions: 'stopForGood' },
    'container.reset': 'reset',
    'container.update': [{ guard: 'changesIdentity', target: 'pulling', actions: 'update' }, { actions: 'update' }],
  },
});
