import { join } from 'node:path';
import { runProgram } from '../../../../host/program.ts';

const LIMIT_MS = 300_000;

/** Runs a module of this folder in a separate process and returns the JSON that it prints. */
export async function runProcess(file: string, args: readonly string[] = []): Promise<unknown> {
  const { signal } = new AbortController();
  const path = join(import.meta.dirname, file);
  const options = ['--max-semi-space-size=32', '--disable-warning=ExperimentalWarning'];
  return JSON.parse(await runProgram(process.execPath, [...options, path, ...args], { signal, timeoutMs: LIMIT_MS }));
}
