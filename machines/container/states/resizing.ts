/** Resizes a running container without a restart. Part of the chart in chart.ts. */
import { assertEvent, assign } from 'xstate';
import type { EventMessages } from '../../../kubernetes/events/recordedEvent.ts';
import { hasSameSize, resizeMessage } from '../../../kubernetes/resources/resize.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryWaitState } from '../../shared/waiting/waits.ts';
import { type ContainerContext, resizeErrorOf, sizeOf } from '../context.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';

/**
 * Returns the event about a failed resize. There is no event if the last attempt at the same size failed with the same
 * message, even under an earlier agent (`SyncPod` in `pkg/kubelet/kubelet.go`).
 */
function resizeErrorEvents(context: ContainerContext, error: string): EventMessages {
  if (resizeErrorOf(context) === error) return [];
  // Replace the container's ID with its name, because messages that differ in the ID would not be aggregated.
  const errorMessage = context.id ? error.replaceAll(context.id, context.name) : error;
  const message = resizeMessage('Pod resize error', context.pod, { error: errorMessage });
  return [{ eventType: 'Warning', reason: 'ResizeError', message }];
}

const guards = {
  changesSize: ({ context, event }: ContainerArgs) => {
    assertEvent(event, 'container.update');
    return !hasSameSize(sizeOf({ ...context, pod: event.pod }), sizeOf(context));
  },
};

export const resizingImplementations = { guards };

export const resizing = containerSetup.createStateConfig({
  description: 'The runtime changes the resources of the running container.',
  tags: 'working',
  meta: { waitsFor: 'its new resources to be applied' },
  invoke: {
    src: 'resizeContainer',
    input: ({ context }) => ({ pod: context.pod, container: context.name, id: context.id ?? '' }),
    onDone: {
      target: 'resuming',
      actions: [assign(({ event }) => ({ size: event.output.size, failure: undefined })), 'reportSize'],
    },
    onError: {
      target: 'awaitingResize',
      actions: [
        'recordCallFailure',
        {
          type: 'recordPodEvent',
          params: ({ context, event }) => resizeErrorEvents(context, failureOf(event).message),
        },
        assign(({ context, event }) => ({
          resizeError: { size: sizeOf(context), message: failureOf(event).message },
        })),
      ],
    },
  },
});

export const awaitingResize = containerSetup.extend(resizingImplementations).createStateConfig({
  ...retryWaitState({
    description:
      'The resources could not be changed. The container runs with the old ones, and another attempt follows after a delay.',
    waitsFor: 'another attempt to apply its new resources',
  }),
  on: {
    'timer.elapsed': 'resizing',
    'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'resizing' },
    'container.update': [
      { guard: 'changesSize', target: 'resuming', actions: 'recordUpdate' },
      { actions: 'recordUpdate' },
    ],
  },
});
