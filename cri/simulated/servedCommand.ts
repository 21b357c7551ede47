import { Buffer } from 'node:buffer';
import { finished, pipeline } from 'node:stream/promises';
import { STREAM_TYPE } from '../streaming/remoteCommand.ts';
import type { SpdyStream } from '../streaming/spdyStream.ts';
import { type Clock, pause } from './clock.ts';
import type { SimulatedCommand } from './streams.ts';

/** What a process is told to have ended with that was killed with its container. */
const KILLED = 137;

/** How many streams a client opens for it: one for its end comes on top of what it asked for. */
export const streamsOf = ({ stdin, stdout, stderr, tty }: SimulatedCommand): number =>
  1 + [stdin, stdout, stderr, tty].filter(Boolean).length;

/** Says what it has to say, and how it has ended. */
export async function serveCommand(
  command: SimulatedCommand,
  streams: readonly SpdyStream[],
  { clock, left }: { readonly clock: Clock; readonly left: Promise<unknown> },
): Promise<void> {
  const named = (type: string) => streams.find(({ headers }) => headers.get(STREAM_TYPE) === type);
  const [stdin, stdout, stderr, error] = ['stdin', 'stdout', 'stderr', 'error'].map(named);
  named('resize')?.resume();
  const over = new AbortController();
  const exitCode = await Promise.race([
    left.then(() => KILLED),
    command.ended.then(() => (command.kind === 'attach' ? 0 : KILLED)),
    spoken(command, { stdin, stdout, stderr }, clock, over.signal),
  ]);
  over.abort();
  for (const stream of [stdout, stderr]) stream?.end();
  error?.end(Buffer.from(statusOf(exitCode)));
  await Promise.all([stdout, stderr, error].map(sent));
}

interface Spoken {
  readonly stdin: SpdyStream | undefined;
  readonly stdout: SpdyStream | undefined;
  readonly stderr: SpdyStream | undefined;
}

/** The exit code, once there is one. */
async function spoken(
  { kind, answer }: SimulatedCommand,
  { stdin, stdout, stderr }: Spoken,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  if (kind === 'attach') {
    // The process of a container reads nothing, and ends with it.
    stdin?.resume();
    return await new Promise(() => {});
  }
  if (answer === undefined) {
    if (stdin && stdout) await pipeline(stdin, stdout, { signal }).catch(() => {});
    else if (stdin) await finished(stdin.resume(), { signal, writable: false }).catch(() => {});
    return 0;
  }
  stdin?.resume();
  stdout?.write(answer.stdout ?? '');
  stderr?.write(answer.stderr ?? '');
  await pause(clock, answer.afterMs ?? 0, signal).catch(() => {});
  return answer.exitCode ?? 0;
}

const sent = (stream: SpdyStream | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (stream === undefined || stream.writableFinished || stream.destroyed) return resolve();
    stream.once('finish', resolve).once('close', () => resolve());
  });

/** The last word of a command, as containerd writes it. */
function statusOf(exitCode: number): string {
  if (exitCode === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  });
}
