import { CallError, gone } from './callError.ts';
import { pause, within } from './clock.ts';
import type { Strike } from './faults.ts';
import type { World } from './world.ts';

/** A call as a fault finds it. */
interface StruckCall<Answer> {
  readonly act: () => Promise<Answer>;
  /** Takes back what was done, as far as a real runtime does it. */
  readonly undo: (answer: Answer, message: string) => void;
  /** How the runtime goes away. */
  readonly crash: () => void;
}

/** Does a call that a fault strikes. */
export async function struck<Answer>(
  { fault, released }: Strike,
  { clock }: World,
  signal: AbortSignal,
  { act, undo, crash }: StruckCall<Answer>,
): Promise<Answer> {
  await pause(clock, fault.delayMs ?? 0, signal);
  if (fault.hang) await within(released, clock, undefined, signal);
  if (fault.error) throw new CallError(fault.error.code ?? 'UNKNOWN', fault.error.message);
  if (fault.crash === 'before') crashing(crash);
  const answer = await act();
  if (fault.crash === 'after') crashing(crash);
  await pause(clock, fault.lateReplyMs ?? 0, signal);
  if (fault.failsAfter) {
    undo(answer, fault.failsAfter.message);
    throw new CallError(fault.failsAfter.code ?? 'UNKNOWN', fault.failsAfter.message);
  }
  if (fault.lostReply === 'error') throw new CallError('UNAVAILABLE', 'error reading from server: EOF');
  if (fault.lostReply === 'timeout') await within(released, clock, undefined, signal);
  return answer;
}

function crashing(crash: () => void): never {
  crash();
  throw gone();
}
