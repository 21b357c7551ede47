/**
 * Runs the node once it knows the wanted and the running pods. Starts and terminates pods as sources change. A part of
 * the chart in chart.ts.
 */
import { assertEvent, enqueueActions } from 'xstate';
import { withEntries } from '../../../base/withEntries.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import type { NodeEvent } from '../../shared/events.ts';
import { NO_ACTOR_FAILS, NO_POD_BREAKS } from '../../shared/unreached.ts';
import { garbageOf, type NodeContext } from '../context.ts';
import { podOfOrphan, terminatingEntry, terminationOf } from '../endings.ts';
import { mirrorImplementations } from '../mirrors.ts';
import { isOfOthersAlone, markedPods, orphans } from '../own.ts';
import { type NodeActs, nodeSetup, podId } from '../setup.ts';
import { concerned, edited, isWanted, newPodInputs, rewanted, unwanted, updateEvents } from '../wanted.ts';

/** UIDs of the pods that an action considers. Undefined for all pods. */
type Scope = {
  readonly uids?: readonly string[] | undefined;
};

const withPods = ({ pods }: NodeContext, found: readonly { readonly pod: Pod }[], ending: boolean) =>
  withEntries(
    pods,
    found.map(({ pod }) => [pod.metadata.uid, { pod, ending }] as const),
  );

/** Whether a kubelet would list the pod as running: a sandbox is ready, or a container runs. */
const isRunning = ({ sandboxes, containers }: ObservedPod): boolean =>
  sandboxes.some(({ state }) => state === 'ready') || containers.some(({ state }) => state === 'running');

const actions = {
  startNewPods: enqueueActions(({ context, enqueue }: NodeActs, scope: Scope | undefined) => {
    enqueue({ type: 'spawnPods', params: { inputs: newPodInputs(context, scope?.uids), ending: false } });
  }),
  terminateOrphans: enqueueActions(({ context, enqueue }: NodeActs, scope: Scope | undefined) => {
    const inputs = orphans(context, scope?.uids);
    enqueue({ type: 'spawnPods', params: { inputs, ending: true } });
    for (const { observed } of inputs) {
      if (isRunning(observed)) enqueue.emit({ type: 'decision.counted', decision: 'orphanTerminated' });
    }
    const begun = new Set(inputs.map(({ pod }) => pod.metadata.uid));
    const left = context.left.filter(({ uid }) => {
      if (scope?.uids?.includes(uid) === false) return true;
      // This agent's files are removed once the other agent's pod is gone.
      return isOfOthersAlone(context, uid) && !begun.has(uid);
    });
    if (left.length < context.left.length) enqueue.assign({ left });
  }),
  /** Reserves resources and names for running pods that a source may still claim (C24). */
  reserveResources: nodeSetup.enqueueActions(({ context, enqueue }) => {
    for (const observed of markedPods(context)) {
      if (isWanted(context, observed.uid)) continue;
      enqueue.sendTo('admission', terminatingEntry(context, podOfOrphan(observed), observed));
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
  terminateUnwanted: enqueueActions(({ context, enqueue }: NodeActs, scope: Scope | undefined) => {
    const found = unwanted(context, scope?.uids);
    if (found.length === 0) return;
    for (const { pod } of found) {
      const termination = terminationOf(pod, 'Removed', context.heardAt);
      enqueue.sendTo(podId(pod.metadata.uid), { type: 'pod.terminate', termination });
    }
    enqueue.assign({ pods: withPods(context, found, true) });
  }),
  /**
   * Announces pods that are wanted again. A kubelet restarts such a pod after its termination with the next restart
   * count (`restartRequested` in pod_workers.go).
   */
  announceRewanted: enqueueActions(({ context, enqueue }: NodeActs, scope: Scope | undefined) => {
    for (const uid of rewanted(context, scope?.uids)) enqueue.sendTo(podId(uid), { type: 'pod.rewanted' });
  }),
  forwardUpdates: enqueueActions(({ context, enqueue }: NodeActs, scope: Scope | undefined) => {
    const found = edited(context, scope?.uids);
    if (found.length === 0) return;
    for (const { before, pod } of found) {
      for (const fact of updateEvents(before, pod, context.heardAt)) enqueue.sendTo(podId(pod.metadata.uid), fact);
    }
    enqueue.assign({ pods: withPods(context, found, false) });
  }),
  answerGarbage: nodeSetup.sendTo('garbage', ({ context }) => ({ type: 'garbage.found', found: garbageOf(context) })),
};

export const activeImplementations = { actions: { ...actions, ...mirrorImplementations.actions } };
const activeSetup = nodeSetup.extend(activeImplementations);

/** Restricts an action to the pods that the event is about, because the node may have hundreds of others. */
const its = { params: ({ event }: { event: NodeEvent }) => ({ uids: concerned(event) }) };
const terminateItsOrphan = { type: 'terminateOrphans', ...its } as const;
const startIt = { type: 'startNewPods', ...its } as const;
/**
 * Actions after a change of a source. Orphans are not included, because a source that has not listed its pods may own
 * them.
 */
const sourceChanged = [
  'recordSource',
  { type: 'terminateUnwanted', ...its },
  { type: 'announceRewanted', ...its },
  { type: 'forwardUpdates', ...its },
] as const;

/**
 * State in which a source cannot be read. Pods of the other sources run, and pods that may belong to that source are
 * not terminated.
 */
export const partial = activeSetup.createStateConfig({
  description:
    'A source cannot be read. The pods of the other sources run, and pods that it may own are not terminated.',
  tags: ['retrying', 'active'],
  meta: { waitsFor: 'a pod source that is not readable yet and may own running pods' },
  entry: ['reserveResources', 'startNewPods', 'manageMirrors', 'updateMirrors'],
  always: { guard: 'haveSourcesSpoken', target: 'running' },
  on: {
    'config.podsListed': { actions: [...sourceChanged, startIt, 'updateMirrors'] },
    'config.podChanged': { actions: [...sourceChanged, startIt, 'updateMirrors'] },
    'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved', 'reserveResources', 'releaseReservations'] },
    'node.ticked': { actions: ['recordFact', 'recordReadiness', 'startNewPods'] },
    'xstate.done.actor.*': [
      { guard: 'isGone', actions: ['forgetPod', 'forgetSeen', startIt, 'updateMirrors'] },
      {
        actions: ['saveAllocation', 'recordLeftover', 'forgetPod', 'updateMirrors'],
        meta: { unreached: NO_POD_BREAKS },
      },
    ],
  },
});

export const running = activeSetup.createStateConfig({
  description: 'All sources have listed their pods. The wanted pods run, and the others of this agent terminate.',
  tags: ['steady', 'active'],
  entry: ['terminateOrphans', 'startNewPods', 'manageMirrors', 'updateMirrors'],
  // If garbage collection fails, the node continues without it, because nothing else depends on it.
  invoke: {
    src: 'garbage',
    id: 'garbage',
    input: ({ context }) => ({ nodeName: context.nodeName }),
    onError: { meta: { unreached: NO_ACTOR_FAILS } },
  },
  on: {
    'config.podsListed': {
      actions: [...sourceChanged, terminateItsOrphan, startIt, 'updateMirrors'],
      meta: {
        unreached: { reason: 'only a program that is itself a source lists its pods again; tested on its machine' },
      },
    },
    'config.podChanged': { actions: [...sourceChanged, terminateItsOrphan, startIt, 'updateMirrors'] },
    'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved', terminateItsOrphan] },
    'garbage.asked': { actions: 'answerGarbage' },
    'garbage.podsFound': { actions: ['recordFact', 'terminateOrphans'] },
    // Restarts pods that were wanted again during termination, and pods whose actor failed.
    'node.ticked': { actions: ['recordFact', 'recordReadiness', 'terminateOrphans', 'startNewPods'] },
    'xstate.done.actor.*': [
      { guard: 'isGone', actions: ['forgetPod', 'forgetSeen', startIt, 'updateMirrors'] },
      { actions: ['saveAllocation', 'recordLeftover', 'forgetPod'], meta: { unreached: NO_POD_BREAKS } },
    ],
  },
});
