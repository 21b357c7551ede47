/** Queues the latest status of each pod until every sink has acknowledged it. */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { isStaticPod } from '../../kubernetes/api/pods/staticPod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { isTerminalPhase, isTerminalPhasePending } from '../../kubernetes/status/phase.ts';
import { isSamePodStatus } from '../../kubernetes/status/status.ts';
import { isRepeatingInit, isTransitionIllegal } from '../../kubernetes/status/transitions.ts';
import { isUrgentChange } from '../../kubernetes/status/urgentChange.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import type { PendingStatus, StatusSinkInput } from '../../machines/statusSink/chart.ts';
import type { PortService } from '../boundary.ts';
import { withTimeout } from '../services/withTimeout.ts';
import type { NodeStore, UnacknowledgedStatus } from '../store/durableFacts.ts';
import type { StatusChange } from './statusBoard.ts';

/** Timeout of a single `put`, after which the status is sent again. */
const PUT_TIMEOUT_MS = 10_000;

export interface StatusReport extends PodIdentity {
  readonly status: PodStatus;
  /** Whether all containers have stopped and the pod's resources are released. */
  readonly ended: boolean;
  /** Whether the pod is static. Undefined if the pod's object is no longer known. */
  readonly isStatic?: boolean | undefined;
}

/** A destination of statuses, which may be slow and may fail. */
export interface StatusSink {
  /** Unique among all sinks. */
  readonly name: string;
  /** Whether terminal statuses stay on disk, across agent restarts, until this sink has acknowledged them. */
  readonly mustAcknowledge: boolean;
  /**
   * Time that a status without urgent changes may wait for later changes, in milliseconds. The first status of a pod
   * waits longer if many pods arrive at once. If undefined, no status waits.
   */
  readonly patienceMs?: number;
  /**
   * Sends the latest status of a pod, which may be unchanged. Resolves when the sink has acknowledged it. A status that
   * is rejected, or not acknowledged within 10 s, is sent again.
   */
  put(report: StatusReport, options: { readonly signal: AbortSignal }): Promise<unknown>;
}

interface Latest extends StatusReport {
  readonly version: number;
  /** Names of the sinks that have not acknowledged this version. */
  readonly pendingSinks: Set<string>;
  /** Whether the pod has been removed from the node. */
  readonly gone: boolean;
}

interface ReportDependencies {
  readonly sinks: readonly StatusSink[];
  readonly store: Pick<NodeStore, 'write' | 'remove' | 'isUnwritten' | 'whenWritten'>;
  readonly unacknowledged: ReadonlyMap<string, UnacknowledgedStatus>;
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
}

export class StatusReports {
  readonly #dependencies: ReportDependencies;
  readonly #latestStatuses = new Map<string, Latest>();
  readonly #acknowledgingSinks: readonly string[];
  /** The terminal statuses on disk. */
  readonly #savedTerminalStatuses = new Map<string, UnacknowledgedStatus>();
  /** The latest status of each pod, if it is not durable yet. */
  readonly #unsavedStatuses = new Map<string, PodStatus>();
  /**
   * Pods whose terminal status is on disk but not published yet. Statuses that are published before the terminal one do
   * not belong to a later run of the pod.
   */
  readonly #unpublishedTerminal = new Set<string>();

  constructor(dependencies: ReportDependencies) {
    this.#dependencies = dependencies;
    this.#acknowledgingSinks = dependencies.sinks.flatMap(({ name, mustAcknowledge }) =>
      mustAcknowledge ? [name] : [],
    );
    for (const [uid, end] of dependencies.unacknowledged) this.#restoreTerminal(uid, end);
  }

  /** Returns, for each sink, the statuses that the previous agent did not send to it. */
  previouslyUnsent(): readonly StatusSinkInput[] {
    const latestStatuses = [...this.#latestStatuses.values()];
    return this.#dependencies.sinks.map(({ name, patienceMs }) => ({
      name,
      ...(patienceMs === undefined ? {} : { patienceMs }),
      due: latestStatuses.flatMap(({ uid, version, pendingSinks }) =>
        pendingSinks.has(name) ? [{ uid, version }] : [],
      ),
    }));
  }

  /**
   * Persists a terminal status that a sink has to acknowledge, before it is published. With `isFinal`, the pod must not
   * run again.
   */
  persistTerminal({ uid, pod, view, removed }: StatusChange, isFinal: boolean): Promise<void> | undefined {
    if (this.#acknowledgingSinks.length === 0) return undefined;
    const { metadata, status } = pod;
    const savedStatus = this.#savedTerminalStatuses.get(uid);
    // A removed pod runs again if a source wants it again.
    const isRunningAgain = removed && savedStatus?.isFinal === true;
    const unsavedStatus = this.#unsavedStatuses.get(uid);
    const latestStatus = unsavedStatus ? { status: unsavedStatus, gone: false } : this.#latestStatuses.get(uid);
    // An unreported status is not persisted, and the next terminal status is not compared with it.
    if (mustNotReport(latestStatus, { pod, view }))
      return isRunningAgain ? this.#writeTerminal(uid, { ...savedStatus, isFinal }) : undefined;
    const previousStatus = latestStatus?.status;
    if (status !== undefined) this.#unsavedStatuses.set(uid, status);
    // A rejection is not persisted, because the node decides about the pod's admission again after a restart (C24).
    if (view.refusal) return undefined;
    if (!isTerminalPhase(status?.phase) || (isSamePodStatus(previousStatus, status) && !isRunningAgain))
      return undefined;
    const { namespace, name } = metadata;
    this.#unpublishedTerminal.add(uid);
    return this.#writeTerminal(uid, { namespace, name, status, isFinal });
  }

  /** Records a published status and, if it is new, returns the status that the sinks have to send. */
  recordPublished({ uid, pod, view, removed }: StatusChange): PendingStatus | undefined {
    const latestStatus = this.#latestStatuses.get(uid);
    const { metadata, status } = pod;
    if (this.#unsavedStatuses.get(uid) === status) this.#unsavedStatuses.delete(uid);
    if (this.#savedTerminalStatuses.get(uid)?.status === status) this.#unpublishedTerminal.delete(uid);
    // A pod that was reported as ended stays ended while its remaining files are removed, even if its view is no longer
    // reclaimed.
    const isUnchanged =
      latestStatus && (latestStatus.ended || !view.isReclaimed) && isSamePodStatus(latestStatus.status, status);
    if (latestStatus && removed) this.#latestStatuses.set(uid, { ...latestStatus, gone: true });
    if (
      this.#dependencies.sinks.length === 0 ||
      status === undefined ||
      isUnchanged ||
      mustNotReport(latestStatus, { pod, view })
    ) {
      this.#forgetIfDone(uid);
      return undefined;
    }
    // The pod runs again, so its earlier terminal status is obsolete.
    if (this.#savedTerminalStatuses.has(uid) && !this.#unpublishedTerminal.has(uid) && !isTerminalPhase(status.phase))
      this.#remove(uid);
    const { namespace, name } = metadata;
    const version = (latestStatus?.version ?? 0) + 1;
    const pendingSinks = new Set(this.#dependencies.sinks.map((sink) => sink.name));
    const [isStatic, ended] = [isStaticPod(pod), view.isReclaimed];
    this.#latestStatuses.set(uid, {
      uid,
      namespace,
      name,
      status,
      ended,
      isStatic,
      version,
      pendingSinks,
      gone: removed,
    });
    if (isUrgent(latestStatus, { pod, view })) return { uid, version };
    return {
      uid,
      version,
      mayWait: true,
      ...(latestStatus === undefined && isDeferrableFirstStatus({ pod, view }) ? { isFirst: true } : {}),
    };
  }

  readonly put: PortService<'putStatus'> = async ({ sink: name, uid }, { signal }) => {
    const { sinks, clock } = this.#dependencies;
    const latestStatus = this.#latestStatuses.get(uid);
    const sink = sinks.find((each) => each.name === name);
    if (latestStatus === undefined || sink === undefined) return { version: Number.MAX_SAFE_INTEGER };
    const { namespace, name: podName, status, ended, isStatic, version, gone: isRemoved } = latestStatus;
    try {
      // Copy the status, because a sink may modify it.
      const statusReport = { uid, namespace, name: podName, status: structuredClone(status), ended, isStatic };
      // Enforce the timeout here, because a sink may ignore its signal.
      const act = (within: AbortSignal) =>
        unlessAborted(sink.put(statusReport, { signal: within }), within).catch(asTimeout(within));
      await withTimeout(act, { clock, signal, timeoutMs: PUT_TIMEOUT_MS });
    } catch (error) {
      // Do not retry for a removed pod, unless the sink must acknowledge how it terminated.
      if (!isRemoved || sink.mustAcknowledge) throw createFailure(name, error);
    }
    this.#acknowledgeStatus(name, latestStatus);
    return { version };
  };

  #acknowledgeStatus(sink: string, { uid, version }: Latest): void {
    const latestStatus = this.#latestStatuses.get(uid);
    if (latestStatus?.version === version) latestStatus.pendingSinks.delete(sink);
    const isAwaitedBySink = this.#acknowledgingSinks.some((name) => latestStatus?.pendingSinks.has(name));
    // A later terminal status, which has not been published yet, may already be on disk.
    const isSavedVersion =
      this.#savedTerminalStatuses.has(uid) &&
      isSamePodStatus(this.#savedTerminalStatuses.get(uid)?.status, latestStatus?.status);
    if (isSavedVersion && !isAwaitedBySink) this.#removeSavedTerminal(uid);
    this.#forgetIfDone(uid);
  }

  #forgetIfDone(uid: string): void {
    const latestStatus = this.#latestStatuses.get(uid);
    if (latestStatus?.gone && latestStatus.pendingSinks.size === 0) this.#latestStatuses.delete(uid);
  }

  #restoreTerminal(uid: string, end: UnacknowledgedStatus): void {
    this.#savedTerminalStatuses.set(uid, end);
    const pendingSinks = new Set(this.#acknowledgingSinks);
    if (pendingSinks.size === 0) this.#removeSavedTerminal(uid);
    else this.#latestStatuses.set(uid, { ...end, uid, ended: true, version: 1, pendingSinks, gone: true });
  }

  #writeTerminal(uid: string, end: UnacknowledgedStatus): Promise<void> {
    this.#savedTerminalStatuses.set(uid, end);
    const { store, onError } = this.#dependencies;
    return store.write('unacknowledged', uid, end).catch((error) => onError('store', error));
  }

  /**
   * Removes a terminal status that every sink has acknowledged. The removal waits until the pod's regular status is
   * saved, because until then, this copy is all that the next agent has.
   */
  #removeSavedTerminal(uid: string): void {
    const { store } = this.#dependencies;
    const acknowledgedStatus = this.#savedTerminalStatuses.get(uid)?.status;
    const remove = () => {
      if (isSamePodStatus(this.#savedTerminalStatuses.get(uid)?.status, acknowledgedStatus)) this.#remove(uid);
    };
    if (store.isUnwritten('statuses', uid)) void store.whenWritten('statuses', uid).then(remove);
    else remove();
  }

  #remove(uid: string): void {
    this.#savedTerminalStatuses.delete(uid);
    this.#unpublishedTerminal.delete(uid);
    this.#dependencies.store.remove('unacknowledged', uid).catch((error) => this.#dependencies.onError('store', error));
  }
}

/**
 * Whether the view contains less information than the sinks have received. This applies until the pod's containers are
 * known, and to terminating pods that no source has reported. Like the kubelet, the node does not report the status of
 * such pods, even if a list contains a terminated pod again.
 */
const isIncomplete = ({ isUnsettled, termination }: PodView): boolean =>
  isUnsettled === true || termination?.isUnreported === true;

/** Whether other components act on the change. */
function isUrgent(
  latestStatus: Pick<Latest, 'status' | 'ended'> | undefined,
  { pod: { status = {} }, view }: Pick<StatusChange, 'pod' | 'view'>,
): boolean {
  if ((latestStatus?.ended ?? false) !== view.isReclaimed) return true;
  // Like the kubelet, send no status before admission, because admission may query the API server.
  if (view.tags.includes('admitting')) return false;
  return isUrgentChange(latestStatus?.status, status, view.termination?.reason === 'Deleted');
}

/**
 * Whether the first status of a pod differs from the source's, possibly older, status only in fields that no component
 * acts on. Always false for a static pod, because its manifest does not contain the mirror pod's status.
 */
const isDeferrableFirstStatus = ({ pod, view }: Pick<StatusChange, 'pod' | 'view'>): boolean =>
  !isStaticPod(pod) && !isUrgentChange(view.pod.status, pod.status ?? {}, false);

/** Whether sending the current status would contradict an earlier one. */
function mustNotReport(
  latestStatus: Pick<Latest, 'status' | 'gone'> | undefined,
  { pod, view }: Pick<StatusChange, 'pod' | 'view'>,
): boolean {
  if (isIncomplete(view)) return true;
  if (view.restoredStatus) return false;
  if (latestStatus && !latestStatus.gone)
    return pod.status !== undefined && isTransitionIllegal(pod, latestStatus.status, pod.status);
  // An earlier agent may have sent a terminal phase and died before the phase was on disk. Until the pod has terminated
  // again, any other phase would contradict it.
  return isTerminalPhasePending(view) || isRepeatingInit(view);
}

/** Replaces the error of an aborted call with a timeout. */
const asTimeout = (within: AbortSignal) => (cause: unknown) => {
  throw within.aborted ? new Error(`no response within ${PUT_TIMEOUT_MS / 1_000}s`, { cause }) : cause;
};

const createFailure = (sink: string, cause: unknown): NodeFailure =>
  new NodeFailure('StatusNotSent', `${sink}: ${messageOf(cause)}`, { cause });
