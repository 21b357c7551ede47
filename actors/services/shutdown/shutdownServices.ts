/** Implements the ports of the host's shutdown over logind and the kubelet's state file. */
import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { goDuration } from '../../../base/time/duration.ts';
import type { Logind } from '../../../host/logind/logind.ts';
import type { PortServices } from '../../boundary.ts';
import type { ShutdownState } from '../../shutdown/shutdownState.ts';
import { withTimeout } from '../withTimeout.ts';

interface ShutdownDependencies {
  /** Undefined if the node does not monitor shutdowns of its host. */
  readonly logind?: Logind | undefined;
  readonly shutdownState: Pick<ShutdownState, 'save'>;
  readonly clock: Clock;
}

/** Time limit of a call to logind in milliseconds. It exceeds the time limit of the program that makes the call. */
const LOGIND_LIMIT_MS = 75_000;
/** Time limit in milliseconds for saving the state. It is short, because saving delays the termination of pods. */
const SAVE_LIMIT_MS = 2_000;

export function shutdownServices({
  logind,
  shutdownState,
  clock,
}: ShutdownDependencies): Pick<PortServices, 'readInhibitDelay' | 'raiseInhibitDelay' | 'saveShutdown'> {
  const callLogind = async <T>(act: (logind: Logind, signal: AbortSignal) => Promise<T>, signal: AbortSignal) => {
    if (logind === undefined) throw createLogindFailure(new Error('the node has no access to logind'));
    const actWithin = (limit: AbortSignal) => unlessAborted(act(logind, limit), limit);
    return withTimeout(actWithin, { clock, timeoutMs: LOGIND_LIMIT_MS, signal }).catch((cause: unknown) => {
      throw createLogindFailure(cause);
    });
  };
  return {
    readInhibitDelay: async ({ requiredMs, attempt, maxAttempts }, { signal }) => {
      const delayMs = await callLogind((connection, limit) => connection.readInhibitDelay({ signal: limit }), signal);
      if (delayMs >= requiredMs || attempt < maxAttempts) return { delayMs };
      throw createLogindFailure(
        new Error(
          `node shutdown manager was timed out after ${attempt} attempts waiting for logind InhibitDelayMaxSec to update to ${goDuration(requiredMs)} (ShutdownGracePeriod), current value is ${goDuration(delayMs)}`,
        ),
      );
    },
    raiseInhibitDelay: async ({ delayMs }, { signal }) => {
      await callLogind((connection, limit) => connection.raiseInhibitDelay(delayMs, { signal: limit }), signal);
      return null;
    },
    saveShutdown: async ({ startedAt, isComplete }, { signal }) => {
      const at = clock.now();
      const save = (limit: AbortSignal) =>
        unlessAborted(shutdownState.save(isComplete ? { startedAt, endedAt: at } : { startedAt }), limit);
      await withTimeout(save, { clock, timeoutMs: SAVE_LIMIT_MS, signal }).catch((cause: unknown) => {
        throw new NodeFailure('StoreFailed', `Failed to store graceful shutdown state: ${messageOf(cause)}`, { cause });
      });
      return { at };
    },
  };
}

/**
 * Returns the failure that the node shows and logs when logind cannot be used. The node's pods are then not terminated
 * gracefully on a shutdown.
 */
export const createLogindFailure = (cause: unknown): NodeFailure =>
  new NodeFailure('LogindFailed', `Failed to start node shutdown manager: ${messageOf(cause)}`, { cause });
