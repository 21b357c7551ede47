import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { interruption } from './interruption.ts';

/** Another process of the bench: its PID, and the line that it printed when it was ready. */
export interface Child {
  readonly pid: number;
  readonly said: string;
}

/**
 * Runs a file of the bench as its own process and calls `use` once the process has printed a line. Kills the process
 * when `use` settles.
 */
export async function withProcess<T>(
  file: string,
  args: readonly string[],
  use: (child: Child) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
    signal: interruption,
    killSignal: 'SIGKILL',
  });
  child.on('error', () => {});
  try {
    const [said] = await once(child.stdout, 'data');
    return await use({ pid: child.pid ?? 0, said: String(said).trim() });
  } finally {
    child.kill();
  }
}
