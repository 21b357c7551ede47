/** Defines OOM kills, i.e. kills of processes by the kernel's OOM killer. */

/** An OOM kill, as reported in the kernel log or counted in a cgroup. */
export interface OomKill {
  /** Time of the kill in milliseconds since the epoch, or 0 if unknown. */
  readonly at: number;
  /** ID of the killed process on the host, or 0 if the log does not contain it. */
  readonly pid: number;
  /** Name of the killed process, or empty if the log does not contain it. The kernel truncates names to 15 bytes. */
  readonly processName: string;
  /** Physical memory of the killed process in bytes. Undefined if the log does not contain it. */
  readonly memoryBytes?: number;
  /** The cgroup of the killed process, or `/` if the log does not contain it. */
  readonly cgroup: string;
  /**
   * The cgroup whose memory limit was reached, or `/` if the whole system was out of memory. Empty if it is unknown.
   */
  readonly limitedCgroup: string;
}

/** Whether the whole system was out of memory, and not only a cgroup with a limit. */
export const isSystemOom = ({ limitedCgroup }: OomKill): boolean => limitedCgroup === '/';

/**
 * Returns the ID of the container in which the process ran, or undefined for a process outside of containers. A cgroup
 * inside the container does not affect the result.
 */
export const containerIdOfKill = ({ cgroup }: OomKill): string | undefined => /[0-9a-f]{64}/.exec(cgroup)?.[0];

/** Returns the message of the event SystemOOM, as in the kubelet (`pkg/kubelet/oom/oom_watcher_linux.go`). */
export const systemOomMessage = ({ processName, pid }: OomKill): string =>
  `System OOM encountered${processName !== '' && pid !== 0 ? `, victim process: ${processName}, pid: ${pid}` : ''}`;

const MEBIBYTE = 2 ** 20;

/** Returns the killed process and its memory as a noun phrase, such as `process java (pid 4711), which held 63.9 MiB`. */
export function killedProcess({ processName, pid, memoryBytes }: OomKill): string {
  const name = processName === '' ? 'a process' : `process ${processName}`;
  const id = pid === 0 ? '' : ` (pid ${pid})`;
  const memory = memoryBytes === undefined ? '' : `, which held ${(memoryBytes / MEBIBYTE).toFixed(1)} MiB`;
  return `${name}${id}${memory}`;
}

/**
 * Explains why a container was killed. Either the whole system was out of memory, or one of the container's cgroups
 * reached its memory limit.
 */
export function oomKillMessage(kill: OomKill): string {
  const victim = `the kernel killed ${killedProcess(kill)}`;
  if (kill.limitedCgroup === '') return `memory ran out: ${victim}`;
  return `${isSystemOom(kill) ? 'the system was out of memory' : 'the memory limit was reached'}: ${victim}`;
}
