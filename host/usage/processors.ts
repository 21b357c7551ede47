/** Parses the processors of the host from `/proc/cpuinfo` (`machine/machine.go` of cAdvisor). */

export interface ProcessorCounts {
  /** Number of logical CPUs. */
  readonly cores: number;
  readonly physicalCores: number;
  readonly sockets: number;
}

/**
 * Parses `/proc/cpuinfo`. An architecture without core and socket IDs is assumed to have one socket, and each of its
 * processors is treated as a core.
 */
export function parseProcessors(cpuinfo: string): ProcessorCounts {
  const countDistinct = (key: string) => {
    const matches = cpuinfo.matchAll(new RegExp(`^${key}\\s*: (\\d+)$`, 'gm'));
    return new Set(Array.from(matches, ([, value]) => value)).size;
  };
  const cores = countDistinct('processor');
  const sockets = countDistinct('physical id') || 1;
  // Multiply by the number of sockets, because core IDs are only unique within a socket.
  return { cores, physicalCores: countDistinct('core id') * sockets || cores, sockets };
}
