/**
 * Reads the ConfigMaps and Secrets of a container's environment before the container takes a start slot, because other
 * containers wait for the slot (C37). Part of the chart in chart.ts.
 */

import { stateIn } from 'xstate';
import { NO_LARGE_VARIABLES, RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import type { ContainerEvent } from '../../shared/events/events.ts';
import { retryAtAfterChange } from '../../shared/waiting/failure.ts';
import type { ContainerContext } from '../context.ts';
import { recordLaunchFailedEvent } from '../recordedEvents.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';

const guards = {
  areObjectsOutdated: stateIn<ContainerContext, ContainerEvent, undefined>({ launching: { configuring: 'outdated' } }),
  /** Whether to retry early, because the missing ConfigMap or Secret may exist by now. */
  canRetryEarlier: ({ context }: ContainerArgs) =>
    context.failure?.reason === 'CreateContainerConfigError' && retryAtAfterChange(context) < context.retryAt,
};

const actions = {
  shortenWait: containerSetup.assign(({ context }) => ({ retryAt: retryAtAfterChange(context) })),
};

const meta = { waitsFor: 'the ConfigMaps and Secrets of its environment' };

export const configuringImplementations = { guards, actions };

export const configuring = containerSetup.extend(configuringImplementations).createStateConfig({
  description:
    'The ConfigMaps and Secrets of its environment are read before it takes a start slot, for which other containers wait.',
  tags: 'working',
  entry: [{ type: 'reportLifecycle', params: { lifecycle: 'launching' } }, 'recordAttemptedPod'],
  initial: 'current',
  states: {
    current: {
      description: 'These objects have not changed since they were requested.',
      meta,
      on: { 'container.objectsChanged': { target: 'outdated', meta: { coverageGap: RARELY_TAKEN } } },
    },
    outdated: {
      description:
        'These objects have changed since they were requested, so that one that was missing may exist by now.',
      meta,
    },
  },
  invoke: {
    src: 'readObjects',
    input: ({ context }) => ({ pod: context.pod, container: context.name }),
    onDone: 'creatingContainer',
    onError: [
      {
        guard: 'areObjectsOutdated',
        target: 'awaitingRetry',
        meta: { coverageGap: RARELY_TAKEN },
        actions: ['recordCreateFailure', 'shortenWait', recordLaunchFailedEvent],
      },
      {
        guard: 'needsChange',
        target: 'awaitingChange',
        meta: { coverageGap: NO_LARGE_VARIABLES },
        actions: ['recordCreateFailure', recordLaunchFailedEvent],
      },
      {
        target: 'awaitingRetry',
        actions: ['recordCreateFailure', recordLaunchFailedEvent],
      },
    ],
  },
});

/** A change to referenced objects shortens the wait for another attempt. */
export const onObjectsChanged = {
  guard: 'canRetryEarlier',
  target: 'awaitingRetry',
  reenter: true,
  actions: 'shortenWait',
} as const;
