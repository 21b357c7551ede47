/**
 * Runs the node. Starts the actors that every node has, and routes each fact from the sources, the runtime and the
 * cluster to the actors that need it. Decisions about a pod are made by that pod's own actor.
 */
import { assertEvent, assign, enqueueActions, sendTo } from 'xstate';
import { lookUp } from '../../base/values/lookUp.ts';
import { rfc3339 } from '../../kubernetes/api/values/rfc3339.ts';
import { mayHaveClaims } from '../../kubernetes/claims/podClaims.ts';
import { type EventMessages, involvedNode, recordedEvents } from '../../kubernetes/events/recordedEvent.ts';
import { alternativeNamesOf } from '../../kubernetes/node/alternativeNames.ts';
import { changedPressure, conditionEvents, withPressure } from '../../kubernetes/node/nodeConditions.ts';
import { initialDeviceBook } from '../admission/devices.ts';
import type { LimiterInput } from '../limiter/chart.ts';
import { noMirrors } from '../mirror/mirrorRecords.ts';
import { NO_ACTOR_FAILS, RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { FeedName } from '../shared/events/events.ts';
import { childrenOf } from '../shared/views/actorTree.ts';
import { activePods, type PodRef } from '../shared/views/views.ts';
import { after } from '../shared/waiting/waits.ts';
import { admissionLabels, clusterChanges, podCapacity } from './cluster/cluster.ts';
import {
  admissionNode,
  initialCpuAllocation,
  initialMemoryAllocation,
  type NodeContext,
  type NodeInput,
  networkOf,
  nodeResources,
  runningContainers,
  sparableContainers,
} from './context.ts';
import { deadlines, facts } from './facts.ts';
import { changedPodClaims, claimPodUids } from './pods/claims.ts';
import { preemptionOf, shutdownTerminationOf } from './pods/endings.ts';
import { mirrorImplementations } from './pods/mirrors.ts';
import { haveAllSourcesListed, haveAllSourcesResponded } from './pods/wanted.ts';
import { systemOomEvents } from './runtime/oomWatch.ts';
import { initialPleg } from './runtime/pleg.ts';
import { withProcessKill } from './runtime/processKills.ts';
import { nodeSetup, podId, sinkId } from './setup.ts';
import { activeImplementations, partial, running } from './states/active.ts';
import { draining, drainingImplementations } from './states/draining.ts';

/**
 * Time limit in milliseconds for the first list of the runtime's pods if the node is requested to stop before the list
 * has arrived.
 */
const RUNTIME_LIST_TIMEOUT_MS = 5_000;
/** Number of renewals per lease duration. */
const RENEWALS_PER_LEASE = 4;
/** Interval in milliseconds between two checks of log sizes, as in the kubelet. */
const LOG_CHECK_INTERVAL_MS = 10_000;
/**
 * Maximum time in milliseconds for which a start that hangs, e.g. on an unresponsive volume, blocks the starts of other
 * pods.
 */
const SLOW_START_MS = 10_000;

/** Feeds that the node cannot work without. They do not end on their own. */
const REQUIRED_FEEDS: readonly FeedName[] = ['pleg', 'runtimeHealth', 'ticker'];

/** Returns the context of a node that has not received any fact yet. */
const initialContext = (
  input: Omit<NodeInput, 'startSlots' | 'pullSlots' | 'pullLimitMs' | 'slowPullMs' | 'sinks' | 'devices'>,
  sinks: readonly string[],
): NodeContext => ({
  ...input,
  sinks,
  desired: {},
  sourceStates: {},
  problems: {},
  warnings: {},
  unreadSources: [],
  pleg: initialPleg,
  readiness: { isReady: false },
  brokenFeeds: {},
  watches: {},
  mirrors: noMirrors,
  takenOverUids: input.left.flatMap(({ uid, isTakenOver }) => (isTakenOver ? [uid] : [])),
  pods: {},
  processKills: [],
  claims: [],
  arrivalCount: 0,
  isShuttingDown: false,
  drainStartedAt: 0,
  drainedUids: [],
  lastFactAt: 0,
  brokenPods: [],
  health: { since: 0, ready: false, name: '', version: '', message: 'it has not responded yet' },
});

/**
 * The machine's setup, including the guards and actions of all regions and those for events that every state handles.
 */
const chartSetup = nodeSetup
  .extend(activeImplementations)
  .extend(mirrorImplementations)
  .extend(drainingImplementations)
  .extend({
    guards: {
      isRuntimeListed: ({ context }) => context.observed !== undefined && context.health.name !== '',
      haveAllSourcesResponded: ({ context }) => haveAllSourcesResponded(context),
      /**
       * Whether the node cannot work without the stopped feed. The node needs the facts about the runtime, and the
       * ticker, which triggers the respawn of failed pod actors.
       */
      isRequiredFeed: ({ event }) => {
        assertEvent(event, 'feed.ended');
        return REQUIRED_FEEDS.includes(event.feed);
      },
      hasRuntimeReturned: ({ context, event }) => {
        assertEvent(event, 'runtime.healthChanged');
        return event.health.ready && !context.health.ready;
      },
    },
    actions: {
      recordEvent: enqueueActions(({ context, enqueue }, messages: EventMessages) => {
        for (const event of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(event);
      }),
      recordOomKill: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'node.oomKilled');
        const messages = systemOomEvents(event.kill);
        for (const each of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(each);
        const processKills = withProcessKill(context, event.kill);
        if (processKills !== undefined) enqueue.assign({ processKills });
      }),
      routeStatus: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'status.changed');
        for (const name of context.sinks) enqueue.sendTo(sinkId(name), event);
      }),
      forwardFactsToAdmission: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'node.factsChanged');
        const { allocatable = context.allocatable, admissionNode: own } = event;
        const resources = nodeResources({ ...context, allocatable });
        const nodeChanges = {
          capacity: podCapacity(context, resources.allocatable),
          node: admissionLabels(context, own),
        };
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', ...nodeChanges });
      }),
      recordRuntimeHealth: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'runtime.healthChanged');
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
      preemptPods: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'admission.preempting');
        for (const uid of event.uids) {
          const pod = lookUp(context.pods, uid)?.pod;
          if (pod === undefined) continue;
          enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination: preemptionOf(pod, context.lastFactAt) });
          enqueue.emit({ type: 'decision.counted', decision: 'preempted', uid, resource: event.resource });
        }
      }),
      forwardDevices: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'admission.devicesReported');
        const { uid, devices } = event;
        if (Object.hasOwn(context.pods, uid)) enqueue.sendTo(podId(uid), { type: 'pod.devicesChanged', devices });
      }),
      recordUnreadableSource: assign(({ context, event }) => {
        assertEvent(event, 'config.sourceUnread');
        return {
          unreadSources: [...context.unreadSources, event.source],
          problems: { ...context.problems, [event.source]: event.problems },
        };
      }),
      routeObservedContainer: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'runtime.containerSeen');
        const { container } = event;
        const observedPod = lookUp(context.observed, container.podUid);
        // Ignore an unlisted container if another agent has a sandbox of the pod, because the container may belong to
        // that agent. Only the next list of the runtime's pods shows which agent owns the container.
        if (observedPod?.foreignSandboxes && !observedPod.containers.some(({ id }) => id === container.id)) return;
        if (Object.hasOwn(context.pods, container.podUid)) enqueue.sendTo(podId(container.podUid), event);
      }),
      routeObjectChanges: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'cluster.objectsChanged');
        for (const uid of event.uids)
          if (Object.hasOwn(context.pods, uid)) enqueue.sendTo(podId(uid), { type: 'pod.objectsChanged' });
      }),
      recordClusterFact: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, ['cluster.watchChanged', 'cluster.eventsChanged', 'cluster.nodeSeen']);
        enqueue.assign(clusterChanges(context, event));
        if (event.type !== 'cluster.nodeSeen') return;
        const clusterState = { ownNode: event.node };
        const nodeChanges = {
          capacity: podCapacity(clusterState, nodeResources(context).allocatable),
          node: admissionLabels(clusterState, admissionNode(context)),
        };
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', ...nodeChanges });
        const names = alternativeNamesOf(event.node?.addresses ?? []);
        if (context.cluster?.certificates?.some(({ name }) => name === 'serving'))
          enqueue.sendTo('certificate/serving', { type: 'certificate.namesChanged', names });
        // Report the status without waiting for the next check, because the cluster considers the node unreachable.
        const { isReady } = context.readiness;
        if (event.node?.isUnreachable) enqueue.sendTo('nodeStatus', { type: 'node.changed', isReady });
      }),
      recordRegistration: enqueueActions(({ context: { registration }, event, enqueue }) => {
        assertEvent(event, ['node.registered', 'node.csiInitialized']);
        if (event.type === 'node.registered') {
          enqueue.assign({ registration: { uid: event.uid, isInitialized: false } });
          for (const id of ['nodeStatus', 'lease'] as const) enqueue.sendTo(id, { type: 'node.registered' });
        } else if (registration !== undefined) {
          enqueue.assign({ registration: { ...registration, isInitialized: true } });
        }
      }),
      /**
       * Starts the registration once the runtime has responded, so that the new Node object already contains the
       * runtime's properties.
       */
      startRegistration: enqueueActions(({ context, enqueue }) => {
        if (context.cluster !== undefined) enqueue.sendTo('registration', { type: 'runtime.seen' });
      }),
      /** Immediately reports the node status to the cluster. */
      reportNodeStatus: enqueueActions(({ context, enqueue }) => {
        const { isReady } = context.readiness;
        if (context.cluster !== undefined) enqueue.sendTo('nodeStatus', { type: 'node.changed', isReady });
      }),
      announceRuntimeReturn: enqueueActions(({ context, enqueue }) => {
        for (const uid of Object.keys(context.pods)) enqueue.sendTo(podId(uid), { type: 'runtime.returned' });
      }),
      /**
       * Sends the eviction machine the pods that may have processes, with their admitted resources, and the dead
       * containers that it may remove.
       */
      sendEvictionCandidates: enqueueActions(({ context, enqueue, self }) => {
        const snapshots = childrenOf<PodRef>(self.getSnapshot(), 'pod/').map((child) => child.getSnapshot());
        const [ended, remaining] = [true, false].map((has) => snapshots.filter((pod) => pod.hasTag('ended') === has));
        const endedUids = new Set(ended?.map((pod) => pod.context.allocated.metadata.uid));
        enqueue.sendTo('eviction', {
          type: 'eviction.podsListed',
          pods: remaining?.map((pod) => pod.context.allocated) ?? [],
          deadContainers: sparableContainers(context, endedUids),
        });
      }),
      evictPods: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'eviction.podsChosen');
        for (const { uid, termination } of event.victims) {
          const hasActor = Object.hasOwn(context.pods, uid);
          if (hasActor) enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination });
          else enqueue.sendTo('eviction', { type: 'pod.cleanedUp', uid });
        }
      }),
      forwardTermination: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, ['pod.stopped', 'pod.cleanedUp']);
        if (context.eviction !== undefined) enqueue.sendTo('eviction', event);
        if (context.shutdown !== undefined) enqueue.sendTo('shutdown', event);
      }),
      /** Updates pod admission when the host is about to shut down or the shutdown is cancelled. */
      recordShutdown: enqueueActions(({ event, enqueue }) => {
        assertEvent(event, 'shutdown.changed');
        const { isShuttingDown, at } = event;
        enqueue.assign({ isShuttingDown, lastFactAt: at });
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', node: { isShuttingDown } });
      }),
      sendPodsToShutDown: sendTo('shutdown', ({ self }) => ({
        type: 'shutdown.podsListed',
        pods: activePods(self.getSnapshot()),
      })),
      terminateGroup: enqueueActions(({ context, event, enqueue, self }) => {
        assertEvent(event, 'shutdown.groupChosen');
        const { group, at } = event;
        const activeUids = new Set(activePods(self.getSnapshot()).map(({ metadata }) => metadata.uid));
        for (const uid of group.uids) {
          const pod = lookUp(context.pods, uid)?.pod;
          if (pod !== undefined && activeUids.has(uid))
            enqueue.sendTo(podId(uid), { type: 'pod.terminate', termination: shutdownTerminationOf(pod, group, at) });
          else enqueue.sendTo('shutdown', { type: 'pod.cleanedUp', uid });
        }
      }),
      /** Updates the node's conditions and notifies the admission machine when the node's pressure has changed. */
      recordPressure: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'eviction.pressureChanged');
        const { conditions: pressure, at } = event;
        const conditions = withPressure(context.conditions ?? [], pressure, rfc3339(at));
        enqueue.assign({ conditions, lastFactAt: at });
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', node: { pressure } });
        // In a cluster, leave these events to the node status report, which compares the conditions with those in the
        // Node object.
        if (context.cluster !== undefined) return;
        const messages = changedPressure(context.conditions ?? [], conditions).flatMap((each) =>
          conditionEvents(context.nodeName, each),
        );
        for (const each of recordedEvents(involvedNode(context.nodeName), messages)) enqueue.emit(each);
      }),
      sendRunningLogs: sendTo('logRotation', ({ context }) => ({
        type: 'logs.listed',
        logs: runningContainers(context),
      })),
      sendRunningContainers: sendTo('cpus', ({ context }) => ({
        type: 'cpus.listed',
        containers: runningContainers(context),
      })),
      recordDeviceCounts: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'devices.counted');
        const { counts: deviceCounts } = event;
        enqueue.assign({ deviceCounts });
        const { allocatable } = nodeResources({ ...context, deviceCounts });
        enqueue.sendTo('admission', { type: 'admission.nodeChanged', capacity: podCapacity(context, allocatable) });
      }),
      recordClaims: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'claims.changed');
        enqueue.assign({ claims: event.claims });
        enqueue.sendTo('claims', event);
        for (const [uid, claims] of changedPodClaims(context, event.claims))
          if (Object.hasOwn(context.pods, uid)) enqueue.sendTo(podId(uid), { type: 'pod.claimsChanged', claims });
      }),
      /** Notifies the claims actor, and the pods whose ResourceClaims may be waiting for a driver. */
      recordDrivers: enqueueActions(({ context, event, enqueue }) => {
        assertEvent(event, 'drivers.changed');
        enqueue.sendTo('claims', event);
        for (const [uid, { pod }] of Object.entries(context.pods))
          if (mayHaveClaims(pod)) enqueue.sendTo(podId(uid), { type: 'pod.driversChanged' });
      }),
      sendClaimPods: sendTo('claims', ({ context, self }) => ({
        type: 'claims.podsListed',
        activePodUids: haveAllSourcesListed(context) ? claimPodUids(context, self.getSnapshot()) : undefined,
      })),
      sendActivePods: sendTo('imageGarbage', ({ self }) => ({
        type: 'images.podsListed',
        activePodUids: childrenOf<PodRef>(self.getSnapshot(), 'pod/').flatMap((pod) => {
          const snapshot = pod.getSnapshot();
          return snapshot.hasTag('ended') ? [] : [snapshot.context.desired.metadata.uid];
        }),
      })),
    },
  });

export const nodeAgentMachine = chartSetup.createMachine({
  id: 'nodeAgent',
  description: 'The node: discovers what is running, runs the wanted pods, and drains.',
  meta: { deadlines, facts },
  context: ({
    input: {
      startSlots,
      pullSlots,
      pullLimitMs,
      slowPullMs,
      topologyManager,
      cpus,
      memory,
      devices,
      sinks = [],
      ...input
    },
    spawn,
  }) => {
    const spawnLimiter = (name: 'startLimiter' | 'pullLimiter', limits: LimiterInput) =>
      spawn('limiter', { id: name, systemId: name, input: limits });
    spawnLimiter('startLimiter', { capacity: startSlots, slowAfterMs: SLOW_START_MS });
    spawnLimiter('pullLimiter', {
      capacity: pullSlots,
      ...(pullLimitMs === undefined ? {} : { limitMs: pullLimitMs }),
      ...(slowPullMs === undefined ? {} : { slowAfterMs: slowPullMs }),
    });
    spawn('admission', {
      id: 'admission',
      systemId: 'admission',
      input: {
        capacity: input.allocatable,
        node: admissionNode(input),
        hasCluster: input.cluster !== undefined,
        ...(topologyManager === undefined ? {} : { topologyManager }),
        ...(cpus === undefined ? {} : { cpus: initialCpuAllocation(cpus) }),
        ...(memory === undefined ? {} : { memory: initialMemoryAllocation(memory) }),
        ...(devices === undefined ? {} : { devices: initialDeviceBook(devices) }),
      },
    });
    const { nodeName, cluster, eviction, shutdown } = input;
    if (eviction !== undefined) spawn('eviction', { id: 'eviction', input: { nodeName, ...eviction } });
    if (shutdown !== undefined) spawn('shutdown', { id: 'shutdown', input: { nodeName, ...shutdown } });
    if (cpus !== undefined) {
      const { assignments, reconcileMs, cpuPolicy } = cpus;
      spawn('cpus', {
        id: 'cpus',
        systemId: 'cpus',
        input: { assignments, reconcileMs, reserved: cpuPolicy.reserved },
      });
    }
    if (memory !== undefined) {
      const { assignments } = memory;
      spawn('memoryManager', { id: 'memoryManager', systemId: 'memoryManager', input: { assignments } });
    }
    if (devices !== undefined) spawn('devices', { id: 'devices', systemId: 'devices', input: devices });
    if (cluster !== undefined) {
      spawn('watches', { id: 'watches' });
      spawn('drivers', { id: 'drivers' });
      spawn('claims', { id: 'claims' });
      spawn('registration', { id: 'registration', input: { nodeName } });
      spawn('nodeStatus', { id: 'nodeStatus', input: { nodeName, checkMs: cluster.statusCheckMs } });
      for (const certificate of cluster.certificates ?? [])
        spawn('certificate', { id: `certificate/${certificate.name}`, input: { nodeName, ...certificate } });
      spawn('lease', { id: 'lease', input: { renewalIntervalMs: cluster.leaseMs / RENEWALS_PER_LEASE } });
    }
    for (const sink of sinks) spawn('statusSink', { id: sinkId(sink.name), input: sink });
    return initialContext(
      input,
      sinks.map(({ name }) => name),
    );
  },
  invoke: [
    { src: 'runtimeHealth' },
    { src: 'pleg' },
    { src: 'sources' },
    { src: 'addresses' },
    { src: 'podCidr' },
    { src: 'oomWatcher' },
    { src: 'ticker' },
    // A failure of the cgroups actor does not stop the node, because pods have their own cgroups.
    {
      src: 'cgroups',
      id: 'cgroups',
      input: ({ context: { nodeName, reservedCgroups = [] } }) => ({ nodeName, reservedCgroups }),
      onError: { meta: { coverageGap: NO_ACTOR_FAILS } },
    },
    {
      src: 'logRotation',
      id: 'logRotation',
      input: ({ context }) => ({ intervalMs: context.logCheckMs ?? LOG_CHECK_INTERVAL_MS }),
      // A failure of the log rotation actor does not stop the node, which then no longer rotates logs.
      onError: { meta: { coverageGap: NO_ACTOR_FAILS } },
    },
    // A failure of the image garbage collection actor does not stop the node, but unused images may then fill the disk.
    {
      src: 'imageGarbage',
      id: 'imageGarbage',
      input: ({ context: { nodeName, imageGarbage: policy } }) => ({ nodeName, policy }),
      onError: { meta: { coverageGap: NO_ACTOR_FAILS } },
    },
  ],
  initial: 'starting',
  on: {
    'config.podsListed': { actions: 'recordSource' },
    'config.podChanged': { actions: 'recordSource' },
    'config.problemsChanged': { actions: 'recordSource' },
    'config.sourceChanged': { actions: 'recordSource' },
    'config.sourceUnread': { actions: 'recordUnreadableSource' },
    'config.mirrorsChanged': { actions: ['recordMirrors', 'updateMirrors'] },
    'runtime.podsObserved': { actions: ['recordObservedPods', 'routeObservedPods'] },
    'runtime.containerSeen': { actions: 'routeObservedContainer' },
    'node.factsChanged': { actions: ['recordFact', 'forwardFactsToAdmission', 'reportNodeStatus'] },
    'cluster.watchChanged': { actions: 'recordClusterFact' },
    'cluster.eventsChanged': { actions: 'recordClusterFact' },
    'cluster.nodeSeen': { actions: ['recordClusterFact', 'updateMirrors'] },
    'cluster.objectsChanged': { actions: 'routeObjectChanges' },
    'node.registered': { actions: ['recordRegistration', 'updateMirrors'] },
    'node.csiInitialized': { actions: ['recordRegistration', 'recordReadiness', 'reportNodeStatus'] },
    'node.leaseRegained': { actions: 'reportNodeStatus' },
    'runtime.plegChanged': { actions: ['recordFact', 'reportNodeStatus'] },
    'runtime.podCidrChanged': {
      actions: 'recordFact',
      meta: {
        coverageGap: {
          reason:
            'simulated nodes have a network without addresses of their own; tested in test/actors/feeds/podCidr.test.ts',
        },
      },
    },
    'node.oomKilled': { actions: ['recordFact', 'recordOomKill'] },
    'node.oomWatchChanged': { actions: 'recordFact' },
    'feed.ended': [
      {
        guard: 'isRequiredFeed',
        target: '.broken',
        actions: 'recordFatalFailure',
        meta: {
          coverageGap: {
            reason:
              'defensive: a required feed stops only with its agent, or because of an internal error; tested on its machine',
          },
        },
      },
      { actions: 'recordFact', meta: { coverageGap: RARELY_TAKEN } },
    ],
    'status.changed': { actions: 'routeStatus' },
    'images.podsRequested': { actions: 'sendActivePods' },
    'claims.changed': { actions: 'recordClaims' },
    'drivers.changed': { actions: 'recordDrivers' },
    'claims.podsRequested': { actions: 'sendClaimPods' },
    'logs.requested': { actions: 'sendRunningLogs' },
    'cpus.requested': { actions: 'sendRunningContainers' },
    'devices.counted': { actions: ['recordDeviceCounts', 'reportNodeStatus'] },
    'runtime.healthChanged': [
      {
        guard: 'hasRuntimeReturned',
        actions: ['recordRuntimeHealth', 'announceRuntimeReturn', 'recordReadiness', 'reportNodeStatus'],
      },
      { actions: ['recordRuntimeHealth', 'recordReadiness', 'reportNodeStatus'] },
    ],
    'admission.preempting': { actions: 'preemptPods' },
    'admission.devicesReported': { actions: 'forwardDevices' },
    'eviction.podsRequested': { actions: 'sendEvictionCandidates' },
    'eviction.podsChosen': { actions: 'evictPods' },
    'eviction.pressureChanged': { actions: ['recordPressure', 'reportNodeStatus'] },
    'shutdown.podsRequested': { actions: 'sendPodsToShutDown' },
    'shutdown.groupChosen': { actions: 'terminateGroup' },
    'shutdown.changed': { actions: ['recordShutdown', 'recordReadiness', 'reportNodeStatus'] },
    'pod.stopped': { actions: 'forwardTermination' },
    'pod.cleanedUp': { actions: 'forwardTermination' },
    'node.drain': { target: '.draining', actions: ['recordFact', 'reportNodeStatus'] },
    'node.ticked': { actions: ['recordFact', 'recordReadiness', 'confirmProcessKills'] },
    'xstate.error.actor.*': [
      {
        guard: 'isFromPod',
        actions: ['saveAllocation', 'recordLeftover', 'forgetPod', 'releaseAllSlots'],
        meta: { coverageGap: NO_ACTOR_FAILS },
      },
      { target: '.broken', actions: 'recordFatalFailure', meta: { coverageGap: NO_ACTOR_FAILS } },
    ],
  },
  states: {
    starting: {
      description: 'The runtime reports its name and lists everything that it runs. No pod is touched before that.',
      tags: ['working', 'beginning'],
      meta: { waitsFor: 'the runtime to list its pods and containers' },
      entry: { type: 'recordEvent', params: { reason: 'Starting', message: 'Starting kubelet.' } },
      always: {
        guard: 'isRuntimeListed',
        target: 'awaitingSources',
        actions: ['recordReadiness', 'startRegistration', 'reportNodeStatus'],
      },
      on: { 'node.drain': { target: 'awaitingListToDrain', actions: 'recordFact' } },
    },
    awaitingListToDrain: {
      description:
        'The agent has to stop before the runtime was listed. Pods that are not listed within a few seconds are not stopped.',
      tags: ['working', 'ending'],
      meta: { waitsFor: 'the runtime to list the pods and containers to stop', afterMs: RUNTIME_LIST_TIMEOUT_MS },
      invoke: after(RUNTIME_LIST_TIMEOUT_MS),
      always: { guard: 'isRuntimeListed', target: 'draining', actions: 'startRegistration' },
      on: { 'timer.elapsed': 'draining', 'node.drain': {} },
    },
    awaitingSources: {
      description: 'Every source has to list its pods, because before that it is not known which pods are unwanted.',
      tags: ['waiting', 'beginning'],
      meta: { waitsFor: 'every pod source to list its pods' },
      always: [
        { guard: 'haveAllSourcesListed', target: 'running' },
        { guard: 'haveAllSourcesResponded', target: 'partial' },
      ],
    },
    partial,
    running,
    draining,
    stopped: {
      description: 'The agent has stopped. Pods that did not have to terminate continue to run.',
      tags: ['done', 'ending'],
      type: 'final',
    },
    broken: {
      description:
        'A limiter, admission or a required feed has failed. The agent exits with an error, because it cannot work correctly without them.',
      tags: 'broken',
      type: 'final',
    },
  },
});
