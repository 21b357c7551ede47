/** The way to a sandbox that the pod can live in: the one that it has, or a new one (C8). A part of the chart in chart.ts. */
import { and, assign } from 'xstate';
import { slotKey } from '../../container/context.ts';
import { served } from '../../shared/actorRefs.ts';
import { failureOf } from '../../shared/failure.ts';
import { killFailed } from '../../shared/failureEvents.ts';
import { command, containerId } from '../commands.ts';
import { mayRun } from '../context.ts';
import { recordNewSandboxEvent, sandboxUnreadable } from '../recordedEvents.ts';
import { endedByRestartOfAll } from '../restartedAll.ts';
import { allSandboxes, decideSandbox, showsUnknownContainers } from '../sandbox.ts';
import { type PodArgs, podSetup, takeUpdate } from '../setup.ts';
import { afterInits, earlierTurns, onTheirWay } from '../startOrder.ts';
import { creatingSandbox, creatingSandboxImplementations } from './creatingSandbox.ts';

const guards = {
  keepsSandbox: ({ context }: PodArgs) => decideSandbox(context) === 'keep',
  hasRunning: ({ context: { observed } }: PodArgs) => observed.containers.some(mayRun),
  showsUnknownContainers: ({ context }: PodArgs) => showsUnknownContainers(context),
  hasSandboxes: ({ context }: PodArgs) => allSandboxes(context).length > 0,
};

const actions = {
  /** Their actors have made nothing yet: others that know what the runtime shows take their places. */
  forgetContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    for (const name of Object.keys(context.containers)) {
      const key = slotKey({ pod: context.allocated, name }, 'pull');
      enqueue.stopChild(containerId(name));
      enqueue.sendTo(served('pullLimiter'), { type: 'slot.release', key });
    }
    enqueue.stopChild('pace');
    enqueue.assign({ containers: {}, turnsGiven: [], queued: undefined });
  }),
  /** What an exit that restarts all has left to do is done before the next sandbox is there: in that one all are new (C5). */
  resetForRestart: podSetup.enqueueActions(({ context, enqueue }) => {
    command(enqueue, context, [{ names: endedByRestartOfAll(context), event: { type: 'container.reset' } }]);
  }),
  /** After a restart of the agent. Of an init container that had been done and collected nothing more is wanted. */
  recallTurns: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = earlierTurns(context);
    const isThere = (name: string) => context.observed.containers.some((shown) => shown.name === name);
    const again = names.filter((name) => isThere(name) || afterInits(context).includes(name));
    command(enqueue, context, [{ names: again, event: { type: 'container.start' } }]);
    enqueue.assign({ turnsGiven: names, containers: onTheirWay(context, again) });
  }),
};

export const sandboxingImplementations = { guards, actions };
const sandboxingSetup = podSetup.extend(creatingSandboxImplementations).extend(sandboxingImplementations);

export const sandboxing = sandboxingSetup.createStateConfig({
  tags: 'settingUp',
  initial: 'deciding',
  on: { 'admission.admitted': { actions: takeUpdate } },
  states: {
    /** Which sandbox, by what the runtime shows (C8). */
    deciding: {
      tags: ['working', 'withoutContainers'],
      always: [
        { guard: 'keepsSandbox', target: 'adopting' },
        // All has run that ever will: what is left of it ends, and tells how it ended.
        { guard: 'needsNoSandbox', target: '#pod.terminating.beginning', actions: ['recallStart', 'complete'] },
        // How what runs there has to end is known once the runtime has told of its sandbox.
        { guard: and(['hasSandboxes', 'hasRunning']), target: 'adopting' },
        { guard: 'hasSandboxes', target: 'clearing', actions: ['loseSandbox', recordNewSandboxEvent] },
        { target: 'creatingSandbox' },
      ],
    },
    adopting: {
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'the runtime to report its sandbox' },
      invoke: {
        src: 'inspectSandbox',
        input: ({ context: { observed } }) => {
          const [sandbox] = observed.sandboxes;
          return { id: sandbox?.id ?? '', sandbox };
        },
        onDone: [
          {
            guard: { type: 'isStillSound', params: ({ event }) => event.output },
            target: '#pod.active',
            actions: [
              assign(({ event }) => ({ sandbox: event.output ?? undefined, attempt: event.output?.attempt ?? 0 })),
              'spawnContainers',
              'announceSandbox',
              'recallTurns',
            ],
          },
          {
            guard: 'hasRunning',
            target: '#pod.resetting.draining',
            actions: [
              assign(({ event }) => ({ sandbox: event.output ?? undefined })),
              'spawnContainers',
              'resetForRestart',
              { type: 'revokeSandbox', params: ({ event }) => event.output },
              'loseSandbox',
            ],
          },
          { target: 'clearing', actions: ['loseSandbox', recordNewSandboxEvent] },
        ],
        onError: {
          target: 'awaitingRetry',
          actions: [
            'recordFailure',
            { type: 'recordEvent', params: ({ event }) => sandboxUnreadable(failureOf(event)) },
          ],
        },
      },
    },
    clearing: {
      tags: ['working', 'withoutContainers'],
      meta: { waitsFor: 'its old sandbox to stop' },
      invoke: {
        src: 'stopSandboxes',
        input: ({ context }) => ({ pod: context.allocated, ids: context.stale }),
        // Its dead containers are kept for their logs; the node's garbage collection removes it after them.
        onDone: { target: 'creatingSandbox', actions: assign({ stale: [] }) },
        onError: {
          target: 'awaitingRetry',
          actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => killFailed(failureOf(event)) }],
        },
      },
    },
    creatingSandbox,
    /** It was made and is of no use: without an address, or for a network mode that the pod does not want any more. */
    unfit: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to create its sandbox (the last one was unusable)', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': { target: 'clearing', actions: recordNewSandboxEvent } },
    },
    awaitingCreateRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to create its sandbox', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': [
          // One that an earlier agent has made, and that the first list did not show.
          { guard: 'showsUnknownContainers', target: 'deciding', actions: 'forgetContainers' },
          { target: 'creatingSandbox' },
        ],
        'runtime.returned': [
          { guard: 'failedForRuntime', target: 'creatingSandbox', actions: 'passOnReturn' },
          { actions: 'passOnReturn' },
        ],
      },
    },
    awaitingRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to ask the runtime about its sandbox', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': 'deciding', 'runtime.returned': 'deciding' },
    },
  },
});
