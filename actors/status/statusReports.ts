/** Sends the queued status of a pod to a sink, and records in the ledger that the sink has acknowledged it. */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import type { StatusSinkInput } from '../../machines/statusSink/chart.ts';
import type { PortService } from '../boundary.ts';
import { withTimeout } from '../services/withTimeout.ts';
import type { QueuedStatus, StatusLedger } from './statusLedger.ts';

/** Timeout of a single `put`, after which the status is sent again. */
const PUT_TIMEOUT_MS = 10_000;

export interface StatusReport extends PodIdentity {
  readonly status: PodStatus;
  /** Whether all containers have stopped and the pod's resources are released. */
  readonly ended: boolean;
  /** Whether the pod is static. Undefined if the pod's object is no longer known. */
  readonly isStatic?: boolean | undefined;
}

export interface StatusPutOptions {
  readonly signal: AbortSignal;
  /** Whether this report equals the last report of the pod that the sink has acknowledged. */
  readonly isAcknowledged: boolean;
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
  put(report: StatusReport, options: StatusPutOptions): Promise<unknown>;
}

interface SenderDependencies {
  readonly sinks: readonly StatusSink[];
  readonly ledger: Pick<StatusLedger, 'queued' | 'acknowledge' | 'isAcknowledged'>;
  readonly clock: Clock;
}

/**
 * Returns the inputs of the sinks' actors. Each input includes the statuses that the sink has not yet received from the
 * previous agent.
 */
export const statusSinkInputs = (
  sinks: readonly StatusSink[],
  ledger: Pick<StatusLedger, 'unacknowledgedBy'>,
): readonly StatusSinkInput[] =>
  sinks.map(({ name, patienceMs }) => ({
    name,
    ...(patienceMs === undefined ? {} : { patienceMs }),
    due: ledger.unacknowledgedBy(name),
  }));

/** Creates the service that sends the latest queued status of a pod to a sink. */
export function createStatusSender({ sinks, ledger, clock }: SenderDependencies): PortService<'putStatus'> {
  return async ({ sink: name, uid }, { signal }) => {
    const sink = sinks.find((each) => each.name === name);
    const queued = ledger.queued(uid);
    if (sink === undefined || queued === undefined) return { version: Number.MAX_SAFE_INTEGER };
    // Enforce the timeout here, because a sink may ignore its signal.
    const put = (within: AbortSignal) => {
      const options = { signal: within, isAcknowledged: ledger.isAcknowledged(name, queued) };
      return unlessAborted(sink.put(reportOf(queued), options), within).catch(asTimeout(within));
    };
    try {
      await withTimeout(put, { clock, signal, timeoutMs: PUT_TIMEOUT_MS });
    } catch (error) {
      // Do not retry for a removed pod, unless the sink must acknowledge how it terminated.
      if (!queued.isGone || sink.mustAcknowledge) throw createFailure(name, error);
    }
    ledger.acknowledge(name, queued);
    return { version: queued.version };
  };
}

/** Returns the report of a queued status. The status is copied, because a sink may modify it. */
const reportOf = ({ uid, namespace, name, status, ended, isStatic }: QueuedStatus): StatusReport => ({
  uid,
  namespace,
  name,
  status: structuredClone(status),
  ended,
  isStatic,
});

/** Replaces the error of an aborted call with a timeout error. */
const asTimeout = (within: AbortSignal) => (cause: unknown) => {
  throw within.aborted ? new Error(`no response within ${PUT_TIMEOUT_MS / 1_000}s`, { cause }) : cause;
};

const createFailure = (sink: string, cause: unknown): NodeFailure =>
  new NodeFailure('StatusNotSent', `${sink}: ${messageOf(cause)}`, { cause });
