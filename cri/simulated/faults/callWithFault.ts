import { pause, waitForEvent } from '../clock.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import { CallError, runtimeDownError } from './callError.ts';
import type { InjectedFault } from './faults.ts';

/** A call into which a fault is injected. */
interface FaultyCall<Response> {
  readonly execute: () => Promise<Response>;
  /** Rolls back the effects of the call as far as a real runtime would. */
  readonly rollBack: (response: Response, message: string) => void;
  readonly takeDown: () => void;
}

/**
 * Executes a call and applies the effects of the fault. Rolls back the call if the fault makes it fail after execution.
 */
export async function callWithFault<Response>(
  { fault, releasePromise }: InjectedFault,
  { clock }: RuntimeContext,
  signal: AbortSignal,
  { execute, rollBack, takeDown }: FaultyCall<Response>,
): Promise<Response> {
  await pause(clock, fault.delayMs ?? 0, signal);
  if (fault.hang) await waitForEvent(releasePromise, clock, undefined, signal);
  if (fault.error) throw new CallError(fault.error.code ?? 'UNKNOWN', fault.error.message);
  if (fault.crash === 'before') crashRuntime(takeDown);
  const response = await execute();
  if (fault.crash === 'after') crashRuntime(takeDown);
  await pause(clock, fault.lateReplyMs ?? 0, signal);
  if (fault.failsAfter) {
    rollBack(response, fault.failsAfter.message);
    throw new CallError(fault.failsAfter.code ?? 'UNKNOWN', fault.failsAfter.message);
  }
  if (fault.lostReply === 'error') throw new CallError('UNAVAILABLE', 'error reading from server: EOF');
  if (fault.lostReply === 'timeout') await waitForEvent(releasePromise, clock, undefined, signal);
  return response;
}

function crashRuntime(takeDown: () => void): never {
  takeDown();
  throw runtimeDownError();
}
