/** The words of the node's chart: its children and feeds, guards and actions. The chart is in chart.ts. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
import {
  type EventMessages,
  eventMessagesOf,
  involvedNode,
  type RecordedEvent,
  recordedEvent,
} from '../../pod/events/recordedEvent.ts';
import { lookUp } from '../../pod/lookUp.ts';
import { admissionMachine } from '../admission/chart.ts';
import { cgroupsMachine } from '../cgroups/chart.ts';
import { limiterMachine } from '../limiter/chart.ts';
import { podMachine } from '../pod/chart.ts';
import type { NodeEvent } from '../shared/events.ts';
import { failureOf } from '../shared/failure.ts';
import { feedPort, timerPort } from '../shared/ports.ts';
import type { StateMeta, StateTag } from '../shared/stateMeta.ts';
import { statusSinkMachine } from '../statusSink/chart.ts';
import {
  garbageOf,
  type NodeContext,
  type NodeInput,
  networkOf,
  ownPartOf,
  recordedFact,
  runningLogs,
  uidOf,
  withObserved,
  withoutSeen,
} from './context.ts';
import { entryOfEnding, podOfOrphan, podWithOwnGrace, preemptionOf, terminationOf } from './endings.ts';
import { garbageMachine } from './garbage.ts';
import { logRotationMachine } from './logRotation.ts';
import { markedPods, orphans, stranded } from './own.ts';
import {
  brokenPod,
  edited,
  haveSourcesAnswered,
  haveSourcesSpoken,
  isWanted,
  newPodInput,
  newPods,
  recordedSource,
  tellUpdate,
  unwanted,
} from './wanted.ts';

const podId = (uid: string) => `pod/${uid}` as const;
export const sinkId = (name: string) => `statusSink/${name}` as const;

/** Which pods an action looks at, by uid; absent: all. */
export interface Scope {
  readonly uids?: readonly string[] | undefined;
}

export const nodeSetup = setup({
  types: {
    input: {} as NodeInput,
    context: {} as NodeContext,
    events: {} as NodeEvent,
    emitted: {} as RecordedEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag | 'beginning' | 'active' | 'ending' | 'draining',
    children: {} as { [id: `pod/${string}`]: 'pod' } & { [id: `statusSink/${string}`]: 'statusSink' } & {
      [Id in 'admission' | 'cgroups' | 'garbage' | 'logRotation']: Id;
    } & { [Id in 'startLimiter' | 'pullLimiter']: 'limiter' },
  },
  actors: {
    pod: podMachine,
    limiter: limiterMachine,
    admission: admissionMachine,
    cgroups: cgroupsMachine,
    garbage: garbageMachine,
    logRotation: logRotationMachine,
    statusSink: statusSinkMachine,
    ...{ sources: feedPort('sources'), nodeFacts: feedPort('nodeFacts'), ticker: feedPort('ticker') },
    ...{ pleg: feedPort('pleg'), runtimeHealth: feedPort('runtimeHealth') },
    timer: timerPort(),
  },
  guards: {
    isRuntimeSeen: ({ context }) => context.observed !== undefined && context.health.name !== '',
    haveSourcesAnswered: ({ context }) => haveSourcesAnswered(context),
    haveSourcesSpoken: ({ context }) => haveSourcesSpoken(context),
    hasReturned: ({ context, event }) =>
      event.type === 'runtime.healthChanged' && event.health.ready && !context.health.ready,
    hasGone: ({ context, event }) =>
      event.type === 'runtime.healthChanged' && !event.health.ready && context.health.ready,
    /** Nothing of the pod is left, as its actor says. */
    isGone: ({ event }) =>
      'output' in event &&
      typeof event.output === 'object' &&
      event.output !== null &&
      'isGone' in event.output &&
      event.output.isGone === true,
    isOfPod: ({ event }) => uidOf(event) !== undefined,
    hasNoPods: ({ context }) => Object.keys(context.pods).length + context.broken.length === 0,
  },
  actions: {
    routeStatus: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'status.changed') return;
      for (const name of context.sinks) enqueue.sendTo(sinkId(name), event);
    }),
    recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
      for (const message of eventMessagesOf(messages))
        enqueue.emit(recordedEvent(involvedNode(context.nodeName), message));
    }),
    recordSource: assign(({ context, event }) => recordedSource(context, event)),
    recordObserved: assign(({ context, event }) =>
      event.type === 'runtime.podsObserved' ? { observed: withObserved(context, event.pods), heardAt: event.at } : {},
    ),
    recordFact: assign(({ context, event }) => recordedFact(context, event)),
    passOnFacts: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'node.factsChanged') return;
      const { capacity = context.capacity, admissionNode: node = {} } = event;
      enqueue.sendTo('admission', { type: 'admission.nodeChanged', capacity, node });
    }),
    recordHealth: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.healthChanged') return;
      const { health } = event;
      enqueue.assign({ health });
      const { strictGroups } = health;
      if (strictGroups !== undefined && strictGroups !== context.health.strictGroups) {
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', node: { strictGroups } });
      }
      if (health.networkNotReady === context.health.networkNotReady) return;
      for (const uid of Object.keys(context.pods)) {
        enqueue.sendTo(podId(uid), { type: 'runtime.networkChanged', ...networkOf(health) });
      }
    }),
    preempt: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'admission.preempting') return;
      for (const uid of event.uids) {
        const pod = lookUp(context.pods, uid)?.pod;
        if (pod) enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination: preemptionOf(pod, context.heardAt) });
      }
    }),
    recordUnread: assign(({ context, event }) =>
      event.type === 'config.sourceUnread'
        ? {
            unread: [...context.unread, event.source],
            problems: { ...context.problems, [event.source]: event.problems },
          }
        : {},
    ),
    /** What runs and may yet be wanted keeps its room and its name (C24). */
    holdPlaces: enqueueActions(({ context, enqueue }) => {
      for (const observed of markedPods(context)) {
        if (isWanted(context, observed.uid)) continue;
        enqueue.sendTo('admission', entryOfEnding(context, podOfOrphan(observed), observed));
      }
    }),
    startNewPods: enqueueActions(({ context, enqueue }, scope: Scope | undefined) => {
      const wanted = newPods(context, scope?.uids);
      if (wanted.length === 0) return;
      const pods = new Map(Object.entries(context.pods));
      for (const [index, pod] of wanted.entries()) {
        const { uid } = pod.metadata;
        const input = newPodInput(context, pod, context.tickets + index + 1);
        pods.set(uid, { pod, ending: false });
        if (input.termination && input.observed.sandboxes.length > 0) {
          enqueue.sendTo('admission', entryOfEnding(context, pod, input.observed));
        }
        enqueue.spawnChild('pod', { id: podId(uid), input });
      }
      enqueue.assign({ pods: Object.fromEntries(pods), tickets: context.tickets + wanted.length });
    }),
    endOrphans: enqueueActions(({ context, enqueue }, scope: Scope | undefined) => {
      const found = orphans(context, scope?.uids);
      if (found.length + context.left.length === 0) return;
      const { crashLoop, heardAt: bornAt } = context;
      const pods = new Map(Object.entries(context.pods));
      for (const observed of found) {
        const pod = context.endsAll ? podWithOwnGrace(observed) : podOfOrphan(observed);
        const termination = terminationOf(pod, context.endsAll ? 'NodeShutdown' : 'Orphaned', bornAt);
        const restored = lookUp(context.statuses, observed.uid);
        pods.set(observed.uid, { pod, ending: true });
        enqueue.sendTo('admission', entryOfEnding(context, pod, observed));
        enqueue.spawnChild('pod', {
          id: podId(observed.uid),
          input: {
            ...{ crashLoop, bornAt, pod, observed, termination, ticket: 0 },
            // A terminal phase stays (C2).
            ...(restored ? { restored } : {}),
          },
        });
      }
      const left = context.left.filter(({ uid }) => scope?.uids?.includes(uid) === false);
      enqueue.assign({ pods: Object.fromEntries(pods), left });
    }),
    /** Whatever of ours runs without an actor ends with the node, and with its own grace. */
    endStranded: enqueueActions(({ context, enqueue }) => {
      const { crashLoop, heardAt: bornAt } = context;
      const pods = new Map(Object.entries(context.pods));
      for (const { pod, observed, by: termination } of stranded(context)) {
        pods.set(observed.uid, { pod, ending: true });
        enqueue.spawnChild('pod', {
          id: podId(observed.uid),
          input: { crashLoop, bornAt, pod, observed, termination, ticket: 0 },
        });
      }
      enqueue.assign({ pods: Object.fromEntries(pods), broken: [] });
    }),
    endUnwanted: enqueueActions(({ context, enqueue }, scope: Scope | undefined) => {
      const found = unwanted(context, scope?.uids);
      if (found.length === 0) return;
      const pods = new Map(Object.entries(context.pods));
      for (const { pod } of found) {
        const { uid } = pod.metadata;
        pods.set(uid, { pod, ending: true });
        const termination = terminationOf(pod, 'Removed', context.heardAt);
        enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination });
      }
      enqueue.assign({ pods: Object.fromEntries(pods) });
    }),
    passOnEdits: enqueueActions(({ context, enqueue }, scope: Scope | undefined) => {
      const found = edited(context, scope?.uids);
      if (found.length === 0) return;
      const pods = new Map(Object.entries(context.pods));
      for (const { before, pod } of found) {
        const { uid } = pod.metadata;
        pods.set(uid, { pod, ending: false });
        for (const fact of tellUpdate(before, pod, context.heardAt)) enqueue.sendTo(podId(uid), fact);
      }
      enqueue.assign({ pods: Object.fromEntries(pods) });
    }),
    routeObserved: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.podsObserved') return;
      for (const shown of event.pods) {
        const pod = ownPartOf(context, shown);
        if (Object.hasOwn(context.pods, pod.uid)) enqueue.sendTo(podId(pod.uid), { type: 'runtime.podObserved', pod });
      }
    }),
    routeContainer: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.containerSeen') return;
      const { container } = event;
      const seen = lookUp(context.observed, container.podUid);
      // Beside a sandbox of another agent a container may be of that one; the next list tells.
      if (seen?.others && !seen.containers.some(({ id }) => id === container.id)) return;
      if (Object.hasOwn(context.pods, container.podUid)) enqueue.sendTo(podId(container.podUid), event);
    }),
    announceReturn: enqueueActions(({ context, enqueue }) => {
      for (const uid of Object.keys(context.pods)) enqueue.sendTo(podId(uid), { type: 'runtime.returned' });
    }),
    /** A pod's actor is through: terminated, or broken and to be rebuilt at the next tick. */
    forgetPod: enqueueActions(({ context, event, enqueue }) => {
      const uid = uidOf(event);
      if (uid === undefined) return;
      const { [uid]: _gone, ...pods } = context.pods;
      enqueue.stopChild(podId(uid));
      enqueue.assign({ pods });
    }),
    /** Of a pod that nobody wants and whose actor broke there may be nothing at the runtime that shows that it is left. */
    keepBroken: assign(({ context, event }) => {
      const broken = brokenPod(context, uidOf(event));
      return broken ? { left: [...context.left, { ...broken, isMarked: true }] } : {};
    }),
    /** A pod whose actor broke while the node drains is ended once more, with what is left of its grace. */
    keepForEnd: assign(({ context, event }) => {
      const known = lookUp(context.pods, uidOf(event) ?? '');
      return known ? { broken: [...context.broken, known.pod] } : {};
    }),
    /** Without one of its own parts the node can answer for nothing. */
    recordFault: assign(({ event }) => {
      const failure = failureOf(event);
      const part = 'actorId' in event ? String(event.actorId) : 'a part';
      return { failure: { ...failure, message: `${part} of the node agent broke: ${failure.message}` } };
    }),
    /** What was seen of an ended pod is older than its end; whatever is left all the same is seen again as a change. */
    forgetSeen: assign(({ context, event }) => withoutSeen(context, uidOf(event))),
    /** A pod's actor that failed gave nothing back itself. */
    leaveLimiters: enqueueActions(({ event, enqueue }) => {
      const uid = uidOf(event);
      if (uid === undefined) return;
      enqueue.sendTo('startLimiter', { type: 'slot.forget', uid });
      enqueue.sendTo('pullLimiter', { type: 'slot.forget', uid });
    }),
    answerLogs: sendTo('logRotation', ({ context }) => ({ type: 'logs.found', logs: runningLogs(context) })),
    answerGarbage: sendTo('garbage', ({ context }) => ({ type: 'garbage.found', found: garbageOf(context) })),
    endAll: enqueueActions(({ context, event, enqueue }) => {
      const at = 'at' in event ? event.at : 0;
      for (const [uid, { pod }] of Object.entries(context.pods)) {
        enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination: terminationOf(pod, 'NodeShutdown', at) });
      }
    }),
  },
});
