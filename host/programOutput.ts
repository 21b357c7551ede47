/** Runs a program and streams its output, so that the output is never in memory as a whole. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import { programEnvironment } from './program.ts';

interface OutputOptions {
  /** Aborting this signal kills the program. */
  readonly signal: AbortSignal;
  /** Timeout in milliseconds, after which the program is killed and the output ends. */
  readonly timeoutMs: number;
}

const MAX_STDERR_BYTES = 4_096;

/**
 * Yields the standard output of a program and then the start of its standard error. Ignores the exit code. Throws if
 * the program cannot be started. Kills the program if the consumer stops.
 */
export async function* streamProgramOutput(
  program: string,
  args: readonly string[],
  { signal, timeoutMs }: OutputOptions,
): AsyncGenerator<Buffer> {
  const timeout = startTimeLimit(timeoutMs);
  const child = spawn(program, args, {
    env: { ...programEnvironment(), LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    killSignal: 'SIGKILL',
    signal: AbortSignal.any([signal, timeout.signal]),
  });
  const closePromise = once(child, 'close').catch(() => {});
  let stderr: Buffer = Buffer.alloc(0);
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR_BYTES) stderr = Buffer.concat([stderr, chunk]).subarray(0, MAX_STDERR_BYTES);
  });
  // Prevent an uncaught `error` event, because Node.js emits this event after an abort as well.
  child.on('error', () => {});
  try {
    await once(child, 'spawn');
    // Safe cast, because a stream without an encoding yields buffers.
    yield* child.stdout as AsyncIterable<Buffer>;
    await closePromise;
    if (stderr.length > 0) yield stderr;
  } finally {
    timeout.clear();
    child.kill('SIGKILL');
    child.stderr.destroy();
  }
}
