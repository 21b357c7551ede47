/** Reserves the devices of pods in the context of the admission machine, until their plugins have allocated them. */
import { findContainerByName } from '../../kubernetes/api/pods/containers.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { deviceStatuses, podsWithChangedHealth } from '../../kubernetes/devices/deviceStatus.ts';
import { type ContainerEdits, type DeviceResource, findResource } from '../../kubernetes/devices/devices.ts';
import {
  type DevicePool,
  type DeviceReservation,
  type PodReservation,
  releaseDevices,
  withChosenDevices,
  withEdits,
  withPreferredDevices,
} from '../../kubernetes/devices/reserveDevices.ts';
import type { DeviceStatusReport, ReallocationRequest } from '../shared/events/deviceEvents.ts';
import type { ActorPath } from '../shared/events/slots.ts';

/** A pod whose devices are being allocated or saved. The actor at `holder` is notified afterwards. */
interface PendingDevices {
  readonly uid: string;
  /** The admitted version of the pod. */
  readonly pod: Pod;
  readonly holder: ActorPath;
  /** Reservations that the plugins have yet to allocate, in order. */
  readonly reservations: readonly DeviceReservation[];
  /** Whether the device manager has received the reservations. */
  readonly isSent: boolean;
  /** Revision number of the allocations that must be durable. Undefined until all devices are allocated. */
  readonly revision?: number;
  /** The container of an admitted pod that needs devices again. Undefined for a pod that is being admitted. */
  readonly reallocation?: { readonly container: string } | undefined;
}

/** The devices of the node's plugins, and the pods that have or await devices. */
export interface DeviceBook {
  readonly pool: DevicePool;
  /** Revision number of the allocations, which increases with each change that has to be saved. */
  readonly revision: number;
  /** Revision number of the allocations that were last sent to the device manager to be saved. */
  readonly reportedRevision: number;
  readonly pending: readonly PendingDevices[];
  /** UIDs of pods that no longer need the devices that are being allocated to them. */
  readonly cancelledUids: readonly string[];
}

/** The part of the admission machine's context that contains devices. */
interface DeviceContext {
  /** Undefined if the node has no device plugins. */
  readonly devices?: DeviceBook;
}

export const initialDeviceBook = (pool: DevicePool): DeviceBook => ({
  pool,
  revision: 0,
  reportedRevision: 0,
  pending: [],
  cancelledUids: [],
});

/** Applies a change to the `DeviceBook` in the context. Returns the same context if the node has no device plugins. */
function withBook<C extends DeviceContext>(context: C, change: (book: DeviceBook) => DeviceBook): C {
  if (context.devices === undefined) return context;
  const devices = change(context.devices);
  return devices === context.devices ? context : { ...context, devices };
}

export const withDeviceResources = <C extends DeviceContext>(context: C, resources: readonly DeviceResource[]): C =>
  withBook(context, (book) => {
    const { pool } = book;
    const formerResources = [...(pool.formerResources ?? []), ...pool.resources].filter(
      ({ name }) => findResource(resources, name) === undefined,
    );
    return { ...book, pool: { ...pool, resources, formerResources } };
  });

/** Records the reservations of a pod, which its plugins have to allocate. */
export const withPendingDevices = <C extends DeviceContext>(
  context: C,
  { pool, reservations }: { readonly pool: DevicePool; readonly reservations: readonly DeviceReservation[] },
  { pod, holder, reallocation }: Pick<PendingDevices, 'pod' | 'holder' | 'reallocation'>,
): C =>
  withBook(context, (book) => {
    if (reservations.length === 0) return book;
    const pending = { uid: pod.metadata.uid, pod, holder, reservations, isSent: false, reallocation };
    return { ...book, pool, pending: [...book.pending, pending] };
  });

/** Marks all reservations, cancellations and allocations as sent to the device manager. */
export const withReportedBook = <C extends DeviceContext>(context: C): C =>
  withBook(context, (book) => {
    const isSent = isReported(book);
    return isSent
      ? book
      : {
          ...book,
          reportedRevision: book.revision,
          cancelledUids: [],
          pending: book.pending.map((each) => ({ ...each, isSent: true })),
        };
  });

const isReported = ({ revision, reportedRevision, cancelledUids, pending }: DeviceBook): boolean =>
  revision === reportedRevision && cancelledUids.length === 0 && pending.every(({ isSent }) => isSent);

/** Replaces the devices that are reserved for a container with those that its plugin prefers. */
export function choosePreferredDevices<C extends DeviceContext>(
  context: C,
  key: { readonly uid: string; readonly container: string; readonly resource: string },
  preferred: readonly string[],
): { readonly context: C; readonly devices: readonly string[] } | undefined {
  const book = context.devices;
  const pending = book?.pending.find(({ uid }) => uid === key.uid);
  const reservation = pending?.reservations.find(
    ({ container, resource }) => container === key.container && resource === key.resource,
  );
  if (book === undefined || pending === undefined || reservation === undefined) return undefined;
  const { pool, devices } = withPreferredDevices(book.pool, key.uid, reservation, preferred);
  const nextPending = { ...pending, reservations: withChosenDevices(pending.reservations, reservation, devices) };
  const nextBook = { ...book, pool, pending: book.pending.map((each) => (each === pending ? nextPending : each)) };
  return { context: { ...context, devices: nextBook }, devices };
}

/**
 * Records the devices that a plugin has allocated. Once all devices of a pod are allocated, the allocations have to be
 * saved.
 */
export const withAllocatedDevices = <C extends DeviceContext>(
  context: C,
  { uid, container, resource }: { readonly uid: string; readonly container: string; readonly resource: string },
  edits: ContainerEdits,
): C =>
  withBook(context, (book) => {
    const pending = book.pending.find((each) => each.uid === uid);
    if (pending === undefined) return book;
    const reservations = pending.reservations.filter(
      (each) => each.container !== container || each.resource !== resource,
    );
    const isDone = reservations.length === 0;
    const revision = isDone ? book.revision + 1 : book.revision;
    const nextPending = { ...pending, reservations, ...(isDone ? { revision } : {}) };
    return {
      ...book,
      pool: withEdits(book.pool, { podUid: uid, container, resource, edits }),
      revision,
      pending: book.pending.map((each) => (each === pending ? nextPending : each)),
    };
  });

/**
 * Calls `reserve` to reserve devices for a container that is about to be created and has lost its devices. If no more
 * devices have to be reserved, the container's devices are saved again, because an earlier attempt may have allocated
 * some of them without saving them.
 */
export function withReallocation<C extends DeviceContext>(
  context: C,
  { pod, container: name, holder }: Omit<ReallocationRequest, 'type' | 'at'>,
  reserve: (context: C, pod: Pod, container: Container) => PodReservation | undefined,
): { readonly context: C } | { readonly problem: string } {
  const { devices } = context;
  const container = findContainerByName(pod.spec, name)?.container;
  if (devices === undefined || container === undefined) return { context };
  if (devices.pending.some(({ uid }) => uid === pod.metadata.uid))
    return { problem: 'devices are already being allocated to the pod' };
  const reservation = reserve(context, pod, container);
  if (reservation === undefined) return { context };
  if ('problem' in reservation) return reservation;
  const holding = { pod, holder, reallocation: { container: name } };
  if (reservation.reservations.length > 0) return { context: withPendingDevices(context, reservation, holding) };
  return { context: withBook(context, (book) => withUnsavedDevices(book, holding)) };
}

/** Requests that the allocations be saved. The container is notified afterwards. */
function withUnsavedDevices(
  book: DeviceBook,
  holding: Pick<PendingDevices, 'pod' | 'holder' | 'reallocation'>,
): DeviceBook {
  const revision = book.revision + 1;
  const pending = { ...holding, uid: holding.pod.metadata.uid, reservations: [], isSent: true, revision };
  return { ...book, revision, pending: [...book.pending, pending] };
}

/** Releases the devices that were reserved for a container but could not be allocated to it again. */
export const withoutReallocation = <C extends DeviceContext>(context: C, failed: PendingDevices): C =>
  withBook(context, (book) => {
    const allocations = book.pool.allocations.filter(
      ({ podUid, container, edits }) =>
        podUid !== failed.uid || container !== failed.reallocation?.container || edits !== undefined,
    );
    return {
      ...book,
      pool: { ...book.pool, allocations },
      pending: book.pending.filter((each) => each !== failed),
    };
  });

/** Releases the devices of pods that no longer run. */
export const withoutDevices = <C extends DeviceContext>(context: C, isReleased: (podUid: string) => boolean): C =>
  withBook(context, (book) => {
    const pool = releaseDevices(book.pool, isReleased);
    if (pool === book.pool) return book;
    const isSaved = book.pool.allocations.some(({ podUid, edits }) => isReleased(podUid) && edits !== undefined);
    const pending = book.pending.filter(({ uid }) => !isReleased(uid));
    const cancelledUids = book.pending.flatMap(({ uid, isSent }) => (isReleased(uid) && isSent ? [uid] : []));
    return {
      ...book,
      pool,
      pending,
      cancelledUids: [...book.cancelledUids, ...cancelledUids],
      revision: isSaved ? book.revision + 1 : book.revision,
    };
  });

/** Removes from the pending pods those whose allocations are on disk. */
export const withoutConfirmed = <C extends DeviceContext>(context: C, revision: number): C =>
  withBook(context, (book) => ({
    ...book,
    pending: book.pending.filter((each) => each.revision === undefined || each.revision > revision),
  }));

/** Describes the step of a pod's allocation that is in progress. */
export function deviceWait({ pending }: DeviceBook, uid: string): string | undefined {
  const entry = pending.find((each) => each.uid === uid);
  if (entry === undefined) return undefined;
  const [reservation] = entry.reservations;
  if (reservation === undefined) return 'the allocation of its devices to be saved';
  const { resource, container, count } = reservation;
  return `the device plugin of ${resource} to allocate ${count} ${count === 1 ? 'device' : 'devices'} to container ${container}`;
}

/** Reports the devices of a pod. Returns undefined if the pod has none. */
export function deviceReport({ devices }: DeviceContext, uid: string): DeviceStatusReport | undefined {
  if (devices === undefined) return undefined;
  const statuses = deviceStatuses(devices.pool, uid);
  return statuses.length === 0 ? undefined : { type: 'admission.devicesReported', uid, devices: statuses };
}

/** Returns the UIDs of the pods with a device whose health has changed. */
export const changedDeviceHealth = (before: DeviceContext, after: DeviceContext): readonly string[] =>
  before.devices === undefined || after.devices === undefined
    ? []
    : podsWithChangedHealth(before.devices.pool, after.devices.pool);
