/**
 * Runs one container of a pod across all of its restarts. The pod notifies the actor when the container's turn to start
 * has come.
 */
import { assertEvent, assign } from 'xstate';
import type { ActorInfo } from '../shared/stateMeta.ts';
import { type ContainerContext, initialContext, remainingBackOffMs } from './context.ts';
import { withObservedIds } from './otherId.ts';
import { containerSetup } from './setup.ts';
import { adopting, adoptingImplementations } from './states/adopting.ts';
import { configuringImplementations } from './states/configuring.ts';
import { creatingContainerImplementations } from './states/creatingContainer.ts';
import { ended, endedImplementations } from './states/ended.ts';
import { launching, launchingImplementations } from './states/launching.ts';
import { pending, pendingImplementations } from './states/pending.ts';
import { removing } from './states/removing.ts';
import { running, runningImplementations } from './states/running.ts';
import { stopping, stoppingImplementations } from './states/stopping.ts';
import { facts, waitWithHook } from './view.ts';

/**
 * The machine's setup, including the guards and actions of all regions and those for events that every state handles.
 */
const chartSetup = containerSetup
  .extend(adoptingImplementations)
  .extend(pendingImplementations)
  .extend(configuringImplementations)
  .extend(creatingContainerImplementations)
  .extend(launchingImplementations)
  .extend(runningImplementations)
  .extend(stoppingImplementations)
  .extend(endedImplementations)
  .extend({
    guards: {
      mustRemoveContainer: ({ context }) => context.removesContainer,
      hasNewId: ({ context, event }) => {
        assertEvent(event, 'runtime.containerObserved');
        return event.container !== null && Object.keys(withObservedIds(context, event.container)).length > 0;
      },
    },
    actions: {
      recordSandbox: assign(({ event }) => {
        assertEvent(event, 'sandbox.ready');
        return { sandbox: event.sandbox, lostSandbox: undefined };
      }),
    },
  });

export const containerMachine = chartSetup.createMachine({
  id: 'container',
  description: 'One container of a pod, over all its restarts.',
  meta: {
    // A crash-loop back-off ends at most one full delay after the current state was entered, because the time of the
    // run's exit may be unknown or may lie in the future if the clock has been set back.
    deadlines: ({ since, snapshot: { context } }: ActorInfo<ContainerContext>) => ({
      restartAt: Math.min(context.retryAt || Infinity, since + remainingBackOffMs(context)),
    }),
    formatWait: waitWithHook,
    facts,
    regions: [
      { id: 'run', title: 'run and restart' },
      { id: 'adoption', title: 'adoption' },
      { id: 'stopping', title: 'stopping' },
      { id: 'reset', title: 'reset' },
    ],
  },
  context: ({ input }) => initialContext(input),
  initial: 'new',
  /**
   * Default handlers for states that do not handle these events themselves. The handlers record the event, so that the
   * next decision takes it into account.
   */
  on: {
    'container.update': { actions: 'recordUpdate' },
    'sandbox.ready': { actions: 'recordSandbox' },
    'sandbox.lost': { actions: 'recordLostSandbox' },
    'container.start': { actions: 'recordTurn' },
    'container.stop': { actions: 'stopForGood' },
    'container.reset': { actions: 'requireReset' },
    'runtime.containerObserved': { guard: 'hasNewId', actions: 'adoptNewId' },
  },
  states: {
    new: {
      description: 'The actor has just started.',
      tags: ['working', 'unknown', 'unadopted'],
      meta: { region: 'adoption' },
      always: [{ guard: 'wasNeverCreated', target: 'pending' }, { target: 'adopting' }],
    },
    adopting,
    pending,
    launching,
    running,
    stopping,
    ended,
    stopped: {
      description: 'The container has been stopped for good. It remains at the runtime for its log and its status.',
      tags: ['done', 'rests'],
      meta: { region: 'stopping' },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'stopped' } },
      always: { guard: 'mustRemoveContainer', target: 'removing' },
    },
    removing,
    removed: {
      description: 'The runtime has nothing left of the container.',
      tags: 'done',
      meta: { region: 'stopping' },
      entry: { type: 'reportLifecycle', params: { lifecycle: 'removed' } },
    },
  },
});
