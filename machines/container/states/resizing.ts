/** A running container gets other resources without an end of its process. A part of the chart in chart.ts. */
import { assign } from 'xstate';
import { resizeMessage, sameSize } from '../../../pod/resources/resize.ts';
import { failureOf } from '../../shared/failure.ts';
import { sizeOf } from '../context.ts';
import { type ContainerArgs, containerSetup } from '../setup.ts';

const guards = {
  changesSize: ({ context, event }: ContainerArgs) =>
    event.type === 'container.update' && !sameSize(sizeOf({ ...context, pod: event.pod }), sizeOf(context)),
};

export const resizingImplementations = { guards };

export const resizing = containerSetup.createStateConfig({
  tags: 'working',
  meta: { waitsFor: 'its new resources to be applied' },
  invoke: {
    src: 'resizeContainer',
    input: ({ context }) => ({ pod: context.pod, container: context.name, id: context.id ?? '' }),
    onDone: {
      target: 'goingOn',
      actions: [assign(({ event }) => ({ size: event.output.size, failure: undefined })), 'reportSize'],
    },
    onError: {
      target: 'awaitingResize',
      actions: [
        'recordCallFailure',
        {
          type: 'recordEvent',
          params: ({ context, event }) => ({
            eventType: 'Warning' as const,
            reason: 'ResizeError',
            message: resizeMessage('Pod resize error', context.pod, failureOf(event).message),
          }),
        },
      ],
    },
  },
});

export const awaitingResize = containerSetup.extend(resizingImplementations).createStateConfig({
  tags: ['retrying', 'awaitingResize'],
  meta: { waitsFor: 'another attempt to apply its new resources', until: 'retryAt' },
  invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
  on: {
    'timer.elapsed': 'resizing',
    'runtime.returned': { guard: 'failedForRuntime', target: 'resizing' },
    'container.update': [{ guard: 'changesSize', target: 'goingOn', actions: 'update' }, { actions: 'update' }],
  },
});
