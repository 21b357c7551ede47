/** Reads facts about the host for the admission of pods: kernel, disk and huge pages. */
import { access, readdir, readFile, statfs } from 'node:fs/promises';
import { arch, release } from 'node:os';
import { type AdmissionNode, goArchitecture, nodeLabels } from '../../kubernetes/admission/node.ts';
import { safeSysctls } from '../../kubernetes/admission/sysctls.ts';
import { formatPageSize } from '../../kubernetes/resources/cgroupLimits.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

const PAGES = '/sys/kernel/mm/hugepages';
const CPUS = '/sys/devices/system/cpu';
const APPARMOR = '/sys/module/apparmor/parameters/enabled';

/** Reads the facts about this node on which the admission of pods depends. */
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

/** Reads the node's capacity of ephemeral storage and huge pages in bytes, by resource name. */
export async function diskAndHugePageCapacity(rootDirectory: string): Promise<Record<string, number>> {
  const disk = await statfs(rootDirectory).catch(() => undefined);
  const pages = await readdir(PAGES).catch(() => []);
  return {
    ...(disk ? { 'ephemeral-storage': disk.blocks * disk.bsize } : {}),
    ...Object.fromEntries(await Promise.all(pages.map(readHugePages))),
  };
}

async function readHugePages(folder: string): Promise<[resource: string, bytes: number]> {
  const size = Number(/\d+/.exec(folder)?.[0] ?? 0) * 1024;
  const count = await readFile(`${PAGES}/${folder}/nr_hugepages`, 'utf8').catch(() => '0');
  return [hugePageResource(size), size * Number(count)];
}

/** Returns the name of a resource, e.g. `hugepages-2Mi`. The CRI formats the same page size as `2MB`. */
const hugePageResource = (size: number): string => `hugepages-${formatPageSize(size).replace(/B$/, 'i')}`;

/** Lists the paths of the CPUs' thermal throttle counters, which containers must not read because they reveal the load of other pods. */
export async function thermalThrottlePaths(): Promise<string[]> {
  const names = await readdir(CPUS).catch(() => []);
  const paths = names.filter((name) => /^cpu\d+$/.test(name)).map((name) => `${CPUS}/${name}/thermal_throttle`);
  const existing = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return existing.flat();
}
