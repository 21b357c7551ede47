/** The statuses on their way to sinks: the latest of each pod, until all have taken it. */

import type { Clock } from '../../base/clock.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import { isStaticPod } from '../../kubernetes/api/staticPod.ts';
import type { PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { isTerminalPhase, isTerminalPhasePending } from '../../kubernetes/status/phase.ts';
import { isSamePodStatus } from '../../kubernetes/status/status.ts';
import { isRepeatingInit, isTransitionIllegal } from '../../kubernetes/status/transitions.ts';
import { isUrgentChange } from '../../kubernetes/status/urgentChange.ts';
import type { PodView } from '../../kubernetes/status/view.ts';
import type { DueStatus, StatusSinkInput } from '../../machines/statusSink/chart.ts';
import type { Service } from '../boundary.ts';
import { withinLimit } from '../services/timeLimit.ts';
import type { NodeStore, UnacknowledgedEnd } from '../store/durableFacts.ts';
import type { StatusChange } from './statusBoard.ts';

/** So long one status may take. */
const PUT_MS = 10_000;

/** What a sink is told of a pod. */
export interface StatusReport extends PodIdentity {
  readonly status: PodStatus;
  /** No container of it runs any more, and what it held is given back. */
  readonly ended: boolean;
  /** It is the node's own, which an API server has at most a mirror of; absent: nobody knows any more. */
  readonly isStatic?: boolean | undefined;
}

/** Where statuses go; it may be slow, and may fail. */
export interface StatusSink {
  /** Of its own among all sinks. */
  readonly name: string;
  /** Whether a terminal status stays on disk, also over a restart of the agent, until it was taken here. */
  readonly mustAcknowledge: boolean;
  /**
   * So long a status on which nobody acts may wait for what follows it, in milliseconds; the first one of a pod that comes
   * with many others waits longer; absent: none waits.
   */
  readonly patienceMs?: number;
  /**
   * Takes the latest status of a pod, which may be the one that it had; resolves when it has it. What it rejects, or has
   * not taken within 10 s, it is sent again.
   */
  put(report: StatusReport, options: { readonly signal: AbortSignal }): Promise<unknown>;
}

interface Latest extends StatusReport {
  readonly version: number;
  /** The sinks that have yet to take this version. */
  readonly missing: Set<string>;
  /** Nothing of it is left on the node. */
  readonly gone: boolean;
}

interface ReportParts {
  readonly sinks: readonly StatusSink[];
  readonly store: Pick<NodeStore, 'write' | 'remove' | 'isUnwritten' | 'whenWritten'>;
  readonly unacknowledged: ReadonlyMap<string, UnacknowledgedEnd>;
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
}

export class StatusReports {
  readonly #parts: ReportParts;
  readonly #latest = new Map<string, Latest>();
  readonly #acknowledging: readonly string[];
  /** The ends that are on disk. */
  readonly #kept = new Map<string, UnacknowledgedEnd>();
  /** The last status of each pod that is to be told once what it rests on is on disk. */
  readonly #held = new Map<string, PodStatus>();
  /** The pods whose end that is on disk is held as well: what is told before it says nothing of a later run. */
  readonly #untold = new Set<string>();

  constructor(parts: ReportParts) {
    this.#parts = parts;
    this.#acknowledging = parts.sinks.flatMap(({ name, mustAcknowledge }) => (mustAcknowledge ? [name] : []));
    for (const [uid, end] of parts.unacknowledged) this.#restore(uid, end);
  }

  /** What each sink has to be sent of what a former run has left. */
  due(): readonly StatusSinkInput[] {
    const left = [...this.#latest.values()];
    return this.#parts.sinks.map(({ name, patienceMs }) => ({
      name,
      ...(patienceMs === undefined ? {} : { patienceMs }),
      due: left.flatMap(({ uid, version, missing }) => (missing.has(name) ? [{ uid, version }] : [])),
    }));
  }

  /** Writes an end that a sink has to acknowledge, before anybody is told of it; `isFinal`: the pod must not run again. */
  keep({ uid, pod, view, removed }: StatusChange, isFinal: boolean): Promise<void> | undefined {
    if (this.#acknowledging.length === 0) return undefined;
    const { metadata, status } = pod;
    const kept = this.#kept.get(uid);
    // Once it is gone it may be wanted again, and runs then.
    const isReopened = removed && kept?.isFinal === true;
    const held = this.#held.get(uid);
    const known = held ? { status: held, gone: false } : this.#latest.get(uid);
    // Nobody is told of it: it is not what the next end is compared with, nor what the next agent tells.
    if (isSilent(known, { pod, view })) return isReopened ? this.#write(uid, { ...kept, isFinal }) : undefined;
    const before = known?.status;
    if (status !== undefined) this.#held.set(uid, status);
    // What the node refused it decides again when it starts again (C24).
    if (view.refused) return undefined;
    if (!isTerminalPhase(status?.phase) || (isSamePodStatus(before, status) && !isReopened)) return undefined;
    const { namespace, name } = metadata;
    this.#untold.add(uid);
    return this.#write(uid, { namespace, name, status, isFinal });
  }

  /** Takes note of what was told of a pod; gives what the sinks have to send, if that is something new. */
  take({ uid, pod, view, removed }: StatusChange): DueStatus | undefined {
    const known = this.#latest.get(uid);
    const { metadata, status } = pod;
    if (this.#held.get(uid) === status) this.#held.delete(uid);
    if (this.#kept.get(uid)?.status === status) this.#untold.delete(uid);
    // What has ended does not begin anew as its last traces are removed.
    const isSame = known && (known.ended || !view.reclaimed) && isSamePodStatus(known.status, status);
    if (known && removed) this.#latest.set(uid, { ...known, gone: true });
    if (this.#parts.sinks.length === 0 || status === undefined || isSame || isSilent(known, { pod, view })) {
      this.#forgetDone(uid);
      return undefined;
    }
    // The same pod was wanted once more: how it ended before is no news any more.
    if (this.#kept.has(uid) && !this.#untold.has(uid) && !isTerminalPhase(status.phase)) this.#remove(uid);
    const { namespace, name } = metadata;
    const version = (known?.version ?? 0) + 1;
    const missing = new Set(this.#parts.sinks.map((sink) => sink.name));
    const [isStatic, ended] = [isStaticPod(pod), view.reclaimed];
    this.#latest.set(uid, { uid, namespace, name, status, ended, isStatic, version, missing, gone: removed });
    if (isAwaited(known, { pod, view })) return { uid, version };
    return { uid, version, mayWait: true, ...(known === undefined && isNew({ pod, view }) ? { isFirst: true } : {}) };
  }

  /** Fills the port `putStatus`. */
  readonly put: Service<'putStatus'> = async ({ sink: name, uid }, { signal }) => {
    const { sinks, clock } = this.#parts;
    const report = this.#latest.get(uid);
    const sink = sinks.find((each) => each.name === name);
    if (report === undefined || sink === undefined) return { version: Number.MAX_SAFE_INTEGER };
    const { namespace, name: podName, status, ended, isStatic, version, gone } = report;
    try {
      // It is the sink's own: what that makes of it is nobody else's status.
      const told = { uid, namespace, name: podName, status: structuredClone(status), ended, isStatic };
      // A sink need not look at its signal.
      const act = (within: AbortSignal) =>
        unlessAborted(sink.put(told, { signal: within }), within).catch(late(within));
      await withinLimit(act, { clock, signal, timeoutMs: PUT_MS });
    } catch (error) {
      // Of a pod that is gone it was told in vain: nobody waits for that but those who must know how it ended.
      if (!gone || sink.mustAcknowledge) throw failureOf(name, error);
    }
    this.#acknowledge(name, report);
    return { version };
  };

  #acknowledge(sink: string, { uid, version }: Latest): void {
    const latest = this.#latest.get(uid);
    if (latest?.version === version) latest.missing.delete(sink);
    const isAwaited = this.#acknowledging.some((name) => latest?.missing.has(name));
    // A later end may be on disk already that nobody was told of yet.
    const isOnDisk = this.#kept.has(uid) && isSamePodStatus(this.#kept.get(uid)?.status, latest?.status);
    if (isOnDisk && !isAwaited) this.#removeSaved(uid);
    this.#forgetDone(uid);
  }

  #forgetDone(uid: string): void {
    const latest = this.#latest.get(uid);
    if (latest?.gone && latest.missing.size === 0) this.#latest.delete(uid);
  }

  #restore(uid: string, end: UnacknowledgedEnd): void {
    this.#kept.set(uid, end);
    const missing = new Set(this.#acknowledging);
    if (missing.size === 0) this.#removeSaved(uid);
    else this.#latest.set(uid, { ...end, uid, ended: true, version: 1, missing, gone: true });
  }

  #write(uid: string, end: UnacknowledgedEnd): Promise<void> {
    this.#kept.set(uid, end);
    const { store, onError } = this.#parts;
    return store.write('unacknowledged', uid, end).catch((error) => onError('store', error));
  }

  /** Removes an end that all have taken: while it cannot be saved as the status of the pod, it is all that the next agent has. */
  #removeSaved(uid: string): void {
    const { store } = this.#parts;
    const taken = this.#kept.get(uid)?.status;
    const remove = () => {
      if (isSamePodStatus(this.#kept.get(uid)?.status, taken)) this.#remove(uid);
    };
    if (store.isUnwritten('statuses', uid)) void store.whenWritten('statuses', uid).then(remove);
    else remove();
  }

  #remove(uid: string): void {
    this.#kept.delete(uid);
    this.#untold.delete(uid);
    this.#parts.store.remove('unacknowledged', uid).catch((error) => this.#parts.onError('store', error));
  }
}

/**
 * Whether less is known of the pod than sinks have been told: until its containers are, and of one that ends before, or
 * after, any source tells of it, of which there is but what the runtime and the disk have. As in a kubelet, which tells
 * nothing of those. Nor is anything told of what a list shows once more of a pod that has ended.
 */
const isUnknown = ({ unsettled, termination }: PodView): boolean =>
  unsettled === true || termination?.isUnheard === true;

/** Whether others act on what is new of the pod. */
function isAwaited(
  known: Pick<Latest, 'status' | 'ended'> | undefined,
  { pod: { status = {} }, view }: Pick<StatusChange, 'pod' | 'view'>,
): boolean {
  if ((known?.ended ?? false) !== view.reclaimed) return true;
  // As a kubelet tells nothing of a pod before it has decided on it: that may take a question to the API server.
  if (view.tags.includes('admitting')) return false;
  return isUrgentChange(known?.status, status, view.termination?.reason === 'Deleted');
}

/**
 * Whether the source of a pod, which may know it from an earlier agent, has nothing of it that anybody would act on. What
 * the mirror of a static pod says its manifest does not tell.
 */
const isNew = ({ pod, view }: Pick<StatusChange, 'pod' | 'view'>): boolean =>
  !isStaticPod(pod) && !isUrgentChange(view.pod.status, pod.status ?? {}, false);

/** Whether what is now known of the pod would take back what sinks have been told. */
function isSilent(
  known: Pick<Latest, 'status' | 'gone'> | undefined,
  { pod, view }: Pick<StatusChange, 'pod' | 'view'>,
): boolean {
  if (isUnknown(view)) return true;
  if (view.restored) return false;
  if (known && !known.gone) return pod.status !== undefined && isTransitionIllegal(pod, known.status, pod.status);
  // An earlier agent may have told a terminal phase and died before that was on disk: until the pod has ended again any
  // other phase would take it back.
  return isTerminalPhasePending(view) || isRepeatingInit(view);
}

/** What a call that was given up has come to is that its time was over. */
const late = (within: AbortSignal) => (cause: unknown) => {
  throw within.aborted ? new Error(`no response within ${PUT_MS / 1_000}s`, { cause }) : cause;
};

const failureOf = (sink: string, cause: unknown): NodeFailure =>
  new NodeFailure('StatusNotSent', `${sink}: ${messageOf(cause)}`, { cause });
