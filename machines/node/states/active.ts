/**
 * Runs the node once it knows the desired and the running pods. Starts and terminates pods as sources change. Part of
 * the chart in chart.ts.
 */
import { assertEvent, enqueueActions } from 'xstate';
import { withEntries } from '../../../base/values/withEntries.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import { NO_ACTOR_FAILS, NO_POD_BREAKS } from '../../shared/coverageGaps.ts';
import type { NodeEvent } from '../../shared/events/events.ts';
import { collectableGarbage, type NodeContext } from '../context.ts';
import { orphanPod, terminatingEntry, terminationOf } from '../pods/endings.ts';
import { mirrorImplementations } from '../pods/mirrors.ts';
import { isForeignOnly, markedPods, orphans } from '../pods/own.ts';
import {
  affectedUids,
  editedPods,
  isDesired,
  newPodInputs,
  podsToTerminate,
  rewantedUids,
  updateEvents,
} from '../pods/wanted.ts';
import { type NodeActionArgs, nodeSetup, podId } from '../setup.ts';

/** UIDs of the pods that an action considers. Undefined for all pods. */
type PodScope = {
  readonly uids?: readonly string[] | undefined;
};

const withPods = ({ pods }: NodeContext, entries: readonly { readonly pod: Pod }[], isTerminating: boolean) =>
  withEntries(
    pods,
    entries.map(({ pod }) => [pod.metadata.uid, { pod, isTerminating }] as const),
  );

/** Whether the kubelet would list the pod as running, because a sandbox is ready or a container runs. */
const isRunning = ({ sandboxes, containers }: ObservedPod): boolean =>
  sandboxes.some(({ state }) => state === 'ready') || containers.some(({ state }) => state === 'running');

const actions = {
  startNewPods: enqueueActions(({ context, enqueue }: NodeActionArgs, scope: PodScope | undefined) => {
    enqueue({ type: 'spawnPods', params: { inputs: newPodInputs(context, scope?.uids), isTerminating: false } });
  }),
  terminateOrphans: enqueueActions(({ context, enqueue }: NodeActionArgs, scope: PodScope | undefined) => {
    const inputs = orphans(context, scope?.uids);
    enqueue({ type: 'spawnPods', params: { inputs, isTerminating: true } });
    for (const { observed } of inputs) {
      if (isRunning(observed)) enqueue.emit({ type: 'decision.counted', decision: 'orphanTerminated' });
    }
    const spawnedUids = new Set(inputs.map(({ pod }) => pod.metadata.uid));
    const remainingLeftovers = context.left.filter(({ uid }) => {
      if (scope?.uids?.includes(uid) === false) return true;
      // Retain the leftover pod while a pod with its UID belongs to another agent. This agent's files are removed after
      // the other agent's pod is gone.
      return isForeignOnly(context, uid) && !spawnedUids.has(uid);
    });
    if (remainingLeftovers.length < context.left.length) enqueue.assign({ left: remainingLeftovers });
  }),
  /** Reserves the resources and names of running pods that a source may list later (C24). */
  reserveResources: nodeSetup.enqueueActions(({ context, enqueue }) => {
    for (const observed of markedPods(context)) {
      if (isDesired(context, observed.uid)) continue;
      enqueue.sendTo('admission', terminatingEntry(context, orphanPod(observed), observed));
    }
  }),
  /** Releases the reservations of pods that have disappeared from the runtime. */
  releaseReservations: nodeSetup.enqueueActions(({ context, event, enqueue }) => {
    assertEvent(event, 'runtime.podsObserved');
    for (const { uid } of event.pods) {
      if (Object.hasOwn(context.observed ?? {}, uid) || Object.hasOwn(context.pods, uid)) continue;
      enqueue.sendTo('admission', { type: 'admission.release', uid });
    }
  }),
  terminateUnwantedPods: enqueueActions(({ context, enqueue }: NodeActionArgs, scope: PodScope | undefined) => {
    const unwantedPods = podsToTerminate(context, scope?.uids);
    if (unwantedPods.length === 0) return;
    for (const { pod } of unwantedPods) {
      const termination = terminationOf(pod, 'Removed', context.lastFactAt);
      enqueue.sendTo(podId(pod.metadata.uid), { type: 'pod.terminate', termination });
    }
    enqueue.assign({ pods: withPods(context, unwantedPods, true) });
  }),
  /**
   * Notifies the actors of terminating pods that a source contains again. The kubelet restarts such a pod after its
   * termination with the next restart count (`restartRequested` in pod_workers.go).
   */
  announceRewantedPods: enqueueActions(({ context, enqueue }: NodeActionArgs, scope: PodScope | undefined) => {
    for (const uid of rewantedUids(context, scope?.uids)) enqueue.sendTo(podId(uid), { type: 'pod.rewanted' });
  }),
  forwardPodUpdates: enqueueActions(({ context, enqueue }: NodeActionArgs, scope: PodScope | undefined) => {
    const edits = editedPods(context, scope?.uids);
    if (edits.length === 0) return;
    for (const { previousPod, pod } of edits) {
      for (const fact of updateEvents(previousPod, pod, context.lastFactAt))
        enqueue.sendTo(podId(pod.metadata.uid), fact);
    }
    enqueue.assign({ pods: withPods(context, edits, false) });
  }),
  /**
   * Releases the exclusive CPUs, the memory and the devices of pods that are gone, e.g. because they were removed while no agent was
   * running.
   */
  releaseUnknownResources: nodeSetup.enqueueActions(({ context, enqueue, system }) => {
    if (['cpus', 'memoryManager', 'devices'].every((id) => system.get(id) === undefined)) return;
    const { pods, observed = {}, left } = context;
    const uids = [...Object.keys(pods), ...Object.keys(observed), ...left.map(({ uid }) => uid)];
    enqueue.sendTo('admission', { type: 'admission.podsKnown', uids });
  }),
  sendGarbage: nodeSetup.sendTo('garbage', ({ context }) => ({
    type: 'garbage.listed',
    garbage: collectableGarbage(context),
  })),
};

export const activeImplementations = { actions };
const activeSetup = nodeSetup.extend(activeImplementations).extend(mirrorImplementations);

/** Restricts an action to the pods that the event is about, because the node may have hundreds of pods. */
const eventScope = { params: ({ event }: { event: NodeEvent }) => ({ uids: affectedUids(event) }) };
const terminateOrphansInScope = { type: 'terminateOrphans', ...eventScope } as const;
const startPodsInScope = { type: 'startNewPods', ...eventScope } as const;
/**
 * Actions to run after a source has changed. They do not terminate orphans, because a source that has not listed its
 * pods may own them.
 */
const sourceChangeActions = [
  'recordSource',
  { type: 'terminateUnwantedPods', ...eventScope },
  { type: 'announceRewantedPods', ...eventScope },
  { type: 'forwardPodUpdates', ...eventScope },
] as const;

/**
 * The state while a source cannot be read. Pods of the other sources run, and pods that may belong to the unreadable
 * source are not terminated.
 */
export const partial = activeSetup.createStateConfig({
  description:
    'A source cannot be read. The pods of the other sources run, and pods that it may own are not terminated.',
  tags: ['retrying', 'active'],
  meta: { waitsFor: 'a pod source that is not readable yet and may own running pods' },
  entry: ['reserveResources', 'startNewPods', 'manageMirrors', 'updateMirrors'],
  always: { guard: 'haveAllSourcesListed', target: 'running' },
  on: {
    'config.podsListed': { actions: [...sourceChangeActions, startPodsInScope, 'updateMirrors'] },
    'config.podChanged': { actions: [...sourceChangeActions, startPodsInScope, 'updateMirrors'] },
    'runtime.podsObserved': {
      actions: ['recordObservedPods', 'routeObservedPods', 'reserveResources', 'releaseReservations'],
    },
    'node.ticked': { actions: ['recordFact', 'recordReadiness', 'confirmProcessKills', 'startNewPods'] },
    'xstate.done.actor.*': [
      { guard: 'isPodRemoved', actions: ['forgetPod', 'forgetObservations', startPodsInScope, 'updateMirrors'] },
      {
        actions: ['saveAllocation', 'recordLeftover', 'forgetPod', 'updateMirrors'],
        meta: { coverageGap: NO_POD_BREAKS },
      },
    ],
  },
});

export const running = activeSetup.createStateConfig({
  description: 'All sources have listed their pods. The wanted pods run, and the others of this agent terminate.',
  tags: ['steady', 'active'],
  entry: ['terminateOrphans', 'startNewPods', 'releaseUnknownResources', 'manageMirrors', 'updateMirrors'],
  // The node continues without garbage collection if that fails, because nothing else depends on it.
  invoke: {
    src: 'garbage',
    id: 'garbage',
    input: ({ context }) => ({ nodeName: context.nodeName }),
    onError: { meta: { coverageGap: NO_ACTOR_FAILS } },
  },
  on: {
    'config.podsListed': {
      actions: [...sourceChangeActions, terminateOrphansInScope, startPodsInScope, 'updateMirrors'],
      meta: {
        coverageGap: { reason: 'only a program that is itself a source lists its pods again; tested on its machine' },
      },
    },
    'config.podChanged': {
      actions: [...sourceChangeActions, terminateOrphansInScope, startPodsInScope, 'updateMirrors'],
    },
    'runtime.podsObserved': { actions: ['recordObservedPods', 'routeObservedPods', terminateOrphansInScope] },
    'garbage.requested': { actions: 'sendGarbage' },
    'garbage.podsFound': { actions: ['recordFact', 'terminateOrphans'] },
    // Restarts pods that a source added again while they were terminating, and pods whose actor failed.
    'node.ticked': {
      actions: [
        'recordFact',
        'recordReadiness',
        'confirmProcessKills',
        'terminateOrphans',
        'startNewPods',
        'releaseUnknownResources',
      ],
    },
    'xstate.done.actor.*': [
      { guard: 'isPodRemoved', actions: ['forgetPod', 'forgetObservations', startPodsInScope, 'updateMirrors'] },
      { actions: ['saveAllocation', 'recordLeftover', 'forgetPod'], meta: { coverageGap: NO_POD_BREAKS } },
    ],
  },
});
