import type { AttachRequest } from '../generated/runtime.ts';
import { requireById } from './byId.ts';
import { CallError } from './callError.ts';
import type { Operations } from './callNames.ts';
import { containerStateName, isRunning, type Records } from './records.ts';
import type { World } from './world.ts';

/** The calls for a URL at which a command, or a container's process, is served: refused, at last, for want of processes. */
export function streamingOf(world: World, { containers }: Records): Pick<Operations, 'exec' | 'attach'> {
  const refuse = async (call: 'exec' | 'attach', asked: Omit<AttachRequest, '$type'>, signal: AbortSignal) => {
    const { containerId, tty, stdin, stdout, stderr } = asked;
    const record = requireById(containers, containerId, `failed to find container "${containerId}" in store`);
    if (!isRunning(record)) throw new CallError('UNKNOWN', `container is in ${containerStateName(record)} state`);
    if (tty && stderr) throw new CallError('INVALID_ARGUMENT', 'tty and stderr cannot both be true');
    if (!stdin && !stdout && !stderr) {
      const last = call === 'exec' ? 'or' : 'and';
      throw new CallError('INVALID_ARGUMENT', `one of stdin, stdout, ${last} stderr must be set`);
    }
    await world.work(call, signal);
    throw new CallError('UNIMPLEMENTED', 'the simulated runtime runs no processes, so it has none to connect to');
  };
  return {
    exec: (request, signal) => refuse('exec', request, signal),
    attach: (request, signal) => refuse('attach', request, signal),
  };
}
