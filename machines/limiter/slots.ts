/**
 * Implements the lists of held slots and of waiting requests. Both are plain data, because they are part of recordings.
 * An index of each list serves the lookups of the limiter, so that the work for an event does not depend on the number
 * of requests.
 */
import { VersionedIndex } from '../../base/values/versionedIndex.ts';
import type { SlotRequest } from '../shared/events/slots.ts';

export interface HeldSlot extends SlotRequest {
  /** Whether the slot has been held so long that it no longer blocks requests of other origins. */
  readonly isSlow?: true;
}

/** Returns the part of a key that all requests of a pod have in common. */
const podPart = (key: string): string => key.slice(0, key.indexOf('/'));

class RequestIndex<R extends SlotRequest> {
  readonly #requestByKey = new Map<string, R>();
  readonly #requestsByPod = new Map<string, Set<R>>();

  has(key: string): boolean {
    return this.#requestByKey.has(key);
  }

  /** Returns the request with a key as a list, which is empty if there is none. */
  withKey(key: string): R[] {
    const request = this.#requestByKey.get(key);
    return request === undefined ? [] : [request];
  }

  ofPod(uid: string): R[] {
    const requests = this.#requestsByPod.get(podPart(`${uid}/`)) ?? [];
    return [...requests].filter(({ key }) => key.startsWith(`${uid}/`));
  }

  add(request: R): void {
    this.#requestByKey.set(request.key, request);
    const pod = podPart(request.key);
    this.#requestsByPod.set(pod, (this.#requestsByPod.get(pod) ?? new Set()).add(request));
  }

  remove(request: R): void {
    this.#requestByKey.delete(request.key);
    const pod = podPart(request.key);
    const requests = this.#requestsByPod.get(pod);
    requests?.delete(request);
    if (requests?.size === 0) this.#requestsByPod.delete(pod);
  }
}

class HeldSlotIndex extends RequestIndex<HeldSlot> {
  readonly #countByOrigin = new Map<string | undefined, number>();
  readonly #slowCountByOrigin = new Map<string | undefined, number>();
  readonly #slotBySubject = new Map<string | undefined, HeldSlot>();
  /** Number of slots whose holder is not slow. */
  regularCount = 0;

  override add(slot: HeldSlot): void {
    super.add(slot);
    this.#count(slot, 1);
    if (slot.subject !== undefined) this.#slotBySubject.set(slot.subject, slot);
  }

  override remove(slot: HeldSlot): void {
    super.remove(slot);
    this.#count(slot, -1);
    this.#slotBySubject.delete(slot.subject);
  }

  #count({ origin, isSlow }: HeldSlot, change: 1 | -1): void {
    changeCount(this.#countByOrigin, origin, change);
    if (isSlow) changeCount(this.#slowCountByOrigin, origin, change);
    else this.regularCount += change;
  }

  countOf(origin: string | undefined): number {
    return this.#countByOrigin.get(origin) ?? 0;
  }

  slowCountOf(origin: string | undefined): number {
    return this.#slowCountByOrigin.get(origin) ?? 0;
  }

  /** Returns the slot with a subject. Undefined if the subject is undefined. */
  withSubject(subject: string | undefined): HeldSlot | undefined {
    return this.#slotBySubject.get(subject);
  }
}

function changeCount(counts: Map<string | undefined, number>, origin: string | undefined, change: number): void {
  const count = (counts.get(origin) ?? 0) + change;
  if (count === 0) counts.delete(origin);
  else counts.set(origin, count);
}

/** Position in the queue. Requests of the same pod are ordered by the time at which they were made. */
interface Position {
  readonly arrivalOrder: number;
  readonly sequence: number;
}

const isBefore = (first: Position, second: Position): boolean =>
  first.arrivalOrder < second.arrivalOrder ||
  (first.arrivalOrder === second.arrivalOrder && first.sequence < second.sequence);

/** Returns the number of leading items that match. All matching items must come first, because the search is binary. */
function countLeading<T>(items: readonly T[], matches: (item: T) => boolean): number {
  let [start, end] = [0, items.length];
  while (start < end) {
    const middle = (start + end) >>> 1;
    const item = items[middle];
    if (item !== undefined && matches(item)) start = middle + 1;
    else end = middle;
  }
  return start;
}

/**
 * A list of items in the order of their positions. The list itself has the position of its first item, so that it can
 * be an item of another list.
 */
class SortedList<T extends { readonly position: Position }> {
  readonly items: T[] = [];

  get position(): Position {
    return this.items[0]?.position ?? { arrivalOrder: 0, sequence: 0 };
  }

  add(item: T): void {
    this.items.splice(this.#indexOf(item), 0, item);
  }

  remove(item: T): void {
    this.items.splice(this.#indexOf(item), 1);
  }

  #indexOf({ position }: T): number {
    return countLeading(this.items, (item) => isBefore(item.position, position));
  }
}

type GroupName = string | undefined;

/** Groups that are not empty, by name and in the order of their first items. */
class SortedGroups<Group extends SortedList<{ readonly position: Position }>> extends SortedList<Group> {
  readonly #createGroup: (name: GroupName) => Group;
  readonly #groupByName = new Map<GroupName, Group>();

  constructor(createGroup: (name: GroupName) => Group) {
    super();
    this.#createGroup = createGroup;
  }

  /** Changes the items of a group. The group may be a new one. */
  change(name: GroupName, change: (group: Group) => void): void {
    const group = this.#groupByName.get(name) ?? this.#createGroup(name);
    if (group.items.length > 0) this.remove(group);
    change(group);
    if (group.items.length === 0) {
      this.#groupByName.delete(name);
    } else {
      this.#groupByName.set(name, group);
      this.add(group);
    }
  }
}

interface QueuedRequest {
  readonly request: SlotRequest;
  readonly position: Position;
}

class RequestsOfSubject extends SortedList<QueuedRequest> {
  readonly subject: string | undefined;

  constructor(subject: string | undefined) {
    super();
    this.subject = subject;
  }
}

class RequestsOfOrigin extends SortedGroups<RequestsOfSubject> {
  readonly origin: string | undefined;

  constructor(origin: string | undefined) {
    super((subject) => new RequestsOfSubject(subject));
    this.origin = origin;
  }
}

class QueueIndex extends RequestIndex<SlotRequest> {
  readonly #origins = new SortedGroups((origin) => new RequestsOfOrigin(origin));
  readonly #queuedRequests = new Map<SlotRequest, QueuedRequest>();
  #lastSequence = 0;

  override add(request: SlotRequest): void {
    super.add(request);
    this.#lastSequence += 1;
    const queued = { request, position: { arrivalOrder: request.arrivalOrder, sequence: this.#lastSequence } };
    this.#queuedRequests.set(request, queued);
    this.#changeGroup(request, (group) => group.add(queued));
  }

  override remove(request: SlotRequest): void {
    super.remove(request);
    const queued = this.#queuedRequests.get(request);
    if (queued === undefined) return;
    this.#queuedRequests.delete(request);
    this.#changeGroup(request, (group) => group.remove(queued));
  }

  #changeGroup({ origin, subject }: SlotRequest, change: (group: RequestsOfSubject) => void): void {
    this.#origins.change(origin, (subjects) => subjects.change(subject, change));
  }

  /**
   * Returns the first request that is not blocked. Apart from the result, visits only blocked origins and subjects,
   * i.e. at most one for each held slot.
   */
  first(isOriginBlocked: (origin: GroupName) => boolean, isSubjectBlocked: (subject: GroupName) => boolean) {
    let first: QueuedRequest | undefined;
    for (const subjects of this.#origins.items) {
      if (first !== undefined && isBefore(first.position, subjects.position)) break;
      if (isOriginBlocked(subjects.origin)) continue;
      const candidate = subjects.items.find(({ subject }) => !isSubjectBlocked(subject))?.items[0];
      if (candidate && (first === undefined || isBefore(candidate.position, first.position))) first = candidate;
    }
    return first?.request;
  }
}

type HeldSlots = readonly HeldSlot[];
type Queue = readonly SlotRequest[];

function indexed<R extends SlotRequest, I extends RequestIndex<R>>(index: I, requests: readonly R[]): I {
  for (const request of requests) index.add(request);
  return index;
}

const heldSlotIndexes = new VersionedIndex((slots: HeldSlots) => indexed(new HeldSlotIndex(), slots));
const queueIndexes = new VersionedIndex((queue: Queue) => indexed(new QueueIndex(), queue));

export const withHeldSlot = (slots: HeldSlots, slot: HeldSlot): HeldSlots =>
  heldSlotIndexes.advance(slots, [...slots, slot], (index) => index.add(slot));

export const withoutHeldSlot = (slots: HeldSlots, slot: HeldSlot): HeldSlots =>
  heldSlotIndexes.advance(slots, slots.toSpliced(slots.indexOf(slot), 1), (index) => index.remove(slot));

/** Inserts a request after all requests of the same pod and of pods that arrived earlier. */
export function withQueued(queue: Queue, request: SlotRequest): Queue {
  const position = countLeading(queue, ({ arrivalOrder }) => arrivalOrder <= request.arrivalOrder);
  return queueIndexes.advance(queue, queue.toSpliced(position, 0, request), (index) => index.add(request));
}

export const withoutQueued = (queue: Queue, request: SlotRequest): Queue =>
  queueIndexes.advance(queue, queue.toSpliced(queue.indexOf(request), 1), (index) => index.remove(request));

export const indexOfHeldSlots = (slots: HeldSlots): HeldSlotIndex => heldSlotIndexes.of(slots);
export const indexOfQueue = (queue: Queue): QueueIndex => queueIndexes.of(queue);
