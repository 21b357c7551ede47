/**
 * Handles a change to a pod's resources. Records events about the resize, and resizes the containers and the pod's
 * cgroup. Part of the chart in chart.ts.
 */

import { assertEvent, not } from 'xstate';
import { lookUp } from '../../../base/values/lookUp.ts';
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
import { RARELY_TAKEN } from '../../shared/coverageGaps.ts';
import type { ContainerEvent } from '../../shared/events/events.ts';
import type { PortTypes } from '../../shared/ports.ts';
import { sharedActor } from '../../shared/views/actorRefs.ts';
import { failureOf } from '../../shared/waiting/failure.ts';
import { retryWaitState } from '../../shared/waiting/waits.ts';
import { sendCommands } from '../containers/commands.ts';
import { mountedVolumes, type PendingResize, type PodContext } from '../context.ts';
import { attemptedPod, attemptedSizes, containersToResize, isResizing, mustResize, withSizes } from '../resizing.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';

/**
 * Returns a refused resize and its event. The event is undefined if this agent or an earlier one has already sent it
 * for the same reason and generation (`SetPodResizePendingCondition` in `pkg/kubelet/status/status_manager.go`).
 */
function refusedResize({ updateRefusal, desired, pendingResize }: PodContext):
  | {
      readonly pendingResize: PendingResize;
      readonly event: EventMessage | undefined;
      /** The message of an infeasible resize that is requested for the first time. */
      readonly infeasibleMessage?: string;
    }
  | undefined {
  if (!updateRefusal || !isPendingResize(updateRefusal)) return undefined;
  const { reason, message, rejectionReason = reason } = updateRefusal;
  const { generation = 0 } = desired.metadata;
  const resources = resourcesOf(desired);
  const isSameReason = pendingResize?.reason === reason;
  // An infeasible resize is final. It is not requested again when other fields are updated, whereas a deferred resize
  // is requested again.
  const isSameRequest = pendingResize?.resources && hasSameResources(pendingResize.resources, resources);
  if (isSameReason && reason === 'Infeasible' && isSameRequest) return { pendingResize, event: undefined };
  const isReported = isSameReason && pendingResize.generation === generation;
  const eventMessage = resizeMessage(`Pod resize ${rejectionReason}`, desired, { error: message });
  const event: EventMessage = { eventType: 'Warning', reason: `Resize${reason}`, message: eventMessage };
  return {
    pendingResize: { reason, generation, resources },
    event: isReported ? undefined : event,
    ...(reason === 'Infeasible' ? { infeasibleMessage: message } : {}),
  };
}

/** Returns the generation of an admitted resize. The pod may have a newer generation by now. */
const generationOf = (resize: PodContext['resize']): { generation?: number } =>
  resize?.generation === undefined ? {} : { generation: resize.generation };

const resizeEvent = (pod: Pod, message: EventMessage) => recordedEvent(involvedPod(pod), message);

const hasSameContainers = (first: Pod, second: Pod): boolean =>
  [first, second]
    .map(({ spec }) => [...containersOf(spec)].map(({ container }) => container.name).join())
    .every((names, _, [first]) => names === first);

const resizeOutput = (event: object): PortTypes['resizePod']['output'] =>
  // Safe cast: the action that calls this function belongs to a transition of `resizePod`.
  (event as { readonly output: PortTypes['resizePod']['output'] }).output;

const guards = {
  mustResize: ({ context }: PodArgs) => mustResize(context),
  isResizeComplete: ({ context }: PodArgs) => context.resize !== undefined && !isResizing(context),
};

const actions = {
  recordResizeRefusal: podSetup.enqueueActions(({ context, enqueue }) => {
    const refusal = refusedResize(context);
    if (refusal === undefined) return;
    const { infeasibleMessage } = refusal;
    enqueue.assign({ pendingResize: refusal.pendingResize });
    if (infeasibleMessage !== undefined)
      enqueue.emit({ type: 'decision.counted', decision: 'resizeInfeasible', message: infeasibleMessage });
    if (refusal.event) enqueue.emit(resizeEvent(context.allocated, refusal.event));
  }),
  recordUpdateRefusal: podSetup.assign(({ event }) => {
    assertEvent(event, 'admission.refused');
    const { type: _, ...updateRefusal } = event;
    return { updateRefusal };
  }),
  recordContainerSize: podSetup.assign(({ context, event }) => {
    assertEvent(event, 'container.sized');
    return { sizes: withSizes(context, [[event.name, event.size]]) };
  }),
  /** Records that the containers and the cgroup may change from now on. A call that fails may have changed some of them. */
  recordResizeAttempt: podSetup.assign(({ context }) => ({
    attemptedResize: {
      appliedPod: context.attemptedResize === undefined ? context.appliedPod : undefined,
      containers: containersToResize(context),
      attemptedSizes: attemptedSizes(context),
      attemptedPod: attemptedPod(context),
    },
  })),
  /**
   * Records the applied resources. Skips containers that were replaced during the call, because the result does not
   * apply to their successors.
   */
  recordResize: podSetup.enqueueActions(({ context, event, enqueue }) => {
    const { pod, resized } = resizeOutput(event);
    const { resize, containerIds } = context;
    const currentContainers = resized.filter(({ name, id }) => lookUp(containerIds, name) === id);
    enqueue.assign({
      appliedPod: pod,
      attemptedResize: undefined,
      failure: undefined,
      sizes: withSizes(
        context,
        currentContainers.map(({ name, size }) => [name, size]),
      ),
      ...(resize && { resize: { ...resize, error: undefined } }),
    });
    sendCommands(
      enqueue,
      context,
      currentContainers.map(({ name, id, size }) => ({
        names: [name],
        event: { type: 'container.resized', id, size } as const,
      })),
    );
  }),
  /**
   * Records why the resize failed. As in the kubelet, the same error is reported only once (`SyncPod` in
   * `pkg/kubelet/kubelet.go`).
   */
  recordResizeError: podSetup.enqueueActions(({ context, event, enqueue }) => {
    const { allocated, resize, containerIds } = context;
    const { message: error } = failureOf(event);
    if (resize?.error === error) return;
    enqueue.assign({ resize: { ...resize, error } });
    // Replace the IDs of containers with their names, because messages that differ only in an ID would not be
    // aggregated.
    const namedError = Object.entries(containerIds).reduce((text, [name, id]) => text.replaceAll(id, name), error);
    const message = resizeMessage('Pod resize error', allocated, { error: namedError, ...generationOf(resize) });
    enqueue.emit(resizeEvent(allocated, { eventType: 'Warning', reason: 'ResizeError', message }));
  }),
  recordResizeCompletion: podSetup.enqueueActions(({ context, enqueue }) => {
    enqueue.assign({ resize: undefined });
    const message = resizeMessage('Pod resize completed', context.allocated, generationOf(context.resize));
    enqueue.emit(resizeEvent(context.allocated, { reason: 'ResizeCompleted', message }));
    enqueue.sendTo(sharedActor('admission'), {
      type: 'admission.resizeCompleted',
      uid: context.allocated.metadata.uid,
    });
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

/** If the admitted resources change during the call, another call applies them afterwards. */
export const resizing = resizingSetup.createStateConfig({
  description:
    'The runtime changes the resources of the running containers, and the limits of the cgroup are changed around them.',
  tags: 'working',
  meta: { waitsFor: 'its new resources to be applied' },
  entry: 'recordResizeAttempt',
  invoke: {
    src: 'resizePod',
    input: ({ context: { allocated, attemptedResize, sandbox } }) => ({
      pod: allocated,
      appliedPod: attemptedResize?.appliedPod,
      sandboxId: sandbox?.id,
      containers: attemptedResize?.containers ?? [],
    }),
    onDone: { target: 'steady', actions: 'recordResize' },
    onError: { target: 'awaitingResize', actions: ['recordFailure', 'recordResizeError'] },
  },
});

/** A resize is also complete if an update requests the resources that the pod already has. */
export const resizeTransitions = [
  { guard: 'mustResize', target: 'resizing' },
  { guard: 'isResizeComplete', actions: 'recordResizeCompletion' },
] as const;

export const awaitingResize = resizingSetup.createStateConfig({
  ...retryWaitState({
    description:
      'The resources could not be changed. The containers run with the old ones, and another attempt follows after a delay.',
    waitsFor: 'another attempt to apply its new resources',
  }),
  on: {
    'timer.elapsed': 'steady',
    'admission.admitted': {
      guard: not('changesNetworkMode'),
      target: 'steady',
      actions: admittedUpdateActions,
      meta: { coverageGap: RARELY_TAKEN },
    },
    'runtime.returned': { guard: 'wasRuntimeUnavailable', target: 'steady', actions: 'forwardRuntimeReturn' },
  },
});
