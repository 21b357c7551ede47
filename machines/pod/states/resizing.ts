/** What a pod does about other resources: it tells of them, notes how far its containers are, and fits its cgroup. A part of the chart in chart.ts. */
import { not } from 'xstate';
import { containersOf } from '../../../pod/api/containers.ts';
import type { Pod } from '../../../pod/api/schema/pod.ts';
import { type EventMessage, involvedPod, recordedEvent } from '../../../pod/events/recordedEvent.ts';
import { isPendingResize, resizeMessage, resourcesOf, withResources } from '../../../pod/resources/resize.ts';
import { mountedVolumes, type PodContext } from '../context.ts';
import { isResizing, mustFit } from '../resizing.ts';
import { containerId, type PodArgs, podSetup, takeUpdate } from '../setup.ts';

/** Why a resize is not taken on, as its author is told. */
function resizeRefusedEvent({
  unadmitted,
  desired,
}: Pick<PodContext, 'unadmitted' | 'desired'>): EventMessage | undefined {
  if (!unadmitted || !isPendingResize(unadmitted)) return undefined;
  const { reason, message, lack = reason } = unadmitted;
  const text = resizeMessage(`Pod resize ${lack}`, desired, message);
  return { eventType: 'Warning', reason: `Resize${reason}`, message: text };
}

const about = (pod: Pod, message: EventMessage) => recordedEvent(involvedPod(pod), message);

const hasSameContainers = (one: Pod, other: Pod): boolean =>
  [one, other]
    .map(({ spec }) => [...containersOf(spec)].map(({ container }) => container.name).join())
    .every((names, _, [first]) => names === first);

const guards = { mustFit: ({ context }: PodArgs) => mustFit(context) };

const actions = {
  recordResizeRefusal: podSetup.enqueueActions(({ context, enqueue }) => {
    const message = resizeRefusedEvent(context);
    if (message) enqueue.emit(about(context.allocated, message));
  }),
  recordUnadmitted: podSetup.enqueueActions(({ context, event, enqueue }) => {
    if (event.type !== 'admission.refused') return;
    const { type: _, ...unadmitted } = event;
    const isKnown = context.unadmitted?.reason === event.reason;
    const message = resizeRefusedEvent({ ...context, unadmitted });
    enqueue.assign({ unadmitted });
    if (message && !isKnown) enqueue.emit(about(context.allocated, message));
  }),
  recordSizing: podSetup.assign(({ context, event }) =>
    event.type === 'container.sized' ? { sizes: { ...context.sizes, [event.name]: event.size } } : {},
  ),
  recordFit: podSetup.assign(({ context }) => ({ fitted: context.allocated, failure: undefined })),
  noteFit: podSetup.enqueueActions(({ context, enqueue }) => {
    if (isResizing(context)) return;
    const message = resizeMessage('Pod resize completed', context.allocated);
    enqueue.emit(about(context.allocated, { reason: 'ResizeCompleted', message }));
  }),
  /** Of a resize that the node does not take on now the rest of the update counts all the same. */
  applyRest: podSetup.enqueueActions(({ context, enqueue }) => {
    const { desired, allocated } = context;
    const pod = withResources(desired, resourcesOf(allocated));
    if (!isPendingResize(context.unadmitted) || !hasSameContainers(desired, allocated)) return;
    enqueue.assign({ allocated: pod });
    for (const name of Object.keys(context.containers)) {
      enqueue.sendTo(containerId(name), { type: 'container.update', pod, volumes: mountedVolumes(context) });
    }
  }),
};

export const resizingImplementations = { guards, actions };
const resizingSetup = podSetup.extend(resizingImplementations);

/** Other resources meanwhile: what was asked for is not what it is to be fitted to any more. */
const restarted = {
  guard: not('changesNetworkMode'),
  target: 'steady',
  actions: takeUpdate,
} as const;

export const resizingPodCgroup = resizingSetup.createStateConfig({
  tags: 'working',
  meta: { waitsFor: 'its cgroup to be resized' },
  invoke: {
    src: 'fitPod',
    input: ({ context }) => ({ pod: context.allocated }),
    onDone: {
      target: 'steady',
      actions: ['recordFit', 'noteFit'],
    },
    onError: { target: 'awaitingPodCgroupRetry', actions: 'recordFailure' },
  },
  on: { 'admission.admitted': restarted },
});

export const awaitingPodCgroupRetry = resizingSetup.createStateConfig({
  tags: 'retrying',
  meta: { waitsFor: 'another attempt to resize its cgroup', until: 'retryAt' },
  invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
  on: { 'timer.elapsed': 'steady', 'admission.admitted': restarted },
});
