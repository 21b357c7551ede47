/** Reads facts about the host for the admission of pods: kernel, disk and huge pages. */
import { access, readdir, readFile, statfs } from 'node:fs/promises';
import { arch, release } from 'node:os';
import { type AdmissionNode, goArchitecture, nodeLabels } from '../../kubernetes/admission/node.ts';
import { safeSysctls } from '../../kubernetes/admission/sysctls.ts';
import { hugePageResource } from '../../kubernetes/resources/cgroupLimits.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';

const HUGEPAGES_PATH = '/sys/kernel/mm/hugepages';
const CPUS_PATH = '/sys/devices/system/cpu';
const APPARMOR_PATH = '/sys/module/apparmor/parameters/enabled';

/** Reads the facts about this node that affect the admission of pods. */
export async function readAdmissionFacts({
  nodeName,
  admission: { labels, taints, unsafeSysctls },
}: NodeConfig): Promise<Omit<AdmissionNode, 'name' | 'strictGroups' | 'pressure' | 'isShuttingDown'>> {
  return {
    labels: nodeLabels({ hostname: nodeName, arch: goArchitecture(arch()) }, labels),
    taints,
    sysctls: [...safeSysctls(release()), ...unsafeSysctls],
    appArmor: (await readFile(APPARMOR_PATH, 'utf8').catch(() => 'N')).startsWith('Y'),
  };
}

/** Reads the node's capacity of ephemeral storage and huge pages in bytes, by resource name. */
export async function readDiskAndHugePageCapacity(rootDirectory: string): Promise<Record<string, number>> {
  const diskStats = await statfs(rootDirectory).catch(() => undefined);
  const hugePageDirectories = await readdir(HUGEPAGES_PATH).catch(() => []);
  return {
    ...(diskStats ? { 'ephemeral-storage': diskStats.blocks * diskStats.bsize } : {}),
    ...Object.fromEntries(await Promise.all(hugePageDirectories.map(readHugePages))),
  };
}

async function readHugePages(folder: string): Promise<[resource: string, bytes: number]> {
  const size = Number(/\d+/.exec(folder)?.[0] ?? 0) * 1024;
  const count = await readFile(`${HUGEPAGES_PATH}/${folder}/nr_hugepages`, 'utf8').catch(() => '0');
  return [hugePageResource(size), size * Number(count)];
}

/** Lists the paths of the CPUs' thermal throttle counters, which containers must not read because they reveal the load of other pods. */
export async function listThermalThrottlePaths(): Promise<string[]> {
  const names = await readdir(CPUS_PATH).catch(() => []);
  const throttlePaths = names
    .filter((name) => /^cpu\d+$/.test(name))
    .map((name) => `${CPUS_PATH}/${name}/thermal_throttle`);
  const existenceFlags = await Promise.all(
    throttlePaths.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return existenceFlags.flat();
}
