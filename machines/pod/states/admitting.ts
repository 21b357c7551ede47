/** The node has yet to take the pod: another agent has it, or there may be no room. A part of the chart in chart.ts. */
import { assign, not } from 'xstate';
import { hasSameResources, resourcesOf } from '../../../kubernetes/resources/resize.ts';
import { pathOf, served } from '../../shared/actorRefs.ts';
import { LAST_COUNT_MS } from '../../shared/lastCount.ts';
import { forgottenContainers, mergedRestarts, type PodContext } from '../context.ts';
import { asFailed, recordDeadlineEvent, recordTerminationEvent, refusal } from '../recordedEvents.ts';
import { wish } from '../resizing.ts';
import { isRunByOthers, othersFailure } from '../sandbox.ts';
import { admissionRequest, type PodArgs, podSetup } from '../setup.ts';
import { resizingImplementations } from './resizing.ts';

const guards = {
  isRunByOthers: ({ context }: PodArgs) => isRunByOthers(context),
  hasForgottenRuns: ({ context }: PodArgs) => context.hasLogs === true && forgotten(context).length > 0,
};

/** The containers of which the logs may show a later run than the runtime. */
const forgotten = ({ allocated, observed }: PodContext): string[] => forgottenContainers(allocated, observed);

const actions = {
  /** Before it is admitted there is nothing to be resized. */
  replaceDesired: podSetup.assign(({ event }) =>
    event.type === 'pod.update' ? { desired: event.pod, asked: event.pod } : {},
  ),
  recordRefusal: podSetup.assign(({ event }) => {
    if (event.type !== 'admission.refused') return {};
    const { type: _, ...refused } = event;
    return { refused };
  }),
  recordOthers: podSetup.assign(({ context }) => ({ failure: othersFailure(context) })),
  forgetFailure: podSetup.assign({ failure: undefined }),
  /** Requests the resources that were not admitted before the agent restarted, or that were changed meanwhile. */
  askForRest: podSetup.enqueueActions(({ context, enqueue, self }) => {
    if (hasSameResources(resourcesOf(context.allocated), resourcesOf(context.desired))) return;
    const wanted = wish(context, context.desired);
    enqueue.assign(wanted);
    enqueue.sendTo(served('admission'), admissionRequest({ ...context, ...wanted }, pathOf(self)));
  }),
};

export const admittingImplementations = { guards, actions };
const admittingSetup = podSetup.extend(resizingImplementations).extend(admittingImplementations);

/** Another agent has it: until that one has removed its sandbox nothing of the pod is made here. */
export const awaitingOthers = admittingSetup.createStateConfig({
  tags: ['waiting', 'ofOthers'],
  meta: { waitsFor: 'the agent that created its sandbox to remove it' },
  entry: ['recordOthers', { type: 'recordEvent', params: ({ context }) => asFailed(othersFailure(context)) }],
  always: { guard: not('isRunByOthers'), target: 'admitting', actions: 'forgetFailure' },
  on: { 'pod.update': { actions: 'replaceDesired' }, 'runtime.containerSeen': {} },
});

/**
 * The runtime may not have the last runs of some of its containers: how often these were restarted their logs tell, before
 * anybody is told a lower number (C23). It asks for admission before and after: what runs of it holds its name meanwhile
 * (C24).
 */
export const recalling = admittingSetup.createStateConfig({
  tags: ['working', 'settingUp', 'recalling'],
  meta: { waitsFor: 'its previous restarts to be counted' },
  entry: 'askAdmission',
  invoke: {
    src: 'countRestarts',
    input: ({ context }) => ({
      pod: context.allocated,
      containers: forgotten(context),
      ...(context.termination ? { limitMs: LAST_COUNT_MS } : {}),
    }),
    onDone: {
      target: 'recalled',
      // What the runtime has shown and lost meanwhile is counted already.
      actions: assign(({ context, event }) => ({ restarts: mergedRestarts(event.output.restarts, context.restarts) })),
    },
    onError: 'recalled',
  },
  on: {
    'pod.update': { actions: 'replaceDesired' },
    'admission.admitted': {},
    'admission.refused': {},
    // Its end, too, tells how often its containers were restarted, but does not wait long for it.
    'pod.terminate': { target: 'recalling', reenter: true, actions: ['recordTermination', recordTerminationEvent] },
    'pod.deadlineExceeded': { target: 'recalling', reenter: true, actions: ['exceedDeadline', recordDeadlineEvent] },
  },
});

/** What was asked of it while its restarts were counted is done now. */
export const recalled = admittingSetup.createStateConfig({
  tags: ['working', 'settingUp'],
  always: [{ guard: 'mustEnd', target: 'terminating' }, { target: 'admitting' }],
});

export const admitting = admittingSetup.createStateConfig({
  tags: ['waiting', 'admitting', 'settingUp', 'withoutContainers'],
  meta: { waitsFor: 'the node to admit it' },
  entry: 'askAdmission',
  on: {
    'pod.update': { actions: ['replaceDesired', 'askAdmission'] },
    'admission.admitted': [
      // All has run that ever will, under an earlier agent: it has given back, or does so now, what it had.
      {
        guard: 'needsNoSandbox',
        target: '#pod.terminating.beginning',
        actions: ['applyUpdate', 'askForRest', 'recordResizeRefusal', 'recallStart', 'complete'],
      },
      { target: 'preparing', actions: ['applyUpdate', 'askForRest', 'recordResizeRefusal'] },
    ],
    'admission.refused': {
      target: 'refused',
      actions: ['recordRefusal', { type: 'recordEvent', params: ({ event }) => refusal(event) }],
    },
  },
});
