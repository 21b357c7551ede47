/** The host's processors, by the text of `/proc/cpuinfo` (`machine/machine.go` of cAdvisor). */

export interface Processors {
  /** Those that tasks run on: threads of cores. */
  readonly cores: number;
  readonly physicalCores: number;
  readonly sockets: number;
}

/** Architectures whose text names neither cores nor sockets are taken for one socket whose processors are cores. */
export function parseProcessors(cpuinfo: string): Processors {
  const different = (key: string) => {
    const lines = cpuinfo.matchAll(new RegExp(`^${key}\\s*: (\\d+)$`, 'gm'));
    return new Set(Array.from(lines, ([, value]) => value)).size;
  };
  const cores = different('processor');
  const sockets = different('physical id') || 1;
  // Each socket counts its cores anew.
  return { cores, physicalCores: different('core id') * sockets || cores, sockets };
}
