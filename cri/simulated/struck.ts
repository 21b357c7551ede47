import { CallError } from './callError.ts';
import { pause, within } from './clock.ts';
import type { Strike } from './faults.ts';
import type { World } from './world.ts';

/** Does a call that a fault strikes; `crash` is how the runtime goes away. */
export async function struck<Answer>(
  { fault, released }: Strike,
  { clock }: World,
  signal: AbortSignal,
  crash: () => void,
  act: () => Promise<Answer>,
): Promise<Answer> {
  await pause(clock, fault.delayMs ?? 0, signal);
  if (fault.hang) await within(released, clock, undefined, signal);
  if (fault.error) throw new CallError(fault.error.code ?? 'UNKNOWN', fault.error.message);
  if (fault.crash === 'before') crashing(crash);
  const answer = await act();
  if (fault.crash === 'after') crashing(crash);
  if (fault.lostReply === 'error') throw new CallError('UNAVAILABLE', 'error reading from server: EOF');
  if (fault.lostReply === 'timeout') await within(released, clock, undefined, signal);
  return answer;
}

function crashing(crash: () => void): never {
  crash();
  throw new CallError('UNAVAILABLE', 'error reading from server: EOF');
}
