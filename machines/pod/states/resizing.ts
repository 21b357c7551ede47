/**
 * Handles a change of a pod's resources. Records its events, and resizes the containers and the pod's cgroup. Part of
 * the chart in chart.ts.
 */
import { assertEvent, not } from 'xstate';
import { containersOf } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type EventMessage, involvedPod, recordedEvent } from '../../../kubernetes/events/recordedEvent.ts';
import {
  hasSameResources,
  isPendingResize,
  resizeMessage,
  resourcesOf,
  withResources,
} from '../../../kubernetes/resources/resize.ts';
import type { ContainerEvent } from '../../shared/events/events.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryWaitState } from '../../shared/waiting/waits.ts';
import { sendCommands } from '../containers/commands.ts';
import { mountedVolumes, type PendingResize, type PodContext } from '../context.ts';
import { isResizing, mustResizeCgroup } from '../resizing.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';

/**
 * Returns a refused resize and the event about it. The event is undefined if this agent or an earlier one has already
 * sent it for the same reason and generation (`SetPodResizePendingCondition` in
 * `pkg/kubelet/status/status_manager.go`).
 */
function refusedResize({
  updateRefusal,
  desired,
  pendingResize,
}: PodContext): { readonly pendingResize: PendingResize; readonly event: EventMessage | undefined } | undefined {
  if (!updateRefusal || !isPendingResize(updateRefusal)) return undefined;
  const { reason, message, shortageReason = reason } = updateRefusal;
  const { generation = 0 } = desired.metadata;
  const resources = resourcesOf(desired);
  const isSameReason = pendingResize?.reason === reason;
  // An infeasible resize is final. It is not requested again when other fields are updated, whereas a deferred one is.
  const isSameRequest = pendingResize?.resources && hasSameResources(pendingResize.resources, resources);
  if (isSameReason && reason === 'Infeasible' && isSameRequest) return { pendingResize, event: undefined };
  const isReported = isSameReason && pendingResize.generation === generation;
  const eventMessage = resizeMessage(`Pod resize ${shortageReason}`, desired, { error: message });
  const event: EventMessage = { eventType: 'Warning', reason: `Resize${reason}`, message: eventMessage };
  return { pendingResize: { reason, generation, resources }, event: isReported ? undefined : event };
}

/** Returns the generation of an admitted resize. The pod may have a newer generation by now. */
const generationOf = (resize: PodContext['resize']): { generation?: number } =>
  resize?.generation === undefined ? {} : { generation: resize.generation };

const resizeEvent = (pod: Pod, message: EventMessage) => recordedEvent(involvedPod(pod), message);

const hasSameContainers = (first: Pod, second: Pod): boolean =>
  [first, second]
    .map(({ spec }) => [...containersOf(spec)].map(({ container }) => container.name).join())
    .every((names, _, [first]) => names === first);

const guards = { mustResizeCgroup: ({ context }: PodArgs) => mustResizeCgroup(context) };

const actions = {
  recordResizeRefusal: podSetup.enqueueActions(({ context, enqueue }) => {
    const refusal = refusedResize(context);
    if (refusal === undefined) return;
    enqueue.assign({ pendingResize: refusal.pendingResize });
    if (refusal.event) enqueue.emit(resizeEvent(context.allocated, refusal.event));
  }),
  recordUpdateRefusal: podSetup.assign(({ event }) => {
    assertEvent(event, 'admission.refused');
    const { type: _, ...updateRefusal } = event;
    return { updateRefusal };
  }),
  recordContainerSize: podSetup.assign(({ context, event }) => {
    assertEvent(event, 'container.sized');
    return { sizes: { ...context.sizes, [event.name]: event.size } };
  }),
  recordCgroupSize: podSetup.assign(({ context: { allocated, resize } }) => ({
    appliedPod: allocated,
    failure: undefined,
    ...(resize && { resize: { ...resize, error: undefined } }),
  })),
  /**
   * Records why resizing the cgroup failed. As in a kubelet, the same error is reported only once (`SyncPod` in
   * `pkg/kubelet/kubelet.go`).
   */
  recordCgroupResizeError: podSetup.enqueueActions(({ context: { allocated, resize }, event, enqueue }) => {
    const { message: error } = failureOf(event);
    if (resize?.error === error) return;
    enqueue.assign({ resize: { ...resize, error } });
    const message = resizeMessage('Pod resize error', allocated, { error, ...generationOf(resize) });
    enqueue.emit(resizeEvent(allocated, { eventType: 'Warning', reason: 'ResizeError', message }));
  }),
  recordResizeCompletion: podSetup.enqueueActions(({ context, enqueue }) => {
    if (isResizing(context)) return;
    const message = resizeMessage('Pod resize completed', context.allocated, generationOf(context.resize));
    enqueue.emit(resizeEvent(context.allocated, { reason: 'ResizeCompleted', message }));
  }),
  /** Applies the rest of an update whose resize was refused or deferred. */
  applyUpdateWithoutResize: podSetup.enqueueActions(({ context, enqueue }) => {
    const { desired, allocated } = context;
    const pod = withResources(desired, resourcesOf(allocated));
    if (!isPendingResize(context.updateRefusal) || !hasSameContainers(desired, allocated)) return;
    enqueue.assign({ allocated: pod });
    const update: ContainerEvent = { type: 'container.update', pod, volumes: mountedVolumes(context) };
    sendCommands(enqueue, context, [{ names: Object.keys(context.containers), event: update }]);
  }),
};

export const resizingImplementations = { guards, actions };
const resizingSetup = podSetup.extend(resizingImplementations);

/** Transition if the resources have changed again, in which case the resize in progress is outdated. */
const restartTransition = {
  guard: not('changesNetworkMode'),
  target: 'steady',
  actions: admittedUpdateActions,
} as const;

export const resizingPodCgroup = resizingSetup.createStateConfig({
  description: 'The limits of the cgroup are changed, once the containers have their new resources.',
  tags: 'working',
  meta: { waitsFor: 'its cgroup to be resized' },
  invoke: {
    src: 'resizePodCgroup',
    input: ({ context }) => ({ pod: context.allocated }),
    onDone: {
      target: 'steady',
      actions: ['recordCgroupSize', 'recordResizeCompletion'],
    },
    onError: { target: 'awaitingPodCgroupRetry', actions: ['recordFailure', 'recordCgroupResizeError'] },
  },
  on: { 'admission.admitted': restartTransition },
});

export const awaitingPodCgroupRetry = resizingSetup.createStateConfig({
  ...retryWaitState({
    description: 'The limits of the cgroup could not be changed. Another attempt follows after a delay.',
    waitsFor: 'another attempt to resize its cgroup',
  }),
  on: { 'timer.elapsed': 'steady', 'admission.admitted': restartTransition },
});
