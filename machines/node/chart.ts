/** The node: routes what the sources and the runtime tell to the pod it concerns, and decides nothing about a pod. */
import type { LimiterInput } from '../limiter/chart.ts';
import type { NodeEvent } from '../shared/events.ts';
import { admissionNode, recordReadinessEvent } from './context.ts';
import { facts, moments } from './facts.ts';
import { newPleg } from './pleg.ts';
import { nodeSetup, sinkId } from './setup.ts';
import { concerned } from './wanted.ts';

/** So long the runtime has to be listed when the node is told to stop before that. */
const RUNTIME_LIST_MS = 5_000;
/** How often a kubelet looks at the sizes of logs. */
const LOG_CHECK_MS = 10_000;
/** A start that hangs, as at a volume that does not answer, holds up those of other pods for so long and no longer. */
const SLOW_START_MS = 10_000;

/** Only the pods that the event is about are looked at: there may be hundreds of others. */
const its = { params: ({ event }: { event: NodeEvent }) => ({ uids: concerned(event) }) };
const endItsOrphan = { type: 'endOrphans', ...its } as const;
const startIt = { type: 'startNewPods', ...its } as const;
/** What follows from a word of a source; while another source has not spoken an orphan may be its pod. */
const sourceChanged = ['recordSource', { type: 'endUnwanted', ...its }, { type: 'passOnEdits', ...its }] as const;

export const nodeAgentMachine = nodeSetup.createMachine({
  id: 'nodeAgent',
  description: 'The node: it learns what runs and what is wanted, runs the pods, and drains.',
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
      input: { capacity: input.capacity, node: admissionNode(input) },
    });
    return {
      ...input,
      sinks: sinks.map((sink) => spawn('statusSink', { id: sinkId(sink.name), input: sink }) && sink.name),
      desired: {},
      sourceStates: {},
      problems: {},
      warnings: {},
      unread: [],
      pleg: newPleg,
      taken: input.left.flatMap(({ uid, isTaken }) => (isTaken ? [uid] : [])),
      pods: {},
      health: { since: 0, ready: false, name: '', version: '', message: 'it has not answered yet' },
      tickets: 0,
      drainAt: 0,
      heardAt: 0,
      broken: [],
    };
  },
  invoke: [
    { src: 'runtimeHealth' },
    { src: 'pleg' },
    { src: 'sources' },
    { src: 'nodeFacts' },
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
    'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved'] },
    'runtime.containerSeen': { actions: 'routeContainer' },
    'node.factsChanged': { actions: ['recordFact', 'passOnFacts'] },
    'runtime.plegChanged': { actions: 'recordFact' },
    'status.changed': { actions: 'routeStatus' },
    'logs.asked': { actions: 'answerLogs' },
    'runtime.healthChanged': [
      { guard: 'hasReturned', actions: ['recordHealth', 'announceReturn', recordReadinessEvent] },
      { guard: 'hasGone', actions: ['recordHealth', recordReadinessEvent] },
      { actions: 'recordHealth' },
    ],
    'admission.preempting': { actions: 'preempt' },
    'node.drain': { target: '.draining', actions: 'recordFact' },
    'xstate.done.actor.*': [
      { guard: 'isGone', actions: ['forgetPod', 'forgetSeen'] },
      { actions: ['keepBroken', 'forgetPod'] },
    ],
    'node.ticked': { actions: 'recordFact' },
    'xstate.error.actor.*': [
      { guard: 'isOfPod', actions: ['keepBroken', 'forgetPod', 'leaveLimiters'] },
      { target: '.broken', actions: 'recordFault' },
    ],
  },
  states: {
    /** Until the runtime has told its name and been listed once. */
    starting: {
      tags: ['working', 'beginning'],
      meta: { waitsFor: 'the runtime to list its pods and containers' },
      entry: { type: 'recordEvent', params: { reason: 'Starting', message: 'Starting kubelet.' } },
      always: { guard: 'isRuntimeSeen', target: 'recovering' },
      on: { 'node.drain': { target: 'leaving', actions: 'recordFact' } },
    },
    /** It is to stop before it knows what runs: what nobody tells it of in time it can not end. */
    leaving: {
      tags: ['working', 'ending'],
      meta: { waitsFor: 'the runtime to list the pods and containers to stop', afterMs: RUNTIME_LIST_MS },
      invoke: { src: 'timer', input: { after: RUNTIME_LIST_MS } },
      always: { guard: 'isRuntimeSeen', target: 'draining' },
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
    /** A source cannot be read: the others' pods run, and nothing of which that one has the say is ended. */
    partial: {
      tags: ['retrying', 'active'],
      meta: { waitsFor: 'a pod source that is not readable yet and may own running pods' },
      entry: ['holdPlaces', 'startNewPods'],
      always: { guard: 'haveSourcesSpoken', target: 'running' },
      on: {
        'config.podsListed': { actions: [...sourceChanged, startIt] },
        'config.podChanged': { actions: [...sourceChanged, startIt] },
        'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved', 'holdPlaces'] },
        'node.ticked': { actions: ['recordFact', 'startNewPods'] },
        'xstate.done.actor.*': [
          { guard: 'isGone', actions: ['forgetPod', 'forgetSeen', startIt] },
          { actions: ['keepBroken', 'forgetPod'] },
        ],
      },
    },
    running: {
      tags: ['steady', 'active'],
      entry: ['endOrphans', 'startNewPods'],
      // A fault of its own ends it alone: nothing else needs what it does.
      invoke: {
        src: 'garbage',
        id: 'garbage',
        input: ({ context }) => ({ nodeName: context.nodeName }),
        onError: {},
      },
      on: {
        'config.podsListed': { actions: [...sourceChanged, endItsOrphan, startIt] },
        'config.podChanged': { actions: [...sourceChanged, endItsOrphan, startIt] },
        'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved', endItsOrphan] },
        'garbage.asked': { actions: 'answerGarbage' },
        'garbage.podsFound': { actions: ['recordFact', 'endOrphans'] },
        // A pod that was wanted again while it still ended, or whose actor broke, starts over.
        'node.ticked': { actions: ['recordFact', 'endOrphans', 'startNewPods'] },
        'xstate.done.actor.*': [
          { guard: 'isGone', actions: ['forgetPod', 'forgetSeen', startIt] },
          { actions: ['keepBroken', 'forgetPod'] },
        ],
      },
    },
    draining: {
      tags: ['working', 'ending', 'draining'],
      meta: { waitsFor: 'its pods to end', until: 'deadline' },
      entry: ['endAll', 'endStranded'],
      always: { guard: 'hasNoPods', target: 'stopped' },
      on: {
        'node.drain': { actions: 'endAll' },
        'runtime.podsObserved': { actions: ['recordObserved', 'routeObserved', 'endStranded'] },
        'node.ticked': { actions: ['recordFact', 'endStranded'] },
        'xstate.done.actor.*': [
          { guard: 'isGone', actions: ['forgetPod', 'forgetSeen'] },
          { actions: ['keepForEnd', 'forgetPod'] },
        ],
        'xstate.error.actor.*': [
          { guard: 'isOfPod', actions: ['keepForEnd', 'forgetPod', 'leaveLimiters'] },
          { target: 'broken', actions: 'recordFault' },
        ],
      },
    },
    stopped: { tags: ['done', 'ending'], type: 'final' },
    /** A limiter or admission is no more: better no node agent than one that decides without them. */
    broken: { tags: 'broken', type: 'final' },
  },
});
