/**
 * Persists the memory assignments that admission made, before the pods are admitted
 * (`pkg/kubelet/cm/memorymanager/memory_manager.go`). Exists only on nodes with the Static memory manager policy.
 */
import { assertEvent, assign, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { describeMemoryNode, describeMemoryOf } from '../../kubernetes/numaMemory/explainMemory.ts';
import type { MemoryAssignments } from '../../kubernetes/numaMemory/memoryAssignments.ts';
import type { MemoryManagerEvent } from '../shared/events/upkeepEvents.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';

/** Time until another attempt to save the assignments, in milliseconds. */
const SAVE_RETRY_MS = 10_000;

export type MemoryManagerInput = {
  readonly assignments: MemoryAssignments;
};

export type MemoryManagerContext = MemoryManagerInput & {
  /** Revision number of the latest assignments. Revision 0 denotes the persisted assignments. */
  readonly revision: number;
  readonly failure?: Failure | undefined;
};

const facts = ({ snapshot: { context } }: ActorInfo<MemoryManagerContext>) => {
  const { nodes, containers } = context.assignments;
  return {
    facts: nodes.map(describeMemoryNode),
    lists: { 'memory of containers': containers.flatMap(describeMemoryOf) },
  };
};

export const memoryManagerMachine = setup({
  types: {
    input: {} as MemoryManagerInput,
    context: {} as MemoryManagerContext,
    events: {} as MemoryManagerEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { saveMemory: port('saveMemory'), timer: timerPort() },
  actions: {
    recordAssignments: assign(({ event }) => {
      assertEvent(event, 'memory.assigned');
      return { assignments: event.assignments, revision: event.revision };
    }),
    confirm: sendTo(sharedActor('admission'), ({ context }) => ({
      type: 'admission.memorySaved',
      revision: context.revision,
    })),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    clearFailure: assign({ failure: undefined }),
  },
}).createMachine({
  id: 'memoryManager',
  description: 'The memory of NUMA nodes that containers have to themselves.',
  meta: { facts },
  context: ({ input }) => ({ ...input, revision: 0 }),
  // Start by saving, because the file may not exist yet.
  initial: 'saving',
  on: { 'memory.assigned': { target: '.saving', actions: 'recordAssignments' } },
  states: {
    saving: {
      description: 'The assignments are written to disk. Pods with memory of their own are admitted afterwards.',
      tags: 'working',
      meta: { waitsFor: 'the memory assignments to be saved' },
      invoke: {
        src: 'saveMemory',
        input: ({ context }) => ({ assignments: context.assignments }),
        onDone: { target: 'saved', actions: ['clearFailure', 'confirm'] },
        onError: { target: 'awaitingSave', actions: 'recordFailure' },
      },
    },
    awaitingSave: {
      description: 'The assignments could not be written. Pods with memory of their own wait.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to save the memory assignments', afterMs: SAVE_RETRY_MS },
      invoke: after(SAVE_RETRY_MS),
      on: { 'timer.elapsed': 'saving' },
    },
    saved: {
      description: 'The assignments on disk are those of all admitted pods.',
      tags: 'steady',
    },
  },
});
