/** Measures the disk usage of directory trees in a child process. */

import { runProgram } from '../../host/program.ts';
import { scriptPath } from '../../host/scriptPath.ts';
import type { TimedUsage } from '../../host/usage/diskUsages.ts';

/** Timeout of the child process, in milliseconds. It applies if e.g. a file system call hangs in the kernel. */
const TIMEOUT_MS = 90_000;

/** Measures the trees and returns the results in the order of `paths`. Rejects if the child process fails. */
export async function countTrees(paths: readonly string[], signal: AbortSignal): Promise<readonly TimedUsage[]> {
  const script = scriptPath(import.meta.dirname, 'usageChild');
  const input = JSON.stringify(paths);
  const output = await runProgram(process.execPath, [script], { signal, input, timeoutMs: TIMEOUT_MS });
  // Safe cast, because the child runs the same program.
  return JSON.parse(output) as readonly TimedUsage[];
}
