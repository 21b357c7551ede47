import type { AttachRequest } from '../../generated/runtime.ts';
import { CallError } from '../faults/callError.ts';
import type { Operations } from '../faults/callNames.ts';
import { requireById } from '../objects/byId.ts';
import { type ContainerRecord, containerStateName, isRunning, type RuntimeRecords } from '../objects/records.ts';
import type { SimulatedRuntimeOptions } from '../options.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { SimulatedStream } from '../streams/streams.ts';
import { type ExecScript, streamedExecResult } from './exec.ts';

interface Options extends Pick<SimulatedRuntimeOptions, 'streams' | 'ports'> {
  readonly exec: ExecScript | undefined;
}
type RequestedStreams = Omit<AttachRequest, '$type' | 'containerId'>;

/**
 * Implements exec, attach and port-forward, which return a URL. The calls are refused if no streaming server is
 * configured.
 */
export function createStreamingCalls(
  context: RuntimeContext,
  { containers, sandboxes }: RuntimeRecords,
  options: () => Options,
): Pick<Operations, 'exec' | 'attach' | 'portForward'> {
  const serveStream = async (stream: SimulatedStream) => {
    const { streams } = options();
    if (streams !== undefined) return { url: await streams(stream) };
    throw new CallError('UNIMPLEMENTED', 'the simulated runtime runs no processes, so it has none to connect to');
  };
  const requireRunning = (id: string): ContainerRecord => {
    const record = requireById(containers, id, `failed to find container "${id}" in store`);
    if (isRunning(record)) return record;
    throw new CallError('UNKNOWN', `container is in ${containerStateName(record)} state`);
  };
  return {
    exec: async ({ containerId, cmd, ...streams }, signal) => {
      const record = requireRunning(containerId);
      validateStreams('exec', streams);
      await context.simulateWork('exec', signal);
      const result = streamedExecResult(record, { cmd, stdin: streams.stdin }, options().exec);
      return await serveStream({ kind: 'exec', ...streams, result, ended: waitForExit(record) });
    },
    attach: async ({ containerId, ...streams }, signal) => {
      const record = requireRunning(containerId);
      validateStreams('attach', streams);
      await context.simulateWork('attach', signal);
      return await serveStream({ kind: 'attach', ...streams, result: undefined, ended: waitForExit(record) });
    },
    portForward: async ({ podSandboxId }, signal) => {
      const record = requireById(sandboxes, podSandboxId, `failed to find sandbox "${podSandboxId}"`);
      if (!record.ready) throw new CallError('UNKNOWN', `sandbox container "${record.id}" is not running`);
      await context.simulateWork('portForward', signal);
      return await serveStream({ kind: 'portForward', dial: options().ports?.(record) ?? (() => undefined) });
    },
  };
}

function validateStreams(call: 'exec' | 'attach', { tty, stdin, stdout, stderr }: RequestedStreams): void {
  if (tty && stderr) throw new CallError('INVALID_ARGUMENT', 'tty and stderr cannot both be true');
  if (stdin || stdout || stderr) return;
  const conjunction = call === 'exec' ? 'or' : 'and';
  throw new CallError('INVALID_ARGUMENT', `one of stdin, stdout, ${conjunction} stderr must be set`);
}

const waitForExit = ({ lifecycle }: ContainerRecord): Promise<void> =>
  lifecycle.state === 'running' ? lifecycle.exitPromise : Promise.resolve();
