import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The memory modules of one type. */
export interface MemoryModules {
  /** Type in the kernel's words, e.g. `Unbuffered-DDR4`. */
  readonly type: string;
  readonly count: number;
  readonly bytes: number;
}

const CONTROLLERS_PATH = '/sys/devices/system/edac/mc';
const MIB = 2 ** 20;

/**
 * Reads the memory modules of the host by type, like cAdvisor (`GetMachineMemoryByType` in `machine`). Returns an empty
 * list if the kernel reports no memory controllers, or if one of their files cannot be read.
 */
export async function readMemoryModules(controllersPath = CONTROLLERS_PATH): Promise<readonly MemoryModules[]> {
  const modulesByType = new Map<string, MemoryModules>();
  try {
    for (const controller of await listMatching(controllersPath, /mc\d/)) {
      const controllerPath = join(controllersPath, controller);
      for (const slot of await listMatching(controllerPath, /dimm\d/)) {
        const [type = '', mebibytes] = await Promise.all(
          ['dimm_mem_type', 'size'].map(async (file) =>
            (await readFile(join(controllerPath, slot, file), 'utf8')).trim(),
          ),
        );
        if (mebibytes === undefined || !/^\d+$/.test(mebibytes)) return [];
        const { count, bytes } = modulesByType.get(type) ?? { count: 0, bytes: 0 };
        modulesByType.set(type, { type, count: count + 1, bytes: bytes + Number(mebibytes) * MIB });
      }
    }
    return [...modulesByType.values()];
  } catch {
    return [];
  }
}

const listMatching = async (directory: string, pattern: RegExp): Promise<string[]> =>
  (await readdir(directory)).filter((name) => pattern.test(name)).toSorted();
