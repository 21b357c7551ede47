/** The node: routes what the sources and the runtime tell to the pod it concerns, and decides nothing about a pod. */
import { assign, enqueueActions, sendTo } from 'xstate';
import { lookUp } from '../../base/lookUp.ts';
import { type EventMessages, involvedNode, recordedEvents } from '../../kubernetes/events/recordedEvent.ts';
import { alternativeNamesOf } from '../../kubernetes/node/alternativeNames.ts';
import type { LimiterInput } from '../limiter/chart.ts';
import { noMirrors } from '../mirror/known.ts';
import type { FeedName } from '../shared/events.ts';
import { admittedBy, isOfCluster, recordedCluster, roomBy } from './cluster.ts';
import { admissionNode, networkOf, runningLogs } from './context.ts';
import { preemptionOf } from './endings.ts';
import { facts, moments } from './facts.ts';
import { newPleg } from './pleg.ts';
import { nodeSetup, podId, sinkId } from './setup.ts';
import { activeImplementations, partial, running } from './states/active.ts';
import { draining, drainingImplementations } from './states/draining.ts';
import { haveSourcesAnswered } from './wanted.ts';

/** So long the runtime has to be listed when the node is told to stop before that. */
const RUNTIME_LIST_MS = 5_000;
/** So often a lease is renewed while it lasts. */
const RENEWALS = 4;
/** How often a kubelet looks at the sizes of logs. */
const LOG_CHECK_MS = 10_000;
/** A start that hangs, as at a volume that does not answer, holds up those of other pods for so long and no longer. */
const SLOW_START_MS = 10_000;

/** The feeds that it cannot do without, each of which goes on until it is stopped. */
const NEEDED: readonly FeedName[] = ['pleg', 'runtimeHealth', 'ticker'];

/** What concerns the node whatever it is at. */
const chartSetup = nodeSetup
  .extend(activeImplementations)
  .extend(drainingImplementations)
  .extend({
    guards: {
      isRuntimeSeen: ({ context }) => context.observed !== undefined && context.health.name !== '',
      haveSourcesAnswered: ({ context }) => haveSourcesAnswered(context),
      /** Deaf to the runtime, or without a tick that has broken pods rebuilt, it is of no use. */
      needsFeed: ({ event }) => event.type === 'feed.ended' && NEEDED.includes(event.feed),
      hasReturned: ({ context, event }) =>
        event.type === 'runtime.healthChanged' && event.health.ready && !context.health.ready,
    },
    actions: {
      recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
        for (const event of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(event);
      }),
      routeStatus: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'status.changed') return;
        for (const name of context.sinks) enqueue.sendTo(sinkId(name), event);
      }),
      passOnFacts: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'node.factsChanged') return;
        const { allocatable = context.allocatable, admissionNode: own } = event;
        const changed = { capacity: roomBy(context, allocatable), node: admittedBy(context, own) };
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', ...changed });
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
          if (pod === undefined) continue;
          enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination: preemptionOf(pod, context.heardAt) });
          enqueue.emit({ type: 'decision.counted', decision: 'preempted', uid, resource: event.resource });
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
      routeContainer: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'runtime.containerSeen') return;
        const { container } = event;
        const seen = lookUp(context.observed, container.podUid);
        // Beside a sandbox of another agent a container may be of that one; the next list tells.
        if (seen?.others && !seen.containers.some(({ id }) => id === container.id)) return;
        if (Object.hasOwn(context.pods, container.podUid)) enqueue.sendTo(podId(container.podUid), event);
      }),
      routeObjects: enqueueActions(({ context, event, enqueue }) => {
        if (event.type !== 'cluster.objectsChanged') return;
        for (const uid of event.uids)
          if (Object.hasOwn(context.pods, uid)) enqueue.sendTo(podId(uid), { type: 'pod.objectsChanged' });
      }),
      recordCluster: enqueueActions(({ context, event, enqueue }) => {
        if (!isOfCluster(event)) return;
        enqueue.assign(recordedCluster(context, event));
        if (event.type !== 'cluster.nodeSeen') return;
        const known = { ownNode: event.node };
        const changed = {
          capacity: roomBy(known, context.allocatable),
          node: admittedBy(known, admissionNode(context)),
        };
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', ...changed });
        const names = alternativeNamesOf(event.node?.addresses ?? []);
        if (context.cluster?.certificates?.some(({ name }) => name === 'serving'))
          enqueue.sendTo('certificate/serving', { type: 'certificate.namesChanged', names });
        // It need not wait for the next check.
        const { isReady } = context.readiness;
        if (event.node?.isDoubted) enqueue.sendTo('nodeStatus', { type: 'node.changed', isReady });
      }),
      recordRegistration: enqueueActions(({ context: { registration }, event, enqueue }) => {
        if (event.type === 'node.registered') {
          enqueue.assign({ registration: { uid: event.uid, isInitialized: false } });
          for (const id of ['nodeStatus', 'lease'] as const) enqueue.sendTo(id, { type: 'node.registered' });
        }
        if (event.type !== 'node.csiInitialized' || registration === undefined) return;
        enqueue.assign({ registration: { ...registration, isInitialized: true } });
      }),
      /** The Node can say from the start what the runtime is. */
      releaseRegistration: enqueueActions(({ context, enqueue }) => {
        if (context.cluster !== undefined) enqueue.sendTo('registration', { type: 'runtime.seen' });
      }),
      /** The cluster is to hear of it at once. */
      tellCluster: enqueueActions(({ context, enqueue }) => {
        const { isReady } = context.readiness;
        if (context.cluster !== undefined) enqueue.sendTo('nodeStatus', { type: 'node.changed', isReady });
      }),
      announceReturn: enqueueActions(({ context, enqueue }) => {
        for (const uid of Object.keys(context.pods)) enqueue.sendTo(podId(uid), { type: 'runtime.returned' });
      }),
      answerLogs: sendTo('logRotation', ({ context }) => ({ type: 'logs.found', logs: runningLogs(context) })),
    },
  });

export const nodeAgentMachine = chartSetup.createMachine({
  id: 'nodeAgent',
  description: 'The node: finds out what is running and what should be, runs the pods, and drains.',
  meta: { moments, facts },
  context: ({ input: { startSlots, pullSlots, pullLimitMs, slowPullMs, sinks = [], ...input }, spawn }) => {
    const serve = (name: 'startLimiter' | 'pullLimiter', limits: LimiterInput) =>
      spawn('limiter', { id: name, systemId: name, input: limits });
    serve('startLimiter', { capacity: startSlots, slowAfterMs: SLOW_START_MS });
    serve('pullLimiter', {
      capacity: pullSlots,
      ...(pullLimitMs === undefined ? {} : { limitMs: pullLimitMs }),
      ...(slowPullMs === undefined ? {} : { slowAfterMs: slowPullMs }),
    });
    spawn('admission', {
      id: 'admission',
      systemId: 'admission',
      input: { capacity: input.allocatable, node: admissionNode(input), hasCluster: input.cluster !== undefined },
    });
    const { nodeName, cluster } = input;
    if (cluster !== undefined) {
      spawn('watches', { id: 'watches' });
      spawn('registration', { id: 'registration', input: { nodeName } });
      spawn('nodeStatus', { id: 'nodeStatus', input: { nodeName, checkMs: cluster.statusCheckMs } });
      for (const certificate of cluster.certificates ?? [])
        spawn('certificate', { id: `certificate/${certificate.name}`, input: { nodeName, ...certificate } });
      spawn('lease', { id: 'lease', input: { everyMs: cluster.leaseMs / RENEWALS } });
    }
    return {
      ...input,
      sinks: sinks.map((sink) => spawn('statusSink', { id: sinkId(sink.name), input: sink }) && sink.name),
      desired: {},
      sourceStates: {},
      problems: {},
      warnings: {},
      unread: [],
      pleg: newPleg,
      readiness: { isReady: false },
      brokenFeeds: {},
      watches: {},
      mirrors: noMirrors,
      taken: input.left.flatMap(({ uid, isTaken }) => (isTaken ? [uid] : [])),
      pods: {},
      tickets: 0,
      drainAt: 0,
      drained: [],
      heardAt: 0,
      broken: [],
      health: { since: 0, ready: false, name: '', version: '', message: 'it has not answered yet' },
    };
  },
  invoke: [
    { src: 'runtimeHealth' },
    { src: 'pleg' },
    { src: 'sources' },
    { src: 'addresses' },
    { src: 'podCidr' },
    { src: 'ticker' },
    // A fault of its own ends it alone: pods have their cgroups without it.
    { src: 'cgroups', id: 'cgroups', input: ({ context: { nodeName } }) => ({ nodeName }), onError: {} },
    {
      src: 'logRotation',
      id: 'logRotation',
      input: ({ context }) => ({ everyMs: context.logCheckMs ?? LOG_CHECK_MS }),
      // As with the garbage: a fault of its own ends it alone.
      onError: {},
    },
  ],
  initial: 'starting',
  on: {
    'config.podsListed': { actions: 'recordSource' },
    'config.podChanged': { actions: 'recordSource' },
    'config.problemsChanged': { actions: 'recordSource' },
    'config.sourceChanged': { actions: 'recordSource' },
    'config.sourceUnread': { actions: 'recordUnread' },
    'config.mirrorsChanged': { actions: ['recordMirrors', 'tellMirrors'] },
    'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved'] },
    'runtime.containerSeen': { actions: 'routeContainer' },
    'node.factsChanged': { actions: ['recordFact', 'passOnFacts', 'tellCluster'] },
    'cluster.watchChanged': { actions: 'recordCluster' },
    'cluster.eventsChanged': { actions: 'recordCluster' },
    'cluster.nodeSeen': { actions: ['recordCluster', 'tellMirrors'] },
    'cluster.objectsChanged': { actions: 'routeObjects' },
    'node.registered': { actions: ['recordRegistration', 'tellMirrors'] },
    'node.csiInitialized': { actions: ['recordRegistration', 'noteReadiness', 'tellCluster'] },
    'node.leaseRegained': { actions: 'tellCluster' },
    'runtime.plegChanged': { actions: ['recordFact', 'tellCluster'] },
    'runtime.podCidrChanged': { actions: 'recordFact' },
    'feed.ended': [{ guard: 'needsFeed', target: '.broken', actions: 'recordFault' }, { actions: 'recordFact' }],
    'status.changed': { actions: 'routeStatus' },
    'logs.asked': { actions: 'answerLogs' },
    'runtime.healthChanged': [
      { guard: 'hasReturned', actions: ['recordHealth', 'announceReturn', 'noteReadiness', 'tellCluster'] },
      { actions: ['recordHealth', 'noteReadiness', 'tellCluster'] },
    ],
    'admission.preempting': { actions: 'preempt' },
    'node.drain': { target: '.draining', actions: ['recordFact', 'tellCluster'] },
    'node.ticked': { actions: ['recordFact', 'noteReadiness'] },
    'xstate.error.actor.*': [
      { guard: 'isOfPod', actions: ['keepAllocation', 'keepBroken', 'forgetPod', 'leaveLimiters'] },
      { target: '.broken', actions: 'recordFault' },
    ],
  },
  states: {
    /** Until the runtime has told its name and been listed once. */
    starting: {
      tags: ['working', 'beginning'],
      meta: { waitsFor: 'the runtime to list its pods and containers' },
      entry: { type: 'recordEvent', params: { reason: 'Starting', message: 'Starting kubelet.' } },
      always: {
        guard: 'isRuntimeSeen',
        target: 'recovering',
        actions: ['noteReadiness', 'releaseRegistration', 'tellCluster'],
      },
      on: { 'node.drain': { target: 'leaving', actions: 'recordFact' } },
    },
    /** It is to stop before it knows what runs: what nobody tells it of in time it can not end. */
    leaving: {
      tags: ['working', 'ending'],
      meta: { waitsFor: 'the runtime to list the pods and containers to stop', afterMs: RUNTIME_LIST_MS },
      invoke: { src: 'timer', input: { after: RUNTIME_LIST_MS } },
      always: { guard: 'isRuntimeSeen', target: 'draining', actions: 'releaseRegistration' },
      on: { 'timer.elapsed': 'draining', 'node.drain': {} },
    },
    /** Until every source has told its full set: before that nobody can say which pods are unwanted. */
    recovering: {
      tags: ['waiting', 'beginning'],
      meta: { waitsFor: 'every pod source to list its pods' },
      always: [
        { guard: 'haveSourcesSpoken', target: 'running' },
        { guard: 'haveSourcesAnswered', target: 'partial' },
      ],
    },
    partial,
    running,
    draining,
    stopped: { tags: ['done', 'ending'], type: 'final' },
    /** A limiter, admission or a feed that it needs is no more: better no node agent than one that goes on without them. */
    broken: { tags: 'broken', type: 'final' },
  },
});
