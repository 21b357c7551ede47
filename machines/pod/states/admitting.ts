/**
 * Handles a pod before its admission. The pod may have to wait for another agent to release it, or for resources.
 * Part of the chart in chart.ts.
 */
import { assertEvent, assign, not } from 'xstate';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import { RARELY_TAKEN, SERVICE_NEVER_FAILS } from '../../shared/coverageGaps.ts';
import { actorPath, sharedActor } from '../../shared/views/actorRefs.ts';
import { FINAL_COUNT_LIMIT_MS } from '../../shared/waiting/finalCountLimit.ts';
import { containersWithLostRuns, mergedRestarts, type PodContext } from '../context.ts';
import { podFailureEvents, recordDeadlineEvent, recordTerminationEvent, refusalEvents } from '../recordedEvents.ts';
import { requestedVersion } from '../resizing.ts';
import { isRunByOtherAgent, otherAgentFailure } from '../sandbox.ts';
import { admissionRequest, type PodArgs, podSetup } from '../setup.ts';
import { resizingImplementations } from './resizing.ts';

const guards = {
  isRunByOtherAgent: ({ context }: PodArgs) => isRunByOtherAgent(context),
  hasLostRuns: ({ context }: PodArgs) => context.hasLogs === true && lostRunNames(context).length > 0,
};

/** Returns the containers whose logs may show a later run than the runtime does. */
const lostRunNames = ({ allocated, observed }: PodContext): string[] => containersWithLostRuns(allocated, observed);

const actions = {
  /**
   * Replaces the desired pod. Admission is requested for the new version as it is, because a pod has nothing to resize
   * before its admission.
   */
  replaceDesiredPod: podSetup.assign(({ event }) => {
    assertEvent(event, 'pod.update');
    return { desired: event.pod, requestedPod: event.pod };
  }),
  /**
   * Records a later version of the pod. Its admission is requested once the version in the pending request has been
   * admitted. Only the metadata takes effect immediately, because it needs no admission.
   */
  recordLaterVersion: podSetup.assign(({ context, event }) => {
    assertEvent(event, 'pod.update');
    return { desired: event.pod, requestedPod: { ...context.requestedPod, metadata: event.pod.metadata } };
  }),
  recordAdmissionRefusal: podSetup.assign(({ event }) => {
    assertEvent(event, 'admission.refused');
    const { type: _, ...refusal } = event;
    return { refusal };
  }),
  recordOtherAgent: podSetup.assign(({ context }) => ({ failure: otherAgentFailure(context) })),
  clearFailure: podSetup.assign({ failure: undefined }),
  /**
   * Requests admission of the latest version of the pod if a different version was admitted, e.g. because the agent
   * restarted before the latest resources were admitted.
   */
  requestLatestVersion: podSetup.enqueueActions(({ context, enqueue, self }) => {
    const { allocated, desired } = context;
    if (isJsonEqual(allocated.spec, desired.spec)) return;
    const podVersions = requestedVersion(context, desired);
    enqueue.assign(podVersions);
    enqueue.sendTo(sharedActor('admission'), admissionRequest({ ...context, ...podVersions }, actorPath(self)));
  }),
};

export const admittingImplementations = { guards, actions };
const admittingSetup = podSetup.extend(resizingImplementations).extend(admittingImplementations);

/**
 * The state while another agent runs the pod. This agent creates none of the pod's objects until the other agent has
 * removed its sandbox.
 */
export const awaitingOtherAgent = admittingSetup.createStateConfig({
  description: 'Another agent runs the pod. Nothing of it is created here until that agent has removed its sandbox.',
  tags: ['waiting', 'ofOthers'],
  meta: { waitsFor: 'the agent that created its sandbox to remove it', region: 'start' },
  entry: [
    'recordOtherAgent',
    { type: 'recordEvent', params: ({ context }) => podFailureEvents(otherAgentFailure(context)) },
  ],
  always: { guard: not('isRunByOtherAgent'), target: 'admitting', actions: 'clearFailure' },
  on: { 'pod.update': { actions: 'replaceDesiredPod' }, 'runtime.containerSeen': {} },
});

/**
 * Counts restarts from log files, because the runtime may have lost the last runs of some containers, and a reported
 * count must not decrease (C23). Admission is requested both before and after counting, so that running containers hold
 * the pod's name in the meantime (C24).
 */
export const countingRestarts = admittingSetup.createStateConfig({
  description:
    'Restarts are counted by log files, because the runtime may have lost the last runs. Admission is requested as well, so that running containers hold the name of the pod.',
  tags: ['working', 'settingUp', 'countingRestarts'],
  meta: { waitsFor: 'its previous restarts to be counted', rules: ['C23'], region: 'start' },
  entry: 'requestAdmission',
  invoke: {
    src: 'countRestarts',
    input: ({ context }) => ({
      pod: context.allocated,
      containers: lostRunNames(context),
      ...(context.termination ? { limitMs: FINAL_COUNT_LIMIT_MS } : {}),
    }),
    onDone: {
      target: 'restartsCounted',
      // `context.restarts` already includes runs that the runtime has reported and lost in the meantime.
      actions: assign(({ context, event }) => ({ restarts: mergedRestarts(event.output.restarts, context.restarts) })),
    },
    onError: { target: 'restartsCounted', meta: { coverageGap: SERVICE_NEVER_FAILS } },
  },
  on: {
    'pod.update': { actions: 'recordLaterVersion' },
    'admission.admitted': {},
    'admission.refused': { meta: { coverageGap: RARELY_TAKEN } },
    // The restart counts are needed even if the pod terminates, but in that case counting has a time limit.
    'pod.terminate': {
      target: 'countingRestarts',
      reenter: true,
      actions: ['recordTermination', recordTerminationEvent],
    },
    'pod.deadlineExceeded': {
      target: 'countingRestarts',
      reenter: true,
      actions: ['recordExceededDeadline', recordDeadlineEvent],
      meta: { coverageGap: RARELY_TAKEN },
    },
  },
});

/** Handles the commands that arrived while restarts were being counted. */
export const restartsCounted = admittingSetup.createStateConfig({
  description: 'The restarts are counted. Commands that arrived meanwhile take effect.',
  tags: ['working', 'settingUp'],
  meta: { region: 'start' },
  always: [{ guard: 'mustTerminate', target: 'terminating' }, { target: 'admitting' }],
});

export const admitting = admittingSetup.createStateConfig({
  description: 'The node checks whether the pod fits: its resources, ports, node selector and required host features.',
  tags: ['waiting', 'admitting', 'settingUp', 'withoutContainers'],
  meta: { waitsFor: 'the node to admit it', region: 'start' },
  entry: 'requestAdmission',
  on: {
    'pod.update': { actions: 'recordLaterVersion', meta: { coverageGap: RARELY_TAKEN } },
    'admission.admitted': [
      // No container will run except those that already exist, so the pod's resources are released.
      {
        guard: 'needsNoSandbox',
        target: '#pod.terminating.startingGracePeriod',
        actions: [
          'applyAdmittedUpdate',
          'requestLatestVersion',
          'recordResizeRefusal',
          'recordPastInitialization',
          'recordPodCompletion',
        ],
      },
      { target: 'preparing', actions: ['applyAdmittedUpdate', 'requestLatestVersion', 'recordResizeRefusal'] },
    ],
    'admission.refused': {
      target: 'refused',
      actions: ['recordAdmissionRefusal', { type: 'recordEvent', params: ({ event }) => refusalEvents(event) }],
    },
  },
});
