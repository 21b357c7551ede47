/**
 * Admits pods to the node, one at a time and in order of arrival. Records the resources that were admitted (allocated)
 * for each pod. The resources in a request are the desired ones.
 */
import { type AnyActorRef, assertEvent, assign, enqueueActions, setup } from 'xstate';
import type { Decision } from '../../kubernetes/admission/decide.ts';
import { deviceRefusal } from '../../kubernetes/devices/reserveDevices.ts';
import type { PodRequests } from '../../kubernetes/resources/requests.ts';
import { namespacedName } from '../../kubernetes/shownName.ts';
import { NO_LOST_DEVICES, NODE_NEVER_DELETED } from '../shared/coverageGaps.ts';
import type { DeviceStatusReport, ReallocationResult } from '../shared/events/deviceEvents.ts';
import type { AdmissionEvent, AdmissionFact, AdmissionResult, Ref } from '../shared/events/events.ts';
import type { MachineDecision, ResizeTrigger } from '../shared/events/machineDecision.ts';
import { type PortTypes, port } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { actorAt, parent, sharedActor } from '../shared/views/actorRefs.ts';
import {
  type AdmissionContext,
  type AdmissionEntry,
  type AdmissionInput,
  afterDecision,
  awaitsSave,
  findEntry,
  hasDeferredResize,
  isUnconfirmed,
  markNodeReadDone,
  markNodeReadStarted,
  needsNodeRead,
  nextDecision,
  type Request,
  reserveAgainAligned,
  withCompletedResize,
  withEntry,
  withNameCheck,
  withoutEntry,
  withoutInitMemory,
  withoutRequests,
  withoutResources,
  withRequeuedUpdates,
  withSaved,
  withUnconfirmed,
} from './context.ts';
import {
  changedDeviceHealth,
  choosePreferredDevices,
  deviceReport,
  withAllocatedDevices,
  withDeviceResources,
  withoutConfirmed,
  withoutReallocation,
  withReallocation,
  withReportedBook,
} from './devices.ts';
import { withItem } from './indexed.ts';

const podNames = (requests: readonly Request[]): string[] => requests.map(({ pod }) => namespacedName(pod));

/**
 * Returns the number of admitted pods, and the names of the pods that wait for a decision or whose update was refused.
 */
const facts = ({ snapshot: { context } }: ActorInfo<AdmissionContext>) => ({
  facts: [`${context.entries.filter(({ allocated }) => allocated !== null).length} admitted`],
  lists: { queued: podNames(context.waitingRequests), 'updates without room': podNames(context.refusedUpdates) },
});

type Result = AdmissionResult | ReallocationResult;

function admissionResult(decision: Exclude<Decision, { kind: 'preempting' }>, { pod }: Request): AdmissionResult {
  if (decision.kind === 'admitted') return { type: 'admission.admitted', pod };
  const { kind: _, isByLabels: _labels, ...refusal } = decision;
  return { type: 'admission.refused', ...refusal };
}

/** Returns the host ports of a pod whose containers have stopped, or null if it has none. */
const hostPortsOnly = (allocated: PodRequests | null): PodRequests | null =>
  allocated === null || allocated.hostPorts.length === 0
    ? null
    : { ...allocated, cpuMillis: 0, memoryBytes: 0, extra: {} };

const devicesRefusedEvent = (message: string, at: number): ReallocationResult => ({
  type: 'container.devicesRefused',
  error: { reason: 'CreateContainerConfigError', message, at },
});

type SentEvent = Result | DeviceStatusReport;

interface Message {
  readonly target: Ref<SentEvent>;
  readonly event: SentEvent;
}

/**
 * Returns the message that sends the result of a request to the actor that waits for it, if that actor still exists.
 * Unless the pod is refused, an additional message reports its devices to the node.
 */
function resultMessages(
  self: AnyActorRef,
  context: AdmissionContext,
  { uid, holder }: Pick<Request, 'uid' | 'holder'>,
  result: Result,
): Message[] {
  const report = result.type === 'admission.refused' ? undefined : deviceReport(context, uid);
  const holderActor = actorAt<SentEvent>(self, holder);
  return [
    ...(report === undefined ? [] : [{ target: parent<SentEvent>()({ self }), event: report }]),
    ...(holderActor === undefined ? [] : [{ target: holderActor, event: result }]),
  ];
}

/** Releases the CPUs, the memory and the devices of a pod whose containers have stopped. */
const withoutResourcesOf = (context: AdmissionContext, uid: string): AdmissionContext =>
  withoutResources(context, (podUid) => podUid === uid);

/** Returns the labels and taints of the Node from the output of `readNode`. Returns undefined for any other event. */
function nodeFromOutput(event: object): Request['observedNode'] {
  if (!('output' in event)) return undefined;
  // Safe cast: `readNode` is the only invoked actor that has an output.
  const { labels, taints } = event.output as PortTypes['readNode']['output'];
  return { labels, taints };
}

/**
 * Returns the kubelet's metric label for the cause of the decision. A change to the node is labeled as a periodic
 * retry, because the kubelet notices such a change only at its periodic retry.
 */
function resizeTrigger(event: AdmissionEvent, { uid }: Request): ResizeTrigger {
  switch (event.type) {
    case 'admission.request':
      return event.uid === uid ? 'pod_updated' : 'pod_resized';
    case 'admission.resizeCompleted':
      return 'pod_resized';
    case 'admission.release':
      return 'pods_removed';
    case 'admission.containersStopped':
    case 'admission.releaseResources':
      return 'pod_terminated';
    default:
      return 'periodic_retry';
  }
}

export const admissionMachine = setup({
  types: {
    input: {} as AdmissionInput,
    context: {} as AdmissionContext,
    events: {} as AdmissionEvent,
    emitted: {} as MachineDecision,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { readNode: port('readNode') },
  guards: { mustReadNode: ({ context }) => needsNodeRead(context) },
  actions: {
    startReadingNode: assign(({ context }) => markNodeReadStarted(context)),
    recordNodeRead: assign(({ context, event }) => markNodeReadDone(context, nodeFromOutput(event))),
    recordRequest: assign(({ context, event }) => {
      assertEvent(event, 'admission.request');
      const {
        uid,
        fullName,
        pod,
        requests,
        allocated,
        isAdopted,
        isRunning = false,
        isResize,
        changedRequests,
        isFinished = false,
        holder,
      } = event;
      const existingEntry = findEntry(context, uid);
      const entry: AdmissionEntry = {
        uid,
        fullName,
        desired: isFinished ? null : requests,
        // Add the pod's name from the request to the persisted allocation. Messages use the name, but only the admitted
        // resources are persisted.
        allocated: existingEntry?.allocated ?? (allocated ? { ...allocated, pod: requests.pod } : null),
        holdsName: existingEntry?.holdsName ?? false,
        isPreempted: false,
        occupied: existingEntry?.occupied,
        deferralNumber: existingEntry?.deferralNumber,
      };
      const nextContext = withEntry(withoutRequests(context, uid), entry);
      // Do not queue the request. The pod requests admission of its latest version again once the resource assignments
      // of the earlier version are on disk.
      if (isUnconfirmed(nextContext, uid)) return nextContext;
      const wasAdmitted = allocated !== undefined;
      const request = {
        uid,
        fullName,
        pod,
        requests,
        isAdopted,
        isRunning,
        wasAdmitted,
        isResize,
        changedRequests,
        awaitsName: false,
        holder,
      };
      return {
        ...nextContext,
        waitingRequests: withItem(nextContext.waitingRequests, withNameCheck(nextContext, request)),
      };
    }),
    recordTerminatingPod: assign(({ context, event }) => {
      assertEvent(event, 'admission.addTerminating');
      const { uid, fullName, requests } = event;
      const allocated = findEntry(context, uid)?.allocated ?? requests;
      const entry = { uid, fullName, desired: null, allocated, holdsName: true, isPreempted: false };
      return withEntry(withoutRequests(context, uid), entry);
    }),
    /** Applies decisions sequentially, each to the context that results from the previous decision. */
    decideRequests: enqueueActions(({ context, event, enqueue, self }) => {
      let nextContext = context;
      for (let step = nextDecision(nextContext); step !== undefined; step = nextDecision(nextContext)) {
        const { request, decision } = step;
        if (decision.kind === 'admitted' && hasDeferredResize(nextContext, request)) {
          const trigger = resizeTrigger(event, request);
          enqueue.emit({ type: 'decision.counted', decision: 'deferredResizeAccepted', trigger });
        }
        const previousContext = nextContext;
        nextContext = afterDecision(nextContext, step);
        const { allocation } = step;
        if (allocation !== undefined && decision.kind !== 'doubted')
          enqueue.emit({ type: 'decision.counted', decision: 'resourcesAllocated', counts: allocation.counts });
        if (decision.kind === 'preempting') {
          enqueue.sendTo(parent<AdmissionFact>(), {
            type: 'admission.preempting',
            uids: decision.uids,
            resource: decision.resource,
          });
          continue;
        }
        if (decision.kind === 'doubted') continue;
        if (decision.kind === 'admitted' && awaitsSave(previousContext, nextContext))
          nextContext = withUnconfirmed(previousContext, nextContext, request);
        if (isUnconfirmed(nextContext, request.uid)) continue;
        const result = admissionResult(decision, request);
        for (const message of resultMessages(self, nextContext, request, result))
          enqueue.sendTo(message.target, message.event);
      }
      const { cpus, memory } = nextContext;
      if (cpus !== undefined && cpus.revision > cpus.reportedRevision) {
        const { assignments, revision } = cpus;
        enqueue.sendTo(sharedActor('cpus'), { type: 'cpus.assigned', assignments, revision });
        nextContext = { ...nextContext, cpus: { ...cpus, reportedRevision: revision } };
      }
      if (memory !== undefined && memory.revision > memory.reportedRevision) {
        const { assignments, revision } = memory;
        enqueue.sendTo(sharedActor('memoryManager'), { type: 'memory.assigned', assignments, revision });
        nextContext = { ...nextContext, memory: { ...memory, reportedRevision: revision } };
      }
      if (nextContext !== context) enqueue.assign(nextContext);
    }),
    /** Sends the device manager the reservations to allocate, the allocations to save, and the pods that are gone. */
    reportDevices: enqueueActions(({ context, enqueue }) => {
      const { devices } = context;
      if (devices === undefined) return;
      for (const uid of devices.cancelledUids)
        enqueue.sendTo(sharedActor('devices'), { type: 'devices.released', uid });
      for (const { uid, pod, reservations, isSent } of devices.pending)
        if (!isSent)
          enqueue.sendTo(sharedActor('devices'), {
            type: 'devices.reserved',
            uid,
            pod: namespacedName(pod),
            reservations,
          });
      const { revision, reportedRevision, pool } = devices;
      if (revision > reportedRevision) {
        const allocations = pool.allocations.filter(({ edits }) => edits !== undefined);
        enqueue.sendTo(sharedActor('devices'), { type: 'devices.assigned', allocations, revision });
      }
      const nextContext = withReportedBook(context);
      if (nextContext !== context) enqueue.assign(nextContext);
    }),
    recordDeviceResources: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'admission.devicesChanged');
      const nextContext = withDeviceResources(context, event.resources);
      enqueue.assign(nextContext);
      for (const uid of changedDeviceHealth(context, nextContext)) {
        const report = deviceReport(nextContext, uid);
        if (report !== undefined) enqueue.sendTo(parent<DeviceStatusReport>(), report);
      }
    }),
    choosePreferred: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'admission.devicesPreferred');
      const { type: _, preferred, ...key } = event;
      const choice = choosePreferredDevices(context, key, preferred);
      if (choice === undefined) return;
      enqueue.assign(choice.context);
      enqueue.sendTo(sharedActor('devices'), { type: 'devices.chosen', ...key, devices: choice.devices });
    }),
    recordDevices: assign(({ context, event }) => {
      assertEvent(event, 'admission.devicesAllocated');
      return withAllocatedDevices(context, event, event.edits);
    }),
    reallocateDevices: enqueueActions(({ context, event, enqueue, self }) => {
      assertEvent(event, 'admission.reallocateDevices');
      const result = withReallocation(context, event, reserveAgainAligned);
      const container = actorAt<ReallocationResult>(self, event.holder);
      if ('problem' in result) {
        if (container !== undefined) enqueue.sendTo(container, devicesRefusedEvent(result.problem, event.at));
      } else if (result.context === context) {
        if (container !== undefined) enqueue.sendTo(container, { type: 'container.devicesAllocated' });
      } else enqueue.assign(result.context);
    }),
    /**
     * Refuses a pod whose devices could not be allocated, and releases its resources. If the pod has already been
     * admitted and one of its containers needs devices again, the pod retains its resources, and only that container is
     * notified.
     */
    refuseForDevices: enqueueActions(({ context, event, enqueue, self }) => {
      assertEvent(event, 'admission.devicesFailed');
      const { uid, problem, at } = event;
      const pending = context.devices?.pending.find((each) => each.uid === uid);
      if (pending?.reallocation !== undefined) {
        enqueue.assign(withoutReallocation(context, pending));
        const container = actorAt<ReallocationResult>(self, pending.holder);
        if (container !== undefined) enqueue.sendTo(container, devicesRefusedEvent(problem, at));
        return;
      }
      const entry = findEntry(context, uid);
      if (pending === undefined || entry === undefined) return;
      const nextContext = withEntry(withoutResourcesOf(context, uid), { ...entry, allocated: null, holdsName: false });
      enqueue.assign(withRequeuedUpdates(nextContext, uid));
      const holder = actorAt<AdmissionResult>(self, pending.holder);
      if (holder !== undefined) enqueue.sendTo(holder, { type: 'admission.refused', ...deviceRefusal(problem) });
    }),
    /** Admits the pods whose device allocations are now durable. */
    confirmDevices: enqueueActions(({ context, event, enqueue, self }) => {
      assertEvent(event, 'admission.devicesSaved');
      const nextContext = withoutConfirmed(context, event.revision);
      enqueue.assign(nextContext);
      for (const request of context.devices?.pending ?? []) {
        const { uid, pod, reallocation } = request;
        if (nextContext.devices?.pending.some((each) => each.uid === uid)) continue;
        if (reallocation === undefined && isUnconfirmed(nextContext, uid)) continue;
        const result: Result =
          reallocation === undefined ? { type: 'admission.admitted', pod } : { type: 'container.devicesAllocated' };
        for (const message of resultMessages(self, nextContext, request, result))
          enqueue.sendTo(message.target, message.event);
      }
    }),
    /** Admits the pods whose CPU and memory assignments are now durable. */
    confirm: enqueueActions(({ context, event, enqueue, self }) => {
      assertEvent(event, ['admission.cpusSaved', 'admission.memorySaved']);
      const resource = event.type === 'admission.cpusSaved' ? 'cpus' : 'memory';
      const { context: nextContext, admitted } = withSaved(context, resource, event.revision);
      for (const request of admitted) {
        if (isUnconfirmed(nextContext, request.uid)) continue;
        const result: Result = { type: 'admission.admitted', pod: request.pod };
        for (const message of resultMessages(self, nextContext, request, result))
          enqueue.sendTo(message.target, message.event);
      }
      enqueue.assign(nextContext);
    }),
    releaseUnknown: assign(({ context, event }) => {
      assertEvent(event, 'admission.podsKnown');
      const knownUids = new Set(event.uids);
      return withoutResources(context, (uid) => !knownUids.has(uid));
    }),
    releaseInitMemory: assign(({ context, event }) => {
      assertEvent(event, 'admission.initialized');
      return withoutInitMemory(context, event.uid, event.containers);
    }),
    recordLeavingPod: assign(({ context, event }) => {
      assertEvent(event, 'admission.leave');
      const entry = findEntry(context, event.uid);
      return entry === undefined ? {} : withEntry(withoutRequests(context, entry.uid), { ...entry, desired: null });
    }),
    releaseAllButPorts: assign(({ context, event }) => {
      assertEvent(event, 'admission.containersStopped');
      const entry = findEntry(context, event.uid);
      if (entry === undefined) return {};
      const allocated = hostPortsOnly(entry.allocated);
      const remainingEntry = { ...entry, desired: null, allocated, occupied: undefined };
      const nextContext = withoutResourcesOf(context, entry.uid);
      return withRequeuedUpdates(withEntry(nextContext, remainingEntry), entry.uid);
    }),
    releaseResources: assign(({ context, event }) => {
      assertEvent(event, 'admission.releaseResources');
      const entry = findEntry(context, event.uid);
      if (entry === undefined) return {};
      const nextContext = withoutResourcesOf(context, entry.uid);
      return withRequeuedUpdates(
        withEntry(nextContext, { ...entry, allocated: null, occupied: undefined, isPreempted: false }),
        entry.uid,
      );
    }),
    recordCompletedResize: assign(({ context, event }) => {
      assertEvent(event, 'admission.resizeCompleted');
      return withCompletedResize(context, event.uid);
    }),
    recordNodeChange: assign(({ context, event }) => {
      assertEvent(event, 'admission.nodeChanged');
      const { capacity = context.capacity, node } = event;
      return { ...withRequeuedUpdates(context), capacity, node: { ...context.node, ...node } };
    }),
    removeEntry: assign(({ context, event }) => {
      assertEvent(event, 'admission.release');
      return withRequeuedUpdates(withoutEntry(withoutResourcesOf(context, event.uid), event.uid), event.uid);
    }),
  },
}).createMachine({
  id: 'admission',
  description: 'Admission on the node: decides on one pod at a time, in order of arrival.',
  meta: { facts },
  context: ({ input }) => ({ ...input, entries: [], waitingRequests: [], refusedUpdates: [], deferralCount: 0 }),
  initial: 'open',
  on: {
    'admission.request': { actions: ['recordRequest', 'decideRequests', 'reportDevices'] },
    'admission.addTerminating': { actions: ['recordTerminatingPod', 'decideRequests', 'reportDevices'] },
    'admission.leave': { actions: ['recordLeavingPod', 'decideRequests', 'reportDevices'] },
    'admission.containersStopped': { actions: ['releaseAllButPorts', 'decideRequests', 'reportDevices'] },
    'admission.releaseResources': { actions: ['releaseResources', 'decideRequests', 'reportDevices'] },
    'admission.resizeCompleted': { actions: ['recordCompletedResize', 'decideRequests', 'reportDevices'] },
    'admission.release': { actions: ['removeEntry', 'decideRequests', 'reportDevices'] },
    'admission.cpusSaved': { actions: 'confirm' },
    'admission.memorySaved': { actions: 'confirm' },
    'admission.initialized': { actions: ['releaseInitMemory', 'decideRequests', 'reportDevices'] },
    'admission.reallocateDevices': {
      actions: ['reallocateDevices', 'reportDevices'],
      meta: { coverageGap: NO_LOST_DEVICES },
    },
    'admission.devicesChanged': { actions: 'recordDeviceResources' },
    'admission.devicesPreferred': { actions: 'choosePreferred' },
    'admission.devicesAllocated': { actions: ['recordDevices', 'reportDevices'] },
    'admission.devicesFailed': { actions: ['refuseForDevices', 'decideRequests', 'reportDevices'] },
    'admission.devicesSaved': { actions: 'confirmDevices' },
    'admission.podsKnown': { actions: ['releaseUnknown', 'decideRequests', 'reportDevices'] },
    'admission.nodeChanged': { actions: ['recordNodeChange', 'decideRequests', 'reportDevices'] },
  },
  states: {
    open: {
      description: 'Requests are decided at once. The CPU, memory, ports and number of the admitted pods are recorded.',
      tags: 'steady',
      always: { guard: 'mustReadNode', target: 'readingNode', meta: { coverageGap: NODE_NEVER_DELETED } },
    },
    readingNode: {
      description:
        'The Node is read again before a pod is refused for labels alone, as a kubelet does, because a watch may lag behind a change of the labels.',
      tags: 'working',
      meta: { waitsFor: 'the API server to return the labels of the node', coverageGap: NODE_NEVER_DELETED },
      entry: 'startReadingNode',
      invoke: {
        src: 'readNode',
        input: null,
        onDone: { target: 'open', actions: ['recordNodeRead', 'decideRequests', 'reportDevices'] },
        // Decide with the labels that are already known, because reading the Node has failed.
        onError: { target: 'open', actions: ['recordNodeRead', 'decideRequests', 'reportDevices'] },
      },
    },
  },
});
