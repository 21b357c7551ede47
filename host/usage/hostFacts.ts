/** What the kernel tells of the host as a whole: texts of /proc. What one does not say is absent. */

/** When the host was started, in milliseconds since the epoch, by the text of `/proc/stat`. */
export function bootTime(stat: string): number | undefined {
  const [, seconds] = /^btime (\d+)$/m.exec(stat) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/** How many processes and threads there are, by the text of `/proc/loadavg`: `1.36 3.49 4.53 2/3518 3715089`. */
export function taskCount(loadavg: string): number | undefined {
  const [, all] = /^(?:\S+ ){3}\d+\/(\d+) \d+/.exec(loadavg) ?? [];
  return all === undefined ? undefined : Number(all);
}

/** The bytes of a line of `/proc/meminfo`, by its text and the line's name: `MemTotal`. */
export function meminfoBytes(meminfo: string, name: string): number | undefined {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Bytes of memory and swap that the host has, by the text of `/proc/meminfo`. */
export function memoryTotals(meminfo: string): { readonly memory?: number; readonly swap?: number } {
  const [memory, swap] = [meminfoBytes(meminfo, 'MemTotal'), meminfoBytes(meminfo, 'SwapTotal')];
  return { ...(memory === undefined ? {} : { memory }), ...(swap === undefined ? {} : { swap }) };
}

/** The least of the kernel's limits on tasks (`pkg/kubelet/stats/pidlimit`), by the texts of their files. */
export function taskLimit(...texts: readonly (string | undefined)[]): number | undefined {
  const limits = texts.filter((text) => /^\d+\n?$/.test(text ?? '')).map(Number);
  return limits.length > 0 ? Math.min(...limits) : undefined;
}
