/** Runs a pod that has a sandbox, starting its containers in order. Part of the chart in chart.ts. */
import { assertEvent } from 'xstate';
import { isSidecar } from '../../../kubernetes/api/pods/containers.ts';
import { sharedActor } from '../../shared/views/actorRefs.ts';
import { censusOf, withLifecycles } from '../containers/census.ts';
import { containerId, sendCommands, withoutCommandsTo } from '../containers/commands.ts';
import { isRoundOver, newRound, nextContainerToLaunch } from '../containers/launchOrder.ts';
import {
  areAllContainersReset,
  containersAfterInits,
  hasTurnPassed,
  haveAllInitsStarted,
  newEphemeralContainers,
  nextInitName,
  restartableNames,
  startedEphemeralContainers,
  wasInitialized,
  withStartingContainers,
} from '../containers/startOrder.ts';
import { areVolumesSettled, type PodContext } from '../context.ts';
import { shouldVerifySandbox } from '../sandbox.ts';
import { admittedUpdateActions, type PodArgs, podSetup } from '../setup.ts';
import { awaitingResize, resizeTransitions, resizing, resizingImplementations } from './resizing.ts';

/**
 * Returns the containers that an update removed from the running pod. If a later spec contains such a container again,
 * the container gets a new actor.
 */
const removedContainers = (context: PodContext): ReadonlySet<string> => censusOf(context).namesIn('removed');

const guards = {
  wasInitialized: ({ context }: PodArgs) => wasInitialized(context),
  canStartNextInit: ({ context }: PodArgs) => hasTurnPassed(context) && nextInitName(context) !== undefined,
  isInitializationComplete: ({ context }: PodArgs) => hasTurnPassed(context) && haveAllInitsStarted(context),
  /** Whether the spec has containers without an actor, and all volumes that the pod must wait for are settled. */
  hasNewContainers: ({ context }: PodArgs) => censusOf(context).missingActorCount > 0 && areVolumesSettled(context),
  hasNewEphemeralContainers: ({ context }: PodArgs) => newEphemeralContainers(context).length > 0,
  hasRemovedContainers: ({ context }: PodArgs) => removedContainers(context).size > 0,
  isLaunchRoundOver: ({ context }: PodArgs) => isRoundOver(context),
  isLaunchDue: ({ context }: PodArgs) => nextContainerToLaunch(context) !== undefined,
  mustRestartAllContainers: ({ context }: PodArgs) => censusOf(context).namesIn('restartsAll').size > 0,
  areAllContainersReset: ({ context }: PodArgs) => areAllContainersReset(context),
  mustVerifySandbox: ({ context, event }: PodArgs) => {
    assertEvent(event, 'runtime.podObserved');
    return shouldVerifySandbox(context, event.pod);
  },
};

const actions = {
  restartInitialization: podSetup.assign(({ context }) => ({
    isRestartingAll: undefined,
    isInitialized: false,
    launchRound: [],
    turnsTaken: startedEphemeralContainers(context),
  })),
  markInitialized: podSetup.assign({ isInitialized: true }),
  /** Releases the memory assigned to the init containers, which have completed. Sidecars continue to run. */
  releaseInitMemory: podSetup.enqueueActions(({ context: { allocated }, enqueue, system }) => {
    if (system.get('memoryManager') === undefined) return;
    const containers = (allocated.spec.initContainers ?? []).filter((each) => !isSidecar(each)).map(({ name }) => name);
    if (containers.length === 0) return;
    enqueue.sendTo(sharedActor('admission'), {
      type: 'admission.initialized',
      uid: allocated.metadata.uid,
      containers,
    });
  }),
  startLaunchRound: podSetup.assign(({ context }) => ({ launchRound: newRound(context) })),
  startNextInit: podSetup.enqueueActions(({ context, enqueue }) => {
    const name = nextInitName(context);
    if (name === undefined) return;
    sendCommands(enqueue, context, [{ names: [name], event: { type: 'container.start' } }]);
    enqueue.assign({ turnsTaken: [...context.turnsTaken, name], containers: withStartingContainers(context, [name]) });
  }),
  /** Starts new ephemeral containers. They need only the sandbox, and their exit has no effect on the pod. */
  startEphemeralContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = newEphemeralContainers(context);
    sendCommands(enqueue, context, [{ names, event: { type: 'container.start' } }]);
    enqueue.assign({
      turnsTaken: [...context.turnsTaken, ...names],
      containers: withStartingContainers(context, names),
    });
  }),
  /** Restarts every container except the ephemeral ones in the current sandbox. */
  resetContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    sendCommands(enqueue, context, [{ names: restartableNames(context), event: { type: 'container.reset' } }]);
    enqueue.assign({ isRestartingAll: true });
  }),
  /** Starts the regular containers. The command has no effect on a container that has already received it. */
  startRegularContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    const names = containersAfterInits(context);
    sendCommands(enqueue, context, [{ names, event: { type: 'container.start' } }]);
    enqueue.assign({ containers: withStartingContainers(context, names) });
  }),
  /**
   * Launches the next container. Immediately marks it as launching, before its actor reports this, so that only one
   * container is launched at a time.
   */
  launchNextContainer: podSetup.enqueueActions(({ context, enqueue }) => {
    const name = nextContainerToLaunch(context);
    if (name === undefined) return;
    sendCommands(enqueue, context, [{ names: [name], event: { type: 'container.launch' } }]);
    enqueue.assign({
      containers: withLifecycles(context, new Map([[name, 'launching' as const]])),
      launchRound: context.launchRound.filter((each) => each !== name),
    });
  }),
  forgetRemovedContainers: podSetup.enqueueActions(({ context, enqueue }) => {
    const removedNames = new Set(removedContainers(context));
    enqueue.assign({ queued: withoutCommandsTo(context.queued, removedNames) });
    for (const name of removedNames) enqueue.stopChild(containerId(name));
    const remainingContainers = Object.entries(context.containers).filter(([name]) => !removedNames.has(name));
    enqueue.assign({ containers: Object.fromEntries(remainingContainers) });
  }),
};

export const activeImplementations = { guards, actions };

/** Launches the containers in rounds, one at a time (C9). */
const launchTransitions = [
  { guard: 'isLaunchRoundOver', actions: 'startLaunchRound' },
  { guard: 'isLaunchDue', actions: 'launchNextContainer' },
] as const;
const activeSetup = podSetup.extend(resizingImplementations).extend(activeImplementations);

export const active = activeSetup.createStateConfig({
  description: 'The pod has its sandbox, and its containers start in order and run.',
  tags: 'active',
  meta: { region: 'run' },
  initial: 'choosing',
  on: {
    'runtime.podObserved': [
      { guard: 'mustVerifySandbox', target: 'resetting', actions: 'recordObservedPod' },
      { actions: 'recordObservedPod' },
    ],
    'container.notFound': 'resetting',
    'admission.admitted': [
      {
        guard: 'changesNetworkMode',
        target: 'resetting',
        actions: admittedUpdateActions,
      },
      { actions: admittedUpdateActions },
    ],
  },
  always: [
    { guard: 'hasRemovedContainers', actions: 'forgetRemovedContainers' },
    // Ephemeral containers can be added at any time, even before the init containers have completed.
    {
      guard: 'hasNewEphemeralContainers',
      actions: 'startEphemeralContainers',
      meta: { coverageGap: { reason: 'no story adds ephemeral containers; tested on its machine' } },
    },
  ],
  states: {
    resumed: {
      description:
        'The sandbox still exists. The pod returns to the state before it was verified, because the runtime does not show how far a restart of all containers has come.',
      type: 'history',
    },
    choosing: {
      description: 'It is decided whether init containers still have to run.',
      tags: 'working',
      always: [{ guard: 'wasInitialized', target: 'running' }, { target: 'initializing' }],
    },
    initializing: {
      description: 'Init containers run one after the other, each until it completes. Sidecars continue to run.',
      meta: { rules: ['C3', 'C4'] },
      initial: 'steady',
      always: [
        { guard: 'mustRestartAllContainers', target: 'restartingAll', actions: 'resetContainers' },
        { guard: 'isComplete', target: '#pod.terminating.startingGracePeriod', actions: 'recordPodCompletion' },
        { guard: 'hasNewContainers', actions: 'spawnContainers' },
        { guard: 'isInitializationComplete', target: 'running' },
        { guard: 'canStartNextInit', actions: 'startNextInit' },
        ...launchTransitions,
      ],
      states: {
        steady: {
          description: 'An init container runs, or a sidecar starts up.',
          tags: 'working',
          meta: { waitsFor: 'its init containers to complete' },
          always: resizeTransitions,
        },
        resizing,
        awaitingResize,
      },
    },
    restartingAll: {
      description:
        'The restart rule of a container restarts all of them in place. The pod retains its sandbox, address and volumes, and continues once all have stopped.',
      tags: 'working',
      meta: { waitsFor: 'all its containers to stop before they restart', rules: ['C5'] },
      always: { guard: 'areAllContainersReset', target: 'initializing', actions: 'restartInitialization' },
    },
    running: {
      description: 'All containers run, each by its own restart policy.',
      meta: { rules: ['C9'] },
      entry: ['markInitialized', 'releaseInitMemory', 'startRegularContainers'],
      initial: 'steady',
      always: [
        { guard: 'mustRestartAllContainers', target: 'restartingAll', actions: 'resetContainers' },
        { guard: 'isComplete', target: '#pod.terminating.startingGracePeriod', actions: 'recordPodCompletion' },
        { guard: 'hasNewContainers', actions: ['spawnContainers', 'startRegularContainers'] },
        ...launchTransitions,
      ],
      states: {
        steady: {
          description: 'The pod runs as its spec says, and rests until something changes.',
          tags: 'steady',
          always: resizeTransitions,
        },
        resizing,
        awaitingResize,
      },
    },
  },
});
