/**
 * The ledger of pod statuses: the status of each pod in each stage on its way from the pod's actor to the sinks.
 *
 * - `computed`: the latest status, computed from the pod's actor. The next status is computed from it.
 * - `durable`: the facts that the status depends on are on disk, so it is published. A terminal status is such a fact
 *   itself and remains on disk until the sinks that must acknowledge it have done so, across restarts of the agent.
 * - `queued`: the sinks have to send the status. A newer one replaces it.
 * - `acknowledged`: the last status that each sink has accepted.
 *
 * Only the methods of the ledger advance a status from one stage to the next. When to send a status is up to the
 * machines of the sinks, which only know its version.
 */

import { isStaticPod } from '../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';
import { isDeferrableFirstStatus, isUrgentReport, mustNotReport } from '../../kubernetes/status/reportRules.ts';
import { isSamePodStatus } from '../../kubernetes/status/status.ts';
import type { PendingStatus } from '../../machines/statusSink/chart.ts';
import type { NodeStore, UnacknowledgedStatus } from '../store/durableFacts.ts';
import type { ComputedPod } from './computedPod.ts';

/**
 * A computed status with the view that it was computed from. `removed` is set when the pod has been removed from the
 * node.
 */
export interface ComputedStatus extends Pick<ComputedPod, 'pod' | 'view'> {
  readonly uid: string;
  readonly removed: boolean;
}

/** Actions that persist the facts that a status depends on and then publish the status. */
interface Publication {
  /** Starts to persist the facts that the status depends on. Returns undefined if they are durable already. */
  readonly persistFacts: () => Promise<unknown> | undefined;
  readonly publish: () => void;
}

/** A computed status whose facts are not durable yet. */
interface AwaitingStatus {
  readonly status: ComputedStatus;
  readonly publish: () => void;
}

/** The latest status of a pod that the sinks have to send. */
export interface QueuedStatus extends PodIdentity {
  readonly status: PodStatus;
  /** Whether all containers have stopped and the pod's resources are released. */
  readonly ended: boolean;
  /** Whether the pod is static. Undefined if the pod's object is no longer known. */
  readonly isStatic?: boolean | undefined;
  /**
   * Increases with each queued status of any pod. Therefore a late acknowledgement for a removed pod does not cover the
   * status of a pod that a source lists again under the same UID.
   */
  readonly version: number;
  /** Whether the pod has been removed from the node. */
  readonly isGone: boolean;
  /** Names of the sinks that have to acknowledge the status. */
  readonly sinks: readonly string[];
}

/** The statuses of one pod, grouped by stage. */
interface LedgerEntry {
  // Stage `computed`.
  /** The pod's status from before this ledger was created, retained until the pod is removed. */
  previousStatus?: PodStatus | undefined;
  /** The latest computed status. Undefined for a pod that is not on the node. */
  computed?: ComputedPod | undefined;
  // Stage `durable`, and statuses that are about to reach it.
  /** The computed statuses whose facts are not durable yet, oldest first. */
  awaitingFacts: readonly AwaitingStatus[];
  /** The last computed status that may be reported to the sinks. Undefined once it has been published. */
  lastReportable?: ComputedStatus | undefined;
  /** Settles when the last of `awaitingFacts` has been published. Undefined if there are none. */
  lastPublication?: Promise<void> | undefined;
  /**
   * The pod with its last published status. Undefined if no status has been published yet, or if the pod's removal was
   * published last.
   */
  durable?: Pod | undefined;
  /** The terminal status that is on disk, or is being written, for the sinks that must acknowledge it. */
  savedTerminal?: UnacknowledgedStatus | undefined;
  // Stage `queued`.
  queued?: QueuedStatus | undefined;
  // Stage `acknowledged`.
  /** The last status that each sink has acknowledged, by the name of the sink. */
  acknowledged: ReadonlyMap<string, QueuedStatus>;
}

/** The disk on which terminal statuses survive a restart of the agent. */
interface TerminalDisk {
  readonly store: Pick<NodeStore, 'write' | 'remove' | 'isUnwritten' | 'whenWritten'>;
  /** The terminal statuses that the previous agent has left on disk, by pod UID. */
  readonly unacknowledged: ReadonlyMap<string, UnacknowledgedStatus>;
  readonly onError: (source: string, error: unknown) => void;
}

interface LedgerOptions {
  /** Statuses by UID from before the ledger was created. */
  readonly previousStatuses?: Readonly<Record<string, PodStatus>> | undefined;
  /** The destinations of statuses, whose names are unique. If undefined, no status is queued. */
  readonly sinks?: readonly { readonly name: string; readonly mustAcknowledge: boolean }[];
  /** If undefined, no status outlives the agent. */
  readonly disk?: TerminalDisk;
}

export class StatusLedger {
  /** Keyed by UID. */
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #sinkNames: readonly string[];
  readonly #acknowledgingSinks: readonly string[];
  readonly #disk: TerminalDisk | undefined;
  #lastVersion = 0;

  constructor({ previousStatuses = {}, sinks = [], disk }: LedgerOptions = {}) {
    this.#sinkNames = sinks.map(({ name }) => name);
    this.#acknowledgingSinks = sinks.filter(({ mustAcknowledge }) => mustAcknowledge).map(({ name }) => name);
    this.#disk = disk;
    for (const [uid, terminal] of disk?.unacknowledged ?? []) this.#restoreTerminal(uid, terminal);
    for (const [uid, previousStatus] of Object.entries(previousStatuses))
      this.#entry(uid).previousStatus = previousStatus;
  }

  /** Returns the latest computed status of a pod on the node. */
  computed(uid: string): ComputedPod | undefined {
    return this.#entries.get(uid)?.computed;
  }

  /** Returns the pods on the node, in the order in which their first status was computed. */
  computedPods(): readonly ComputedPod[] {
    return [...this.#entries.values()].flatMap(({ computed }) => computed ?? []);
  }

  /** Returns the status that the next one is computed from, because unchanged conditions retain their timestamps. */
  previousStatus(uid: string): PodStatus | undefined {
    const entry = this.#entries.get(uid);
    return entry?.computed?.pod.status ?? entry?.previousStatus;
  }

  /** Records a newly computed status, which `publishWhenDurable` then publishes. */
  recordComputed(computed: ComputedPod): void {
    const { uid } = computed.pod.metadata;
    const entry = this.#entry(uid);
    if (entry.computed === undefined) {
      this.#entries.delete(uid);
      this.#entries.set(uid, entry);
    }
    entry.computed = computed;
  }

  /** Forgets the computed status of a pod that is removed from the node. Statuses in later stages are not affected. */
  removeComputed(uid: string): void {
    const entry = this.#entry(uid);
    entry.computed = undefined;
    entry.previousStatus = undefined;
    this.#forgetIfEmpty(uid);
  }

  /**
   * Publishes a computed status once its facts are durable and all earlier statuses of the pod are published, because a
   * restart must not contradict a published status. Statuses of different pods do not wait for each other. If there is
   * nothing to wait for, publishes the status immediately.
   */
  publishWhenDurable(status: ComputedStatus, { persistFacts, publish }: Publication): void {
    const { uid } = status;
    const facts = persistFacts();
    const entry = this.#entry(uid);
    const { awaitingFacts, lastPublication } = entry;
    entry.awaitingFacts = [...awaitingFacts, { status, publish }];
    if (facts === undefined && lastPublication === undefined) this.#publishNext(uid);
    else entry.lastPublication = Promise.allSettled([lastPublication, facts]).then(() => this.#publishNext(uid));
  }

  /** Whether the pod has a computed status that is not published yet. */
  isAwaitingFacts(uid: string): boolean {
    return (this.#entries.get(uid)?.awaitingFacts.length ?? 0) > 0;
  }

  /** Returns the computed statuses that are not published yet, in order for each pod. */
  awaitingFacts(): readonly ComputedStatus[] {
    return [...this.#entries.values()].flatMap(({ awaitingFacts }) => awaitingFacts.map(({ status }) => status));
  }

  /** Returns the pods with their last published statuses. */
  durablePods(): readonly Pod[] {
    return [...this.#entries.values()].flatMap(({ durable }) => durable ?? []);
  }

  /**
   * Persists a terminal status that a sink has to acknowledge, because the status must not be published before it is
   * durable. Must be called for every computed status, before it is published. With `isFinal`, the pod must not run
   * again. Returns undefined if there is nothing to persist.
   */
  saveTerminal(computed: ComputedStatus, isFinal: boolean): Promise<void> | undefined {
    if (this.#acknowledgingSinks.length === 0) return undefined;
    const { uid, pod, view, removed } = computed;
    const { namespace, name } = pod.metadata;
    const entry = this.#entry(uid);
    const { savedTerminal } = entry;
    // A removed pod may run again if a source lists it again, so the saved status is no longer final.
    const isRunnableAgain = removed && savedTerminal?.isFinal === true;
    const lastReport = lastReportOf(entry);
    // A status that must not be reported is neither persisted nor compared with the next terminal status.
    if (mustNotReport(lastReport, computed))
      return isRunnableAgain ? this.#writeTerminal(uid, { ...savedTerminal, isFinal }) : undefined;
    if (pod.status === undefined) return undefined;
    entry.lastReportable = computed;
    // A rejection is not persisted, because the node repeats the pod's admission after a restart (C24).
    if (view.refusal || !isTerminalPhase(pod.status.phase)) return undefined;
    if (isSamePodStatus(lastReport?.status, pod.status) && !isRunnableAgain) return undefined;
    return this.#writeTerminal(uid, { namespace, name, status: pod.status, isFinal });
  }

  /**
   * Queues a published status for all sinks, replacing the pod's queued status, and returns its version for the actors
   * of the sinks. Returns undefined if the sinks need not send it.
   */
  queueForSinks(published: ComputedStatus): PendingStatus | undefined {
    const { uid, pod, view, removed } = published;
    const { queued } = this.#entry(uid);
    if (queued && removed) this.#entry(uid).queued = { ...queued, isGone: true };
    const { status } = pod;
    if (this.#sinkNames.length === 0 || status === undefined || !mustQueue(queued, published)) {
      this.#forgetIfAcknowledged(uid);
      return undefined;
    }
    // The pod runs again, so its earlier terminal status is obsolete.
    if (this.#isTerminalPublished(uid) && !isTerminalPhase(status.phase)) this.#removeTerminal(uid);
    const { namespace, name } = pod.metadata;
    const version = this.#nextVersion();
    this.#entry(uid).queued = {
      uid,
      namespace,
      name,
      status,
      ended: view.isReclaimed,
      isStatic: isStaticPod(pod),
      version,
      isGone: removed,
      sinks: this.#sinkNames,
    };
    if (isUrgentReport(queued, published)) return { uid, version };
    const isDeferrableFirst = queued === undefined && isDeferrableFirstStatus(published);
    return { uid, version, mayWait: true, ...(isDeferrableFirst ? { isFirst: isDeferrableFirst } : {}) };
  }

  /** Returns the status that the sinks have to send, or have sent, for a pod. */
  queued(uid: string): QueuedStatus | undefined {
    return this.#entries.get(uid)?.queued;
  }

  /** Returns the versions of the queued statuses that a sink has not acknowledged. */
  unacknowledgedBy(sink: string): readonly PendingStatus[] {
    return [...this.#entries.values()].flatMap((entry) =>
      entry.queued && awaitedSinks(entry).includes(sink)
        ? [{ uid: entry.queued.uid, version: entry.queued.version }]
        : [],
    );
  }

  /** Whether the last status of the pod that the sink has acknowledged is equal to this one, apart from its version. */
  isAcknowledged(sink: string, { uid, status, ended, isStatic }: QueuedStatus): boolean {
    const lastAcknowledged = this.#entries.get(uid)?.acknowledged.get(sink);
    return (
      lastAcknowledged?.ended === ended &&
      lastAcknowledged.isStatic === isStatic &&
      isSamePodStatus(lastAcknowledged.status, status)
    );
  }

  /**
   * Records that a sink has acknowledged a status. A newer status that is queued by now is not affected. Once all sinks
   * that must acknowledge a terminal status have done so, it is removed from disk.
   */
  acknowledge(sink: string, status: QueuedStatus): void {
    const { uid } = status;
    const entry = this.#entries.get(uid);
    // Ignore a late acknowledgement for a pod that was forgotten after the status had been sent.
    if (entry?.queued === undefined) return;
    const { queued, savedTerminal } = entry;
    entry.acknowledged = new Map([...entry.acknowledged, [sink, status]]);
    const isAwaited = awaitedSinks(entry).some((name) => this.#acknowledgingSinks.includes(name));
    // The disk may already contain a later terminal status that has not been published yet and must not be removed.
    const isSavedStatus = isSamePodStatus(savedTerminal?.status, queued.status);
    if (isSavedStatus && !isAwaited) this.#removeAcknowledgedTerminal(uid);
    this.#forgetIfAcknowledged(uid);
  }

  /** Queues a terminal status that the previous agent has left on disk. */
  #restoreTerminal(uid: string, terminal: UnacknowledgedStatus): void {
    const entry = this.#entry(uid);
    entry.savedTerminal = terminal;
    if (this.#acknowledgingSinks.length === 0) {
      this.#removeAcknowledgedTerminal(uid);
      return;
    }
    const { namespace, name, status } = terminal;
    const sinks = this.#acknowledgingSinks;
    const version = this.#nextVersion();
    entry.queued = { uid, namespace, name, status, ended: true, version, isGone: true, sinks };
  }

  #nextVersion(): number {
    this.#lastVersion += 1;
    return this.#lastVersion;
  }

  #writeTerminal(uid: string, terminal: UnacknowledgedStatus): Promise<void> | undefined {
    this.#entry(uid).savedTerminal = terminal;
    return this.#disk?.store
      .write('unacknowledged', uid, terminal)
      .catch((error) => this.#disk?.onError('store', error));
  }

  /**
   * Whether the terminal status on disk has been published. Before that, all published statuses are from the run that
   * ended with this terminal status.
   */
  #isTerminalPublished(uid: string): boolean {
    const { savedTerminal, awaitingFacts } = this.#entry(uid);
    return (
      savedTerminal !== undefined && !awaitingFacts.some(({ status: { pod } }) => pod.status === savedTerminal.status)
    );
  }

  /**
   * Removes a terminal status that every sink has acknowledged, but only once the pod's regular status fact is saved,
   * because the next agent has no other copy until then.
   */
  #removeAcknowledgedTerminal(uid: string): void {
    const acknowledged = this.#entry(uid).savedTerminal?.status;
    const remove = () => {
      if (!isSamePodStatus(this.#entries.get(uid)?.savedTerminal?.status, acknowledged)) return;
      this.#removeTerminal(uid);
      this.#forgetIfEmpty(uid);
    };
    if (this.#disk?.store.isUnwritten('statuses', uid)) void this.#disk.store.whenWritten('statuses', uid).then(remove);
    else remove();
  }

  #removeTerminal(uid: string): void {
    this.#entry(uid).savedTerminal = undefined;
    this.#disk?.store.remove('unacknowledged', uid).catch((error) => this.#disk?.onError('store', error));
  }

  /** Publishes the oldest status of the pod that is not published yet. */
  #publishNext(uid: string): void {
    const entry = this.#entry(uid);
    const [next, ...rest] = entry.awaitingFacts;
    entry.awaitingFacts = rest;
    if (rest.length === 0) entry.lastPublication = undefined;
    if (next === undefined) return;
    if (entry.lastReportable === next.status) entry.lastReportable = undefined;
    entry.durable = next.status.removed ? undefined : next.status.pod;
    next.publish();
    this.#forgetIfEmpty(uid);
  }

  #entry(uid: string): LedgerEntry {
    const entry = this.#entries.get(uid) ?? { awaitingFacts: [], acknowledged: new Map() };
    this.#entries.set(uid, entry);
    return entry;
  }

  /** Forgets the queued status of a removed pod once every sink has acknowledged the status. */
  #forgetIfAcknowledged(uid: string): void {
    const entry = this.#entry(uid);
    if (entry.queued?.isGone && awaitedSinks(entry).length === 0) {
      entry.queued = undefined;
      entry.acknowledged = new Map();
    }
    this.#forgetIfEmpty(uid);
  }

  /** Deletes the entry of a pod that has no status in any stage. */
  #forgetIfEmpty(uid: string): void {
    const { previousStatus, computed, awaitingFacts, durable, savedTerminal, queued } = this.#entry(uid);
    const statuses = [previousStatus, computed, durable, savedTerminal, queued];
    if (awaitingFacts.length === 0 && statuses.every((each) => each === undefined)) this.#entries.delete(uid);
  }
}

/** Returns the names of the sinks that still have to acknowledge the queued status. */
const awaitedSinks = ({ queued, acknowledged }: LedgerEntry): readonly string[] =>
  queued?.sinks.filter((name) => acknowledged.get(name)?.version !== queued.version) ?? [];

/** Returns the last status that has been reported, or will be reported once its facts are durable. */
function lastReportOf({ lastReportable, queued }: LedgerEntry): Pick<QueuedStatus, 'status' | 'isGone'> | undefined {
  const status = lastReportable?.pod.status;
  return status ? { status, isGone: false } : queued;
}

/**
 * Whether the sinks have to send a published status. A pod that was reported as ended stays ended while its remaining
 * files are removed, even if its resources no longer count as released.
 */
function mustQueue(queued: QueuedStatus | undefined, { pod, view }: ComputedStatus): boolean {
  const hasSameEnd = queued?.ended === true || !view.isReclaimed;
  const isUnchanged = queued !== undefined && hasSameEnd && isSamePodStatus(queued.status, pod.status);
  return !isUnchanged && !mustNotReport(queued, { pod, view });
}
