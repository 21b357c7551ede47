/** Parses files in /proc about the host as a whole. The functions return undefined for missing values. */

/** Parses the boot time from `/proc/stat`, in milliseconds since the epoch. */
export function parseBootTime(stat: string): number | undefined {
  const [, seconds] = /^btime (\d+)$/m.exec(stat) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/**
 * Parses the total number of processes and threads from `/proc/loadavg`, e.g. 3518 from `1.36 3.49 4.53 2/3518
 * 3715089`.
 */
export function parseTaskCount(loadavg: string): number | undefined {
  const [, count] = /^(?:\S+ ){3}\d+\/(\d+) \d+/.exec(loadavg) ?? [];
  return count === undefined ? undefined : Number(count);
}

/** Parses the value of a line of `/proc/meminfo`, in bytes. `name` is the key of the line, e.g. `MemTotal`. */
export function parseMeminfoBytes(meminfo: string, name: string): number | undefined {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Parses the total memory and swap from `/proc/meminfo`, in bytes. */
export function parseMemoryTotals(meminfo: string): { readonly memory?: number; readonly swap?: number } {
  const [memory, swap] = [parseMeminfoBytes(meminfo, 'MemTotal'), parseMeminfoBytes(meminfo, 'SwapTotal')];
  return { ...(memory === undefined ? {} : { memory }), ...(swap === undefined ? {} : { swap }) };
}

/**
 * Returns the lowest of the kernel's task limits (`pkg/kubelet/stats/pidlimit`), given the contents of the files that
 * contain them.
 */
export function lowestTaskLimit(...fileContents: readonly (string | undefined)[]): number | undefined {
  const limits = fileContents.filter((text) => /^\d+\n?$/.test(text ?? '')).map(Number);
  return limits.length > 0 ? Math.min(...limits) : undefined;
}
