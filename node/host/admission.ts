/** What of the host decides which pods it takes: its kernel, its disk, its huge pages. */
import { access, readdir, readFile, statfs } from 'node:fs/promises';
import { arch, release } from 'node:os';
import { type AdmissionNode, goArchitecture, nodeLabels } from '../../kubernetes/admission/node.ts';
import { safeSysctls } from '../../kubernetes/admission/sysctls.ts';
import { formatPageSize } from '../../kubernetes/resources/cgroupLimits.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

const PAGES = '/sys/kernel/mm/hugepages';
const CPUS = '/sys/devices/system/cpu';
const APPARMOR = '/sys/module/apparmor/parameters/enabled';

/** What admission asks of this node. */
export async function admissionFacts({
  nodeName,
  admission: { labels, taints, unsafeSysctls },
}: NodeConfig): Promise<Omit<AdmissionNode, 'name' | 'strictGroups'>> {
  return {
    labels: nodeLabels({ hostname: nodeName, arch: goArchitecture(arch()) }, labels),
    taints,
    sysctls: [...safeSysctls(release()), ...unsafeSysctls],
    appArmor: (await readFile(APPARMOR, 'utf8').catch(() => 'N')).startsWith('Y'),
  };
}

/** What the node has beside cpu, memory and places: the disk that pods write to, and huge pages. */
export async function extraCapacity(rootDirectory: string): Promise<Record<string, number>> {
  const disk = await statfs(rootDirectory).catch(() => undefined);
  const pages = await readdir(PAGES).catch(() => []);
  return {
    ...(disk ? { 'ephemeral-storage': disk.blocks * disk.bsize } : {}),
    ...Object.fromEntries(await Promise.all(pages.map(pagesOf))),
  };
}

async function pagesOf(folder: string): Promise<[resource: string, bytes: number]> {
  const size = Number(/\d+/.exec(folder)?.[0] ?? 0) * 1024;
  const count = await readFile(`${PAGES}/${folder}/nr_hugepages`, 'utf8').catch(() => '0');
  return [hugePages(size), size * Number(count)];
}

/** A resource's name has the unit of a quantity (`hugepages-2Mi`), a limit's at the runtime that of bytes (`2MB`). */
const hugePages = (size: number): string => `hugepages-${formatPageSize(size).replace(/B$/, 'i')}`;

/** What tells of each core how often it got too hot: it gives away what other pods do. */
export async function throttlePaths(): Promise<string[]> {
  const names = await readdir(CPUS).catch(() => []);
  const paths = names.filter((name) => /^cpu\d+$/.test(name)).map((name) => `${CPUS}/${name}/thermal_throttle`);
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return found.flat();
}
