import { Buffer } from 'node:buffer';
import { finished, pipeline } from 'node:stream/promises';
import type { TimerClock } from '../../../base/time/clock.ts';
import { STREAM_TYPE_HEADER } from '../../streaming/remoteCommand.ts';
import type { SpdyStream } from '../../streaming/spdyStream.ts';
import { pause } from '../clock.ts';
import type { SimulatedCommand } from './streams.ts';

/** Exit code that is reported for a process that was killed together with its container. */
const KILLED_EXIT_CODE = 137;

/** Returns the number of streams that a client opens for a command, including the error stream. */
export const countStreams = ({ stdin, stdout, stderr, tty }: SimulatedCommand): number =>
  1 + [stdin, stdout, stderr, tty].filter(Boolean).length;

/** Writes the output of a command and sends its exit status. */
export async function serveCommand(
  command: SimulatedCommand,
  streams: readonly SpdyStream[],
  { clock, disconnected }: { readonly clock: TimerClock; readonly disconnected: Promise<unknown> },
): Promise<void> {
  const findStream = (type: string) => streams.find(({ headers }) => headers.get(STREAM_TYPE_HEADER) === type);
  const [stdin, stdout, stderr, error] = ['stdin', 'stdout', 'stderr', 'error'].map(findStream);
  findStream('resize')?.resume();
  const exitController = new AbortController();
  const exitCode = await Promise.race([
    disconnected.then(() => KILLED_EXIT_CODE),
    command.ended.then(() => (command.kind === 'attach' ? 0 : KILLED_EXIT_CODE)),
    runToExit(command, { stdin, stdout, stderr }, clock, exitController.signal),
  ]);
  exitController.abort();
  for (const stream of [stdout, stderr]) stream?.end();
  error?.end(Buffer.from(formatExitStatus(exitCode)));
  await Promise.all([stdout, stderr, error].map(waitUntilFlushed));
}

interface StandardStreams {
  readonly stdin: SpdyStream | undefined;
  readonly stdout: SpdyStream | undefined;
  readonly stderr: SpdyStream | undefined;
}

/** Runs the command and returns its exit code. */
async function runToExit(
  { kind, result }: SimulatedCommand,
  { stdin, stdout, stderr }: StandardStreams,
  clock: TimerClock,
  signal: AbortSignal,
): Promise<number> {
  if (kind === 'attach') {
    // Discard the input, because the simulated main process neither reads input nor exits on its own.
    stdin?.resume();
    return await new Promise(() => {});
  }
  if (result === undefined) {
    if (stdin && stdout) await pipeline(stdin, stdout, { signal }).catch(() => {});
    else if (stdin) await finished(stdin.resume(), { signal, writable: false }).catch(() => {});
    return 0;
  }
  stdin?.resume();
  stdout?.write(result.stdout ?? '');
  stderr?.write(result.stderr ?? '');
  await pause(clock, result.afterMs ?? 0, signal).catch(() => {});
  return result.exitCode ?? 0;
}

const waitUntilFlushed = (stream: SpdyStream | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (stream === undefined || stream.writableFinished || stream.destroyed) return resolve();
    stream.once('finish', resolve).once('close', () => resolve());
  });

/** Returns the Status of a command in containerd's format. */
function formatExitStatus(exitCode: number): string {
  if (exitCode === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  });
}
