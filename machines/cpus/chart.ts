/**
 * Manages the CPUs of containers after admission has assigned them. Saves each change to the assignments before the
 * pods that need it are admitted, and updates running containers whose CPUs have changed
 * (`pkg/kubelet/cm/cpumanager/cpu_manager.go`). Exists only on nodes with the static CPU manager policy.
 */

import { assertEvent, assign, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import type { CpuAssignment, CpuAssignments } from '../../kubernetes/cpus/cpuPolicy.ts';
import { type CpuSet, formatCpuSet } from '../../kubernetes/cpus/cpuSet.ts';
import type { ContainerRun } from '../../kubernetes/lifecycle/observed.ts';
import { RARELY_TAKEN } from '../shared/coverageGaps.ts';
import type { CpusEvent, CpusReport } from '../shared/events/upkeepEvents.ts';
import { type PortTypes, port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent, sharedActor } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';

/** Time until another attempt to save the assignments, in milliseconds. */
const SAVE_RETRY_MS = 10_000;

// Type aliases rather than interfaces, because generated declaration files can inline an alias but can refer to an
// interface only by name.
export type CpusInput = {
  readonly assignments: CpuAssignments;
  /** CPUs that are never assigned exclusively. */
  readonly reserved: CpuSet;
  /** Interval between two checks of running containers, in milliseconds. */
  readonly reconcileMs: number;
};

export type CpusContext = CpusInput & {
  /** Revision number of the latest assignments. Revision 0 denotes the persisted assignments. */
  readonly revision: number;
  readonly containers: readonly ContainerRun[];
  /** Number of containers that were updated since the agent started. */
  readonly updateCount: number;
  readonly failure?: Failure | undefined;
};

/** Returns the output of `reconcileCpus`, or no updates for any other event. */
const reconcileOutput = (event: object): PortTypes['reconcileCpus']['output'] =>
  // Safe cast: the guards and actions that call this function belong to transitions of `reconcileCpus`.
  'output' in event ? (event.output as PortTypes['reconcileCpus']['output']) : { updatedCount: 0 };

/** Formats the exclusive CPUs of a container, e.g. `1-2 for default/web, container app`. */
const assignmentText = ({ pod, podUid, container, cpus }: CpuAssignment): string =>
  `${formatCpuSet(cpus)} for ${pod ?? `pod ${podUid}`}, container ${container}`;

const facts = ({ snapshot: { context } }: ActorInfo<CpusContext>) => {
  const { assignments, reserved, updateCount } = context;
  return {
    facts: [
      `shared CPUs ${formatCpuSet(assignments.shared)}`,
      `reserved CPUs ${formatCpuSet(reserved)}`,
      `${updateCount} updates of running containers`,
    ],
    lists: { 'exclusive CPUs': assignments.exclusive.map(assignmentText) },
  };
};

export const cpusMachine = setup({
  types: {
    input: {} as CpusInput,
    context: {} as CpusContext,
    events: {} as CpusEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
  },
  actors: { saveCpus: port('saveCpus'), reconcileCpus: port('reconcileCpus'), timer: timerPort() },
  guards: { hasContainers: ({ event }) => event.type === 'cpus.listed' && event.containers.length > 0 },
  actions: {
    recordAssignments: assign(({ event }) => {
      assertEvent(event, 'cpus.assigned');
      return { assignments: event.assignments, revision: event.revision };
    }),
    confirm: sendTo(sharedActor('admission'), ({ context }) => ({
      type: 'admission.cpusSaved',
      revision: context.revision,
    })),
    listContainers: sendTo(parent<CpusReport>(), { type: 'cpus.requested' }),
    recordContainers: assign(({ event }) => {
      assertEvent(event, 'cpus.listed');
      return { containers: event.containers };
    }),
    recordUpdates: assign(({ context, event }) => {
      return { updateCount: context.updateCount + reconcileOutput(event).updatedCount, failure: undefined };
    }),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
  },
}).createMachine({
  id: 'cpus',
  description: 'The exclusive CPUs of containers, and the CPUs that all others share.',
  meta: {
    facts,
    deadlines: ({ since, snapshot: { context } }: ActorInfo<CpusContext>) => ({ retryAt: since + context.reconcileMs }),
  },
  context: ({ input }) => ({ ...input, revision: 0, containers: [], updateCount: 0 }),
  // Start by saving and reconciling, because other containers must move off newly exclusive CPUs, and a new agent does
  // not know which CPUs the containers have.
  initial: 'saving',
  on: { 'cpus.assigned': { target: '.saving', actions: 'recordAssignments' } },
  states: {
    saving: {
      description: 'The assignments are written to disk. Pods with new exclusive CPUs are admitted afterwards.',
      tags: 'working',
      meta: { waitsFor: 'the CPU assignments to be saved' },
      invoke: {
        src: 'saveCpus',
        input: ({ context }) => ({ assignments: context.assignments }),
        onDone: { target: 'listing', actions: 'confirm' },
        onError: { target: 'awaitingSave', actions: 'recordFailure' },
      },
    },
    awaitingSave: {
      description: 'The assignments could not be written. Pods with new exclusive CPUs wait.',
      tags: 'retrying',
      meta: { waitsFor: 'another attempt to save the CPU assignments', afterMs: SAVE_RETRY_MS },
      invoke: after(SAVE_RETRY_MS),
      on: { 'timer.elapsed': 'saving' },
    },
    waiting: {
      description: 'The CPUs of running containers are checked again after an interval.',
      tags: 'steady',
      meta: { waitsFor: 'the next check of the CPUs of running containers', until: 'retryAt' },
      invoke: after(({ reconcileMs }: CpusContext) => reconcileMs),
      on: { 'timer.elapsed': 'listing' },
    },
    listing: {
      description: 'The node lists its running containers.',
      tags: 'working',
      meta: { waitsFor: 'the node to list its running containers' },
      entry: 'listContainers',
      on: {
        'cpus.listed': [
          { guard: 'hasContainers', target: 'reconciling', actions: 'recordContainers' },
          { target: 'waiting', actions: 'recordContainers' },
        ],
      },
    },
    reconciling: {
      description: 'Running containers whose CPUs have changed are updated.',
      tags: 'working',
      meta: { waitsFor: 'the CPUs of running containers to be updated' },
      invoke: {
        src: 'reconcileCpus',
        input: ({ context }) => ({ containers: context.containers }),
        onDone: { target: 'waiting', actions: 'recordUpdates' },
        // Failed updates of containers are retried at the next check.
        onError: { target: 'waiting', actions: 'recordFailure', meta: { coverageGap: RARELY_TAKEN } },
      },
    },
  },
});
