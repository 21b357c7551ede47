/** The words of a pod's chart: its ports, children, guards and actions. The chart itself is in pod.ts. */
import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { claimsOf } from '../pod/claims.ts';
import { containersOf } from '../pod/containers.ts';
import type { ObservedSandbox } from '../pod/observed.ts';
import { fullName } from '../pod/staticPod.ts';
import { containerMachine } from './container.ts';
import type { ContainerEvent, PodEvent } from './events.ts';
import { failureOf, isRuntimeAway, retryAfter } from './failure.ts';
import { actualClaims, isActualStale, presentNames } from './podActual.ts';
import {
  allSandboxes,
  areVolumes,
  deadlineOf,
  decideSandbox,
  departed,
  firstTurn,
  fits,
  hasNewcomers,
  hasNoProcess,
  hasTurnPassed,
  hostPaths,
  initNames,
  initsAnew,
  isComplete,
  isLastTurn,
  isQuiet,
  isReplaced,
  lacksSandbox,
  mergeTermination,
  nextInit,
  nextSandbox,
  type PodContext,
  type PodInput,
  vanished,
  wasInitialized,
  withContainer,
} from './podContext.ts';
import { port, timerPort } from './ports.ts';
import type { StateMeta } from './stateMeta.ts';
import { volumeMachine } from './volume.ts';

const ledgerOf = ({ context }: { context: PodContext }) => context.ledger;
const startGateOf = ({ context }: { context: PodContext }) => context.startGate;
const slotKey = (context: PodContext): string => `${context.allocated.metadata.uid}/:sandbox/start`;
const containerId = (name: string) => `container/${name}` as const;
const volumeId = (name: string) => `volume/${name}` as const;

export const podSetup = setup({
  types: {
    input: {} as PodInput,
    context: {} as PodContext,
    events: {} as PodEvent,
    output: {} as { isGone: boolean },
    meta: {} as StateMeta,
    children: {} as { [id: `container/${string}`]: 'container' } & { [id: `volume/${string}`]: 'volume' },
  },
  actors: {
    container: containerMachine,
    volume: volumeMachine,
    preparePod: port('preparePod'),
    removePodData: port('removePodData'),
    runSandbox: port('runSandbox'),
    inspectSandbox: port('inspectSandbox'),
    stopSandboxes: port('stopSandboxes'),
    removeSandboxes: port('removeSandboxes'),
    timer: timerPort(),
  },
  guards: {
    mustEnd: ({ context }) => context.termination !== undefined,
    isActualStale: ({ context }) => isActualStale(context),
    isMerelyComplete: ({ context }) => context.termination?.reason === 'Completed',
    areVolumesMounted: ({ context }) => areVolumes(context, 'mounted'),
    areVolumesUnmounted: ({ context }) => areVolumes(context, 'unmounted'),
    keepsSandbox: ({ context }) => decideSandbox(context) === 'keep',
    needsNoSandbox: ({ context }) => decideSandbox(context) === 'none',
    hasSandboxes: ({ context }) => allSandboxes(context).length > 0,
    isComplete: ({ context }) => isComplete(context),
    hasNoProcess: ({ context }) => hasNoProcess(context),
    isQuiet: ({ context }) => isQuiet(context),
    wasInitialized: ({ context }) => wasInitialized(context),
    isTurnOver: ({ context }) => hasTurnPassed(context) && nextInit(context) !== undefined,
    isLastTurnOver: ({ context }) => hasTurnPassed(context) && isLastTurn(context),
    mayTidy: ({ context }) => context.stale.length > 0 && isReplaced(context),
    hasNewcomers: ({ context }) => hasNewcomers(context),
    hasDeparted: ({ context }) => departed(context).length > 0,
    lacksSandbox: ({ context, event }) => event.type === 'runtime.podObserved' && lacksSandbox(context, event.pod),
    fits: ({ context }, sandbox: ObservedSandbox | null) => sandbox !== null && fits(context, sandbox),
    isReady: (_, sandbox: ObservedSandbox | null) => sandbox?.state === 'ready',
    failedForRuntime: ({ context }) => isRuntimeAway(context.failure),
  },
  actions: {
    askAdmission: sendTo(ledgerOf, ({ context, self }) => ({
      type: 'ledger.admit',
      uid: context.desired.metadata.uid,
      fullName: fullName(context.desired),
      claims: claimsOf(context.desired),
      ...(context.allocation ? { allocated: context.allocation } : {}),
      adopted: context.observed.sandboxes.length > 0 && context.desired === context.allocated,
      holder: self,
    })),
    settleClaims: sendTo(ledgerOf, ({ context }) => ({ type: 'ledger.settle', uid: context.allocated.metadata.uid })),
    releaseClaims: sendTo(ledgerOf, ({ context }) => ({ type: 'ledger.release', uid: context.allocated.metadata.uid })),
    tellActual: enqueueActions(({ context, enqueue }) => {
      const { allocated: pod, ledger } = context;
      enqueue.sendTo(ledger, { type: 'ledger.actual', uid: pod.metadata.uid, claims: actualClaims(context) });
      enqueue.assign({ actual: { pod, names: presentNames(context) } });
    }),
    requestSlot: sendTo(startGateOf, ({ context, self }) => ({
      type: 'gate.request',
      key: slotKey(context),
      ticket: context.ticket,
      holder: self,
    })),
    releaseSlot: sendTo(startGateOf, ({ context }) => ({ type: 'gate.release', key: slotKey(context) })),
    desire: assign(({ event }) => (event.type === 'pod.update' ? { desired: event.pod } : {})),
    recordRefusal: assign(({ event }) =>
      event.type === 'ledger.refused' ? { refused: { reason: event.reason, message: event.message } } : {},
    ),
    recordUnadmitted: assign(({ event }) =>
      event.type === 'ledger.refused' ? { unadmitted: { reason: event.reason, message: event.message } } : {},
    ),
    recordTermination: assign(({ context, event }) =>
      event.type === 'pod.terminate' ? { termination: mergeTermination(context.termination, event.termination) } : {},
    ),
    recordVolume: assign(({ context, event }) => {
      if (event.type !== 'volume.changed') return {};
      const { name, standing, hostPath } = event;
      return { volumes: { ...context.volumes, [name]: { standing, ...(hostPath ? { hostPath } : {}) } } };
    }),
    /** A volume whose definition was mended is tried again under the new one. */
    updateVolumes: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.volumes)) {
        enqueue.sendTo(volumeId(name), { type: 'volume.update', pod: context.allocated });
      }
    }),
    /** A volume that came with an update: the containers that have an actor already may need it. */
    shareVolume: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'volume.changed' || event.standing !== 'mounted') return;
      const { allocated: pod, containers } = context;
      const update: ContainerEvent = { type: 'container.update', pod, volumes: hostPaths(context) };
      for (const { container } of containersOf(pod.spec)) {
        if (container.name in containers) enqueue.sendTo(containerId(container.name), update);
      }
    }),
    recordContainer: assign(({ context, event }) => {
      if (event.type !== 'container.changed' || !(event.name in context.containers)) return {};
      return {
        containers: { ...context.containers, [event.name]: event.standing },
        ...(event.id === undefined ? {} : { containerIds: { ...context.containerIds, [event.name]: event.id } }),
        endedAt: Math.max(context.endedAt, event.endedAt ?? 0),
      };
    }),
    recordFailure: assign(({ event }) => retryAfter(failureOf(event))),
    recordFault: assign(({ event }) => ({ failure: failureOf(event) })),
    leaveGates: enqueueActions(({ context, enqueue }) => {
      const event = { type: 'gate.forget' as const, uid: context.allocated.metadata.uid };
      enqueue.sendTo(context.startGate, event);
      enqueue.sendTo(context.pullGate, event);
    }),
    complete: assign(({ context }) => ({
      termination: {
        reason: 'Completed',
        graceSeconds: context.allocated.spec.terminationGracePeriodSeconds ?? 30,
        at: context.endedAt,
      },
    })),
    loseSandbox: assign(({ context }) => ({
      sandbox: undefined,
      attempt: nextSandbox(context),
      stale: allSandboxes(context),
      told: [],
      initialized: false,
      containers: initsAnew(context),
    })),
    initialize: assign({ initialized: true }),
    spawnVolumes: enqueueActions(({ context, enqueue, self }) => {
      for (const { name } of context.allocated.spec.volumes ?? []) {
        if (name in context.volumes) continue;
        enqueue.assign(({ context: now }) => ({
          volumes: { ...now.volumes, [name]: { standing: 'pending' as const } },
        }));
        enqueue.spawnChild('volume', { id: volumeId(name), input: { pod: context.allocated, name, parent: self } });
      }
    }),
    /** Each container of the spec that has no actor yet gets one. */
    spawnContainers: enqueueActions(({ context, enqueue, self }) => {
      const { allocated: pod, observed, ticket, crashLoop, startGate, pullGate, sandbox } = context;
      const common = {
        pod,
        ticket,
        crashLoop,
        startGate,
        pullGate,
        sandbox,
        volumes: hostPaths(context),
        parent: self,
      };
      for (const { container, role } of containersOf(pod.spec)) {
        const { name } = container;
        if (name in context.containers) continue;
        const seen = observed.containers.filter((shown) => shown.name === name);
        enqueue.assign(({ context: now }) => ({ containers: { ...now.containers, [name]: 'pending' as const } }));
        enqueue.spawnChild('container', { id: containerId(name), input: { ...common, name, role, observed: seen } });
      }
    }),
    announceSandbox: enqueueActions(({ context, enqueue }) => {
      if (context.sandbox === undefined) return;
      const event: ContainerEvent = { type: 'sandbox.ready', sandbox: context.sandbox };
      for (const name of Object.keys(context.containers)) enqueue.sendTo(containerId(name), event);
    }),
    revokeSandbox: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.containers)) enqueue.sendTo(containerId(name), { type: 'sandbox.lost' });
    }),
    /** Who needs nothing but a sandbox may look for its image while that is being made. */
    startFirst: enqueueActions(({ context, enqueue }) => {
      if (context.told.length > 0) return;
      for (const name of firstTurn(context)) enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ told: initNames(context).slice(0, 1) });
    }),
    startNext: enqueueActions(({ context, enqueue }) => {
      const name = nextInit(context);
      if (name === undefined) return;
      enqueue.sendTo(containerId(name), { type: 'container.start' });
      enqueue.assign({ told: [...context.told, name] });
    }),
    /** Those that already had their turn take no notice. */
    startRegular: enqueueActions(({ context, enqueue }) => {
      for (const { container, role } of containersOf(context.allocated.spec)) {
        if (role === 'init' || role === 'ephemeral' || !(container.name in context.containers)) continue;
        enqueue.sendTo(containerId(container.name), { type: 'container.start' });
      }
    }),
    stopContainers: enqueueActions(({ context, enqueue }) => {
      if (context.termination === undefined) return;
      const { termination } = context;
      // Nobody knows when a pod was complete that was found so: what may still run has its own grace.
      const event: ContainerEvent =
        termination.at > 0 ? { type: 'container.stop', deadline: deadlineOf(termination) } : { type: 'container.stop' };
      for (const name of Object.keys(context.containers)) enqueue.sendTo(containerId(name), event);
    }),
    unmountVolumes: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.volumes)) enqueue.sendTo(volumeId(name), { type: 'volume.unmount' });
    }),
    /** A full look at the pod: what was known of a container and is not shown any more is told as absent. */
    observe: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.podObserved') return;
      enqueue.assign({ observed: event.pod });
      for (const container of event.pod.containers) {
        if (!(container.name in context.containers)) continue;
        enqueue.sendTo(containerId(container.name), {
          type: 'runtime.containerObserved',
          id: container.id,
          container,
        });
      }
      for (const { id, name } of vanished(context, event.pod)) {
        if (!(name in context.containers)) continue;
        enqueue.sendTo(containerId(name), { type: 'runtime.containerObserved', id, container: null });
      }
    }),
    /** One container's facts, read ahead of the next full look. */
    seeContainer: enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'runtime.containerSeen') return;
      const { container } = event;
      enqueue.assign({ observed: withContainer(context.observed, container) });
      if (!(container.name in context.containers)) return;
      enqueue.sendTo(containerId(container.name), { type: 'runtime.containerObserved', id: container.id, container });
    }),
    passOnReturn: enqueueActions(({ context, enqueue }) => {
      for (const name of Object.keys(context.containers))
        enqueue.sendTo(containerId(name), { type: 'runtime.returned' });
    }),
    /** An admitted update: containers that the spec no longer has end, the others compare themselves with it. */
    applyUpdate: enqueueActions(({ context, enqueue }) => {
      const pod = context.desired;
      const wanted = [...containersOf(pod.spec)].map(({ container }) => container.name);
      enqueue.assign({ allocated: pod, unadmitted: undefined });
      for (const name of Object.keys(context.containers)) {
        if (wanted.includes(name)) {
          enqueue.sendTo(containerId(name), { type: 'container.update', pod, volumes: hostPaths(context) });
        } else {
          enqueue.sendTo(containerId(name), { type: 'container.stop' });
        }
      }
    }),
    dismissDeparted: enqueueActions(({ context, enqueue }) => {
      for (const name of departed(context)) {
        enqueue.stopChild(containerId(name));
        enqueue.assign(({ context: now }) => {
          const { [name]: _gone, ...containers } = now.containers;
          return { containers };
        });
      }
    }),
  },
});
