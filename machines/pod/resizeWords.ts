/** What a pod does about other resources: it asks for them, tells of them, and notes how far its containers are. */
import { assign, enqueueActions } from 'xstate';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { involvedPod, type Note, occurrence } from '../../pod/events/occurrence.ts';
import { isPendingResize, resizeMessage, resourcesOf, sameResources } from '../../pod/resources/resize.ts';
import type { PodContext } from './context.ts';
import { isResizing, wish } from './resizing.ts';
import { admissionRequest, podWords } from './words.ts';

/** Why a resize is not taken on, as its author is told. */
function refusalNote({ unadmitted, desired }: Pick<PodContext, 'unadmitted' | 'desired'>): Note | undefined {
  if (!unadmitted || !isPendingResize(unadmitted)) return undefined;
  const { reason, message } = unadmitted;
  const text = resizeMessage(`Pod resize ${reason}`, desired, message);
  return { eventType: 'Warning', reason: `Resize${reason}`, message: text };
}

const about = (pod: Pod, note: Note) => occurrence(involvedPod(pod), note);

export const podResizeWords = podWords.extend({
  actions: {
    /** What was wanted before a restart of the agent and not admitted then, or was changed meanwhile. */
    askForRest: enqueueActions(({ context, enqueue, self }) => {
      if (sameResources(resourcesOf(context.allocated), resourcesOf(context.desired))) return;
      const wanted = wish(context, context.desired);
      enqueue.assign(wanted);
      enqueue.sendTo(context.admission, admissionRequest({ ...context, ...wanted }, self));
    }),
    noteResizeRefusal: enqueueActions(({ context, enqueue }) => {
      const note = refusalNote(context);
      if (note) enqueue.emit(about(context.allocated, note));
    }),
    recordUnadmitted: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'admission.refused') return;
      const { type: _, ...unadmitted } = event;
      const isKnown = context.unadmitted?.reason === event.reason;
      const note = refusalNote({ ...context, unadmitted });
      enqueue.assign({ unadmitted });
      if (note && !isKnown) enqueue.emit(about(context.allocated, note));
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
