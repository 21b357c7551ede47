/** One container of a pod over all its restarts. Its role is input; its pod decides when its turn has come. */
import type { Seen } from '../shared/stateMeta.ts';
import { type ContainerContext, initialContext } from './context.ts';
import { containerSetup } from './setup.ts';
import { adopting } from './states/adopting.ts';
import { ended } from './states/ended.ts';
import { launching } from './states/launching.ts';
import { pending } from './states/pending.ts';
import { removing } from './states/removing.ts';
import { running } from './states/running.ts';
import { stopping } from './states/stopping.ts';

export const containerMachine = containerSetup.createMachine({
  id: 'container',
  description: 'One container of a pod over all its restarts.',
  meta: {
    // A back-off after an end that nobody saw lasts its delay from its own beginning.
    moments: ({ since, snapshot: { context } }: Seen<ContainerContext>) => ({
      retryAt: context.retryAt || since + (context.crashDelayMs ?? 0),
    }),
    facts: ({ snapshot: { context } }: Seen<ContainerContext>) => ({ kind: context.role }),
  },
  context: ({ input }) => initialContext(input),
  initial: 'new',
  /** Where nothing else is said it is kept in mind, for the next decision. */
  on: {
    'container.update': { actions: 'update' },
    'sandbox.ready': { actions: 'takeSandbox' },
    'sandbox.lost': { actions: 'loseSandbox' },
    'container.start': { actions: 'takeTurn' },
    'container.stop': { actions: 'stopForGood' },
    'container.reset': { actions: 'askForReset' },
  },
  states: {
    new: {
      tags: ['working', 'unknown', 'unadopted'],
      always: [{ guard: 'neverMade', target: 'pending' }, { target: 'adopting' }],
    },
    adopting,
    pending,
    launching,
    running,
    stopping,
    ended,
    stopped: {
      tags: ['done', 'rests'],
      entry: { type: 'report', params: { lifecycle: 'stopped' } },
      always: { guard: 'leavesNothing', target: 'removing' },
    },
    removing,
    removed: { tags: 'done', entry: { type: 'report', params: { lifecycle: 'removed' } } },
  },
});
