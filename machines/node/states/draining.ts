/** Stops the node. All pods terminate within their own grace periods. Part of the chart in chart.ts. */
import { lookUp } from '../../../base/values/lookUp.ts';
import { NO_ACTOR_FAILS, NO_POD_BREAKS } from '../../shared/coverageGaps.ts';
import { eventPodUid } from '../context.ts';
import { terminationOf } from '../pods/endings.ts';
import { strandedPods } from '../pods/own.ts';
import { type NodeArgs, nodeSetup, podId } from '../setup.ts';

const guards = {
  hasNoPods: ({ context }: NodeArgs) => Object.keys(context.pods).length + context.brokenPods.length === 0,
};

const actions = {
  /** Terminates this agent's pods that have no actor, within their own grace periods. */
  terminateStrandedPods: nodeSetup.enqueueActions(({ context, enqueue }) => {
    enqueue({ type: 'spawnPods', params: { inputs: strandedPods(context), isTerminating: true } });
    enqueue.assign({ brokenPods: [] });
  }),
  /**
   * Records a pod whose actor failed while the node drains. The pod is terminated again within the rest of its grace
   * period.
   */
  recordBrokenPod: nodeSetup.assign(({ context, event }) => {
    const podEntry = lookUp(context.pods, eventPodUid(event) ?? '');
    return podEntry ? { brokenPods: [...context.brokenPods, podEntry.pod] } : {};
  }),
  recordDrainedPod: nodeSetup.assign(({ context, event }) => {
    const uid = eventPodUid(event);
    // Count each pod only once, because an outdated list of the runtime's pods may include a pod that has already been
    // counted.
    return uid === undefined || context.drainedUids.includes(uid) ? {} : { drainedUids: [...context.drainedUids, uid] };
  }),
  terminateAllPods: nodeSetup.enqueueActions(({ context, event, enqueue }) => {
    const at = 'at' in event ? event.at : 0;
    for (const [uid, { pod }] of Object.entries(context.pods)) {
      enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination: terminationOf(pod, 'NodeShutdown', at) });
    }
  }),
};

export const drainingImplementations = { guards, actions };

export const draining = nodeSetup.extend(drainingImplementations).createStateConfig({
  description: 'The node stops together with its pods, which terminate within their own grace periods.',
  tags: ['working', 'ending', 'draining'],
  meta: { waitsFor: 'its pods to terminate', until: 'deadline' },
  entry: ['terminateAllPods', 'terminateStrandedPods'],
  always: { guard: 'hasNoPods', target: 'stopped' },
  on: {
    'node.drain': { actions: 'terminateAllPods' },
    'runtime.podsObserved': { actions: ['recordObservedPods', 'routeObservedPods', 'terminateStrandedPods'] },
    'node.ticked': { actions: ['recordFact', 'terminateStrandedPods'] },
    'xstate.done.actor.*': [
      { guard: 'isPodRemoved', actions: ['forgetPod', 'forgetObservations', 'recordDrainedPod'] },
      { actions: ['saveAllocation', 'recordBrokenPod', 'forgetPod'], meta: { coverageGap: NO_POD_BREAKS } },
    ],
    'xstate.error.actor.*': [
      {
        guard: 'isFromPod',
        actions: ['saveAllocation', 'recordBrokenPod', 'forgetPod', 'releaseAllSlots'],
        meta: { coverageGap: NO_ACTOR_FAILS },
      },
      { target: 'broken', actions: 'recordFatalFailure', meta: { coverageGap: NO_ACTOR_FAILS } },
    ],
  },
});
