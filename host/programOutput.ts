/** Runs a program and gives what it writes as it writes it: nobody has to hold all of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startLimit } from '../base/limit.ts';
import { programEnvironment } from './program.ts';

interface OutputOptions {
  /** Ends the program. */
  readonly signal: AbortSignal;
  /** How long it may take, in milliseconds, before it is ended; what it has written by then is all. */
  readonly limitMs: number;
}

const KEPT_STDERR = 4_096;

/**
 * What a program writes, and at last the beginning of what it writes on standard error. How it ends says nothing; throws
 * where it cannot be begun. Whoever does not read on ends it.
 */
export async function* programOutput(
  program: string,
  args: readonly string[],
  { signal, limitMs }: OutputOptions,
): AsyncGenerator<Buffer> {
  const limit = startLimit(limitMs);
  const child = spawn(program, args, {
    env: { ...programEnvironment(), LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    killSignal: 'SIGKILL',
    signal: AbortSignal.any([signal, limit.signal]),
  });
  const closed = once(child, 'close').catch(() => {});
  let stderr: Buffer = Buffer.alloc(0);
  child.stderr.on('data', (more: Buffer) => {
    if (stderr.length < KEPT_STDERR) stderr = Buffer.concat([stderr, more]).subarray(0, KEPT_STDERR);
  });
  // An abort is told as an error too.
  child.on('error', () => {});
  try {
    await once(child, 'spawn');
    // A stream of bytes gives buffers.
    yield* child.stdout as AsyncIterable<Buffer>;
    await closed;
    if (stderr.length > 0) yield stderr;
  } finally {
    limit.end();
    child.kill('SIGKILL');
    child.stderr.destroy();
  }
}
