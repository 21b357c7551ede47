/**
 * Reads the memory and the huge pages of the host's NUMA nodes from sysfs, like cAdvisor (`GetNodesInfo` in
 * `utils/sysinfo/sysinfo.go`).
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NumaNodeMemory } from '../../kubernetes/numaMemory/memoryAssignments.ts';
import { hugePageResource } from '../../kubernetes/resources/cgroupLimits.ts';
import { parseMeminfoBytes } from './hostFacts.ts';

/**
 * Reads the NUMA nodes, in the order of their IDs. Returns an empty list on a kernel without NUMA. `root` is the
 * directory that contains `sys`.
 */
export async function readNumaMemory(root = '/'): Promise<readonly NumaNodeMemory[]> {
  const directory = join(root, 'sys/devices/system/node');
  const names = await readdir(directory).catch(() => []);
  const ids = names.filter((name) => /^node\d+$/.test(name)).map((name) => Number(name.slice('node'.length)));
  return await Promise.all(
    ids
      .sort((first, second) => first - second)
      .map(async (id) => {
        const nodeDirectory = join(directory, `node${id}`);
        const [memoryBytes, hugePages] = await Promise.all([
          readMemoryBytes(join(nodeDirectory, 'meminfo')),
          readHugePages(join(nodeDirectory, 'hugepages')),
        ]);
        return { id, memoryBytes, hugePages };
      }),
  );
}

/** Reads the total from a file whose lines begin with the node, e.g. `Node 0 MemTotal: 16303480 kB`. */
async function readMemoryBytes(path: string): Promise<number> {
  const meminfo = await readFile(path, 'utf8');
  const bytes = parseMeminfoBytes(meminfo.replace(/^Node \d+ +/gm, ''), 'MemTotal');
  if (bytes === undefined) throw new Error(`${path}: expected a line MemTotal`);
  return bytes;
}

async function readHugePages(directory: string): Promise<NumaNodeMemory['hugePages']> {
  const names = await readdir(directory).catch(() => []);
  const pages = names.sort().flatMap((name) => {
    const [, kilobytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
    return kilobytes === undefined ? [] : [{ name, pageBytes: Number(kilobytes) * 1_024 }];
  });
  return await Promise.all(
    pages.map(async ({ name, pageBytes }) => {
      const count = Number(await readFile(join(directory, name, 'nr_hugepages'), 'utf8'));
      return { resource: hugePageResource(pageBytes), bytes: count * pageBytes };
    }),
  );
}
