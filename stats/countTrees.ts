/** Has a process of its own count what trees take on disk. */
import { ownScript } from '../host/ownScript.ts';
import { runProgram } from '../host/program.ts';
import type { Counted } from '../host/usage/diskUsages.ts';

/** The process ends by itself before: what hangs in the kernel is given up. */
const LIMIT_MS = 90_000;

/** In the order of the paths; rejects where none of them could be counted. */
export async function countTrees(paths: readonly string[], signal: AbortSignal): Promise<readonly Counted[]> {
  const script = ownScript(import.meta.dirname, 'usageChild');
  const input = JSON.stringify(paths);
  const answer = await runProgram(process.execPath, [script], { signal, input, limitMs: LIMIT_MS });
  // Of the same program, so it is what it is said to be.
  return JSON.parse(answer) as readonly Counted[];
}
