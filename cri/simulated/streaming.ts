import type { AttachRequest } from '../generated/runtime.ts';
import { requireById } from './byId.ts';
import { CallError } from './callError.ts';
import type { Operations } from './callNames.ts';
import { type ExecScript, streamedAnswer } from './exec.ts';
import type { SimulatedRuntimeOptions } from './options.ts';
import { type ContainerRecord, containerStateName, isRunning, type Records } from './records.ts';
import type { SimulatedStream } from './streams.ts';
import type { World } from './world.ts';

interface Options extends Pick<SimulatedRuntimeOptions, 'streams' | 'ports'> {
  readonly exec: ExecScript | undefined;
}
type Streams = Omit<AttachRequest, '$type' | 'containerId'>;

/** The calls for a URL at which a command, a container's process or a pod's ports are served: refused where nobody serves. */
export function streamingOf(
  world: World,
  { containers, sandboxes }: Records,
  options: () => Options,
): Pick<Operations, 'exec' | 'attach' | 'portForward'> {
  const place = async (stream: SimulatedStream) => {
    const { streams } = options();
    if (streams !== undefined) return { url: await streams(stream) };
    throw new CallError('UNIMPLEMENTED', 'the simulated runtime runs no processes, so it has none to connect to');
  };
  const running = (id: string): ContainerRecord => {
    const record = requireById(containers, id, `failed to find container "${id}" in store`);
    if (isRunning(record)) return record;
    throw new CallError('UNKNOWN', `container is in ${containerStateName(record)} state`);
  };
  return {
    exec: async ({ containerId, cmd, ...streams }, signal) => {
      const record = running(containerId);
      checkStreams('exec', streams);
      await world.work('exec', signal);
      const answer = streamedAnswer(record, { cmd, stdin: streams.stdin }, options().exec);
      return await place({ kind: 'exec', ...streams, answer, ended: endOf(record) });
    },
    attach: async ({ containerId, ...streams }, signal) => {
      const record = running(containerId);
      checkStreams('attach', streams);
      await world.work('attach', signal);
      return await place({ kind: 'attach', ...streams, answer: undefined, ended: endOf(record) });
    },
    portForward: async ({ podSandboxId }, signal) => {
      const record = requireById(sandboxes, podSandboxId, `failed to find sandbox "${podSandboxId}"`);
      if (!record.ready) throw new CallError('UNKNOWN', `sandbox container "${record.id}" is not running`);
      await world.work('portForward', signal);
      return await place({ kind: 'portForward', dial: options().ports?.(record) ?? (() => undefined) });
    },
  };
}

function checkStreams(call: 'exec' | 'attach', { tty, stdin, stdout, stderr }: Streams): void {
  if (tty && stderr) throw new CallError('INVALID_ARGUMENT', 'tty and stderr cannot both be true');
  if (stdin || stdout || stderr) return;
  const last = call === 'exec' ? 'or' : 'and';
  throw new CallError('INVALID_ARGUMENT', `one of stdin, stdout, ${last} stderr must be set`);
}

const endOf = ({ life }: ContainerRecord): Promise<void> => (life.state === 'running' ? life.ended : Promise.resolve());
