import { readFile } from 'node:fs/promises';
import { messageOf } from '../base/failure.ts';
import { runProgram } from './program.ts';

const TIMEOUT_MS = 10_000;

/**
 * Sets the hard and the soft limit on open files for this process, as the kubelet does (`SetNumFiles` in
 * `pkg/util/rlimit/rlimit_linux.go`). Child processes that are started later inherit the limits. Returns an error
 * message, or undefined on success.
 */
export async function setOpenFileLimit(limit: number, pid = process.pid): Promise<string | undefined> {
  const limits = await readOpenFileLimits(pid);
  if (limits?.every((each) => each === String(limit))) return undefined;
  try {
    const { signal } = new AbortController();
    // Node.js has no API to set resource limits.
    await runProgram('prlimit', ['--pid', String(pid), `--nofile=${limit}:${limit}`], {
      signal,
      timeoutMs: TIMEOUT_MS,
    });
    return undefined;
  } catch (error) {
    const current = limits === undefined ? 'unknown' : limits.join(' (soft) and ');
    return `the agent's limit of open files stays ${current}, because it cannot be set to ${limit}: ${messageOf(error)}`;
  }
}

/** Returns the soft and the hard limit, or undefined if they cannot be read. */
async function readOpenFileLimits(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => '');
  return /^Max open files +(\S+) +(\S+)/m.exec(text)?.slice(1);
}
