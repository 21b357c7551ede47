/** The way to a sandbox that the pod can live in: the one that it has, or a new one (C8). A part of the chart in chart.ts. */
import { and, assign, not } from 'xstate';
import { failureOf } from '../../shared/failure.ts';
import { networkFailure, unfit } from '../context.ts';
import {
  asFailed,
  killFailed,
  recordDeadlineEvent,
  recordExceededGraceEvent,
  recordNewSandboxEvent,
  recordTerminationEvent,
  sandboxUnreadable,
} from '../recordedEvents.ts';
import { podSetup } from '../setup.ts';

/** A kubelet says it every second, which soon uses up what its own filter lets a pod tell of itself. */
const TOLD_AGAIN_MS = 10_000;

export const sandboxing = podSetup.createStateConfig({
  tags: 'settingUp',
  initial: 'deciding',
  on: { 'admission.admitted': { actions: ['applyUpdate', 'updateVolumes', 'spawnVolumes'] } },
  states: {
    /** Which sandbox, by what the runtime shows (C8). */
    deciding: {
      tags: ['working', 'withoutContainers'],
      always: [
        { guard: 'keepsSandbox', target: 'adopting' },
        // All has run that ever will: what is left of it ends, and tells how it ended.
        { guard: 'needsNoSandbox', target: '#pod.terminating', actions: ['initialize', 'complete'] },
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
        input: ({ context }) => ({ id: context.observed.sandboxes[0]?.id ?? '' }),
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
    creatingSandbox: {
      entry: ['spawnContainers', 'startFirst'],
      exit: 'releaseSlot',
      initial: 'choosing',
      states: {
        choosing: {
          tags: 'working',
          always: [{ guard: 'lacksNetwork', target: 'awaitingNetwork' }, { target: 'queued' }],
        },
        /** Its return is told; meanwhile the pod's author hears again and again that it is still away. */
        awaitingNetwork: {
          tags: 'waiting',
          meta: { waitsFor: 'the network of the container runtime' },
          entry: [
            assign(({ context }) => ({ failure: networkFailure(context) })),
            { type: 'recordEvent', params: ({ context }) => asFailed(networkFailure(context)) },
          ],
          invoke: { src: 'timer', input: { after: TOLD_AGAIN_MS } },
          always: { guard: not('lacksNetwork'), target: 'queued' },
          on: { 'timer.elapsed': { target: 'awaitingNetwork', reenter: true } },
        },
        queued: {
          tags: 'waiting',
          meta: { waitsFor: 'a start slot' },
          entry: 'requestSlot',
          on: { 'slot.granted': 'running' },
        },
        running: {
          tags: 'working',
          meta: { waitsFor: 'its sandbox to be created' },
          invoke: {
            src: 'runSandbox',
            input: ({ context }) => ({ pod: context.allocated, attempt: context.attempt }),
            onDone: [
              {
                guard: 'mustEnd',
                target: '#pod.terminating',
                actions: assign(({ event }) => ({ sandbox: event.output })),
              },
              {
                guard: { type: 'isUnfit', params: ({ event }) => event.output },
                target: '#pod.sandboxing.unfit',
                actions: [
                  assign(({ context, event }) => ({ sandbox: event.output, ...unfit(context, event.output) })),
                  'loseSandbox',
                ],
              },
              {
                target: '#pod.active',
                actions: [
                  assign(({ event }) => ({ sandbox: event.output, failure: undefined })),
                  { type: 'recordEvent', params: ({ event }) => event.output.warnings ?? [] },
                  'announceSandbox',
                ],
              },
            ],
            onError: [
              { guard: 'mustEnd', target: '#pod.terminating' },
              {
                target: '#pod.sandboxing.awaitingCreateRetry',
                actions: ['recordFailure', { type: 'recordEvent', params: ({ event }) => asFailed(failureOf(event)) }],
              },
            ],
          },
          // The call is awaited: what it makes must be known to be removed.
          on: {
            'pod.terminate': { actions: ['recordTermination', recordTerminationEvent] },
            'pod.deadlineExceeded': [
              { guard: and(['mustEnd', 'isDeadlineOver']), actions: recordExceededGraceEvent },
              { guard: 'mustEnd' },
              { actions: ['exceedDeadline', recordDeadlineEvent] },
            ],
          },
        },
      },
    },
    /** It was made and is of no use: without an address, or for a network mode that the pod does not want any more. */
    unfit: {
      tags: 'waiting',
      meta: { waitsFor: 'another attempt to create its sandbox, as the last one was unusable', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: { 'timer.elapsed': { target: 'clearing', actions: recordNewSandboxEvent } },
    },
    awaitingCreateRetry: {
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to create its sandbox', until: 'retryAt' },
      invoke: { src: 'timer', input: ({ context }) => ({ until: context.retryAt }) },
      on: {
        'timer.elapsed': 'creatingSandbox',
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
