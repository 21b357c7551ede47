/**
 * Cleans up after ResourceClaims. Pods prepare and unprepare their own claims. This machine unprepares claims whose
 * pods are gone, and deletes the ResourceSlices of drivers that are gone (`pkg/kubelet/cm/dra/manager.go`).
 */
import { assertEvent, assign, enqueueActions, sendTo, setup } from 'xstate';
import type { Failure } from '../../base/failure.ts';
import { type ClaimState, claimKey, type RegisteredDriver } from '../../kubernetes/claims/claimState.ts';
import { NO_ACTOR_FAILS } from '../shared/coverageGaps.ts';
import type { ClaimsEvent, ClaimsReport } from '../shared/events/upkeepEvents.ts';
import { port, timerPort } from '../shared/ports.ts';
import type { ActorInfo, StateMeta, StateTag } from '../shared/stateMeta.ts';
import { parent } from '../shared/views/actorRefs.ts';
import { failureOf } from '../shared/waiting/failure.ts';
import { after } from '../shared/waiting/waits.ts';
import { driverMachine } from './driver.ts';
import { slicesMachine } from './slices.ts';

/** Interval between two checks for claims whose pods are gone (`defaultReconcilePeriod`). */
const CHECK_INTERVAL_MS = 60_000;

export type ClaimsContext = {
  readonly claims: readonly ClaimState[];
  readonly drivers: readonly RegisteredDriver[];
  /** Names of all drivers that have registered since the agent started, each of which has an actor. */
  readonly knownDrivers: readonly string[];
  readonly failure?: Failure | undefined;
};

const driverId = (name: string) => `driver/${name}` as const;

/** Formats a claim, e.g. `default/gpu by gpu.example.com, used by 2 pods`. */
function claimText(claim: ClaimState): string {
  const drivers = claim.drivers.map(({ name }) => name).join(' and ');
  const count = claim.podUids.length;
  const state = claim.isPrepared ? 'prepared' : 'not prepared since the agent started';
  return `${claimKey(claim)} by ${drivers === '' ? 'no driver' : drivers}, used by ${count} ${count === 1 ? 'pod' : 'pods'}, ${state}`;
}

const driverText = ({ name, isConnected, service, endpoints }: RegisteredDriver): string =>
  `${name} (${service}) at ${endpoints.join(' and ')}, ${isConnected ? 'connected' : 'disconnected'}`;

const facts = ({ snapshot: { context } }: ActorInfo<ClaimsContext>) => ({
  lists: { claims: context.claims.map(claimText), drivers: context.drivers.map(driverText) },
});

export const claimsMachine = setup({
  types: {
    context: {} as ClaimsContext,
    events: {} as ClaimsEvent,
    meta: {} as StateMeta,
    tags: {} as StateTag,
    children: {} as { [id: `driver/${string}`]: 'driver' } & { slices: 'slices' },
  },
  actors: {
    driver: driverMachine,
    slices: slicesMachine,
    unprepareLeftoverClaims: port('unprepareLeftoverClaims'),
    timer: timerPort(),
  },
  guards: {
    hasLeftovers: ({ context, event }) => {
      assertEvent(event, 'claims.podsListed');
      if (event.activePodUids === undefined) return false;
      const activeUids = new Set(event.activePodUids);
      return context.claims.some(({ podUids }) => podUids.some((uid) => !activeUids.has(uid)));
    },
  },
  actions: {
    recordClaims: assign(({ event }) => {
      assertEvent(event, 'claims.changed');
      return { claims: event.claims };
    }),
    /** Spawns the actors of new drivers, and notifies those of existing ones. */
    recordDrivers: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'drivers.changed');
      const names = event.drivers.map(({ name }) => name);
      const knownDrivers = [...new Set([...context.knownDrivers, ...names])];
      enqueue.assign({ drivers: event.drivers, knownDrivers });
      for (const name of knownDrivers) {
        if (!context.knownDrivers.includes(name)) enqueue.spawnChild('driver', { id: driverId(name), input: { name } });
        const isConnected = event.drivers.some((driver) => driver.name === name && driver.isConnected);
        enqueue.sendTo(driverId(name), { type: 'driver.changed', isConnected });
      }
    }),
    listPods: sendTo(parent<ClaimsReport>(), { type: 'claims.podsRequested' }),
    recordFailure: assign(({ event }) => ({ failure: failureOf(event) })),
    forgetFailure: assign({ failure: undefined }),
  },
}).createMachine({
  id: 'claims',
  description: 'The prepared ResourceClaims of the node, and the drivers that prepare them.',
  meta: { facts },
  context: { claims: [], drivers: [], knownDrivers: [] },
  // No driver has registered yet, and an earlier driver may never return. Delete all ResourceSlices, so that no pods
  // are scheduled to their devices.
  invoke: { src: 'slices', id: 'slices', input: {}, onError: { meta: { coverageGap: NO_ACTOR_FAILS } } },
  initial: 'waiting',
  on: { 'claims.changed': { actions: 'recordClaims' }, 'drivers.changed': { actions: 'recordDrivers' } },
  states: {
    waiting: {
      description: 'Claims whose pods are gone are looked for again after an interval.',
      tags: 'steady',
      meta: { waitsFor: 'the next check for claims whose pods are gone', afterMs: CHECK_INTERVAL_MS },
      invoke: after(CHECK_INTERVAL_MS),
      on: { 'timer.elapsed': 'listing' },
    },
    listing: {
      description: 'The node lists the pods that may use claims.',
      tags: 'working',
      meta: { waitsFor: 'the node to list its pods' },
      entry: 'listPods',
      on: {
        'claims.podsListed': [{ guard: 'hasLeftovers', target: 'unpreparing' }, { target: 'waiting' }],
      },
    },
    unpreparing: {
      description: 'The drivers revert the preparation of claims whose pods are gone.',
      tags: 'working',
      meta: { waitsFor: 'the claims of pods that are gone to be unprepared' },
      invoke: {
        src: 'unprepareLeftoverClaims',
        input: ({ event }) => {
          assertEvent(event, 'claims.podsListed');
          return { activePodUids: event.activePodUids ?? [] };
        },
        onDone: { target: 'waiting', actions: 'forgetFailure' },
        // Claims that could not be unprepared are retried at the next check.
        onError: { target: 'waiting', actions: 'recordFailure' },
      },
    },
  },
});
