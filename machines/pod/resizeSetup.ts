/** What a pod does about other resources: it asks for them, tells of them, and notes how far its containers are. */
import { assign, enqueueActions } from 'xstate';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { type EventMessage, involvedPod, recordedEvent } from '../../pod/events/recordedEvent.ts';
import { isPendingResize, resizeMessage, resourcesOf, sameResources } from '../../pod/resources/resize.ts';
import { pathOf, served } from '../shared/actorRefs.ts';
import { admissionRequest, podBaseSetup } from './baseSetup.ts';
import type { PodContext } from './context.ts';
import { isResizing, wish } from './resizing.ts';

/** Why a resize is not taken on, as its author is told. */
function resizeRefusedEvent({
  unadmitted,
  desired,
}: Pick<PodContext, 'unadmitted' | 'desired'>): EventMessage | undefined {
  if (!unadmitted || !isPendingResize(unadmitted)) return undefined;
  const { reason, message } = unadmitted;
  const text = resizeMessage(`Pod resize ${reason}`, desired, message);
  return { eventType: 'Warning', reason: `Resize${reason}`, message: text };
}

const about = (pod: Pod, message: EventMessage) => recordedEvent(involvedPod(pod), message);

export const podResizeSetup = podBaseSetup.extend({
  actions: {
    /** What was wanted before a restart of the agent and not admitted then, or was changed meanwhile. */
    askForRest: enqueueActions(({ context, enqueue, self }) => {
      if (sameResources(resourcesOf(context.allocated), resourcesOf(context.desired))) return;
      const wanted = wish(context, context.desired);
      enqueue.assign(wanted);
      enqueue.sendTo(served('admission'), admissionRequest({ ...context, ...wanted }, pathOf(self)));
    }),
    recordResizeRefusal: enqueueActions(({ context, enqueue }) => {
      const message = resizeRefusedEvent(context);
      if (message) enqueue.emit(about(context.allocated, message));
    }),
    recordUnadmitted: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'admission.refused') return;
      const { type: _, ...unadmitted } = event;
      const isKnown = context.unadmitted?.reason === event.reason;
      const message = resizeRefusedEvent({ ...context, unadmitted });
      enqueue.assign({ unadmitted });
      if (message && !isKnown) enqueue.emit(about(context.allocated, message));
    }),
    recordSizing: assign(({ context, event }) =>
      event.type === 'container.sized' ? { sizes: { ...context.sizes, [event.name]: event.size } } : {},
    ),
    recordFit: assign((_, fitted: Pod) => ({ fitted, failure: undefined })),
    noteFit: enqueueActions(({ context, enqueue }) => {
      if (isResizing(context)) return;
      const message = resizeMessage('Pod resize completed', context.allocated);
      enqueue.emit(about(context.allocated, { reason: 'ResizeCompleted', message }));
    }),
  },
});
