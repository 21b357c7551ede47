/** Reads facts about the host for /metrics/cadvisor: hardware, disks and the sandbox image. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { Clock } from '../../base/time/clock.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { runtimeConfig } from '../../cri/images/runtimeConfig.ts';
import { type Disk, type LocalFileSystem, parseDiskStats, parseFileSystems } from '../../host/usage/disks.ts';
import { readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import { parseBootTime, parseMemoryTotals } from '../../host/usage/hostFacts.ts';
import { readMemoryModules } from '../../host/usage/memoryModules.ts';
import { parseProcessors } from '../../host/usage/processors.ts';
import type { CadvisorHost } from '../../kubelet-api/metrics/cadvisor/cadvisor.ts';
import type { DiskUsage } from '../../kubelet-api/metrics/cadvisor/row.ts';
import { ownVersion } from '../start/ownVersion.ts';
import { readHostIdentity } from './hostIdentity.ts';

interface CadvisorHostDependencies {
  readonly cri: Pick<Cri, 'status' | 'listPodSandbox' | 'podSandboxStatus'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Minimum interval in milliseconds between two reads of the hardware, as in cAdvisor (`update_machine_info_interval`).
 */
const HARDWARE_INTERVAL_MS = 300_000;
/** Timeout in milliseconds for requesting the name of the sandbox image from the runtime. */
const CALL_TIMEOUT_MS = 2_000;

const readProc = (file: string): Promise<string> => readFile(`/proc/${file}`, 'utf8').catch(() => '');

/** Creates a function that reads the facts about this host. Facts that cannot be read are empty or 0. */
export function createCadvisorHostReader({
  cri,
  clock,
}: CadvisorHostDependencies): (signal: AbortSignal) => Promise<CadvisorHost> {
  let hardware: Awaited<ReturnType<typeof readHardware>> | undefined;
  let hardwareReadAt = 0;
  let pauseImage = '';
  return async (signal) => {
    if (hardware === undefined || clock.monotonic() - hardwareReadAt > HARDWARE_INTERVAL_MS) {
      hardwareReadAt = clock.monotonic();
      hardware = await readHardware();
    }
    const { machine, fileSystems } = hardware;
    const [diskStats, stat, meminfo] = await Promise.all(['diskstats', 'stat', 'meminfo'].map(readProc));
    const diskDevices = parseDiskStats(diskStats ?? '');
    const { memory = 0, swap = 0 } = parseMemoryTotals(meminfo ?? '');
    pauseImage ||= await readPauseImage(cri, signal);
    return {
      machine: { ...machine, memoryBytes: memory, swapBytes: swap },
      disks: await readDiskUsage(fileSystems, diskDevices, signal),
      nameDevice: ({ major, minor }) => {
        const name = diskDevices.get(`${major}:${minor}`)?.name;
        return name === undefined ? `${major}:${minor}` : `/dev/${name}`;
      },
      bootedAt: parseBootTime(stat ?? ''),
      pauseImage,
    };
  };
}

async function readHardware() {
  const [identity, memoryModules, cpuinfo, mountinfo] = await Promise.all([
    readHostIdentity(),
    readMemoryModules(),
    readProc('cpuinfo'),
    readProc('self/mountinfo'),
  ]);
  const { machineID: machineId, systemUUID: systemUuid, bootID: bootId, kernelVersion, osImage } = identity;
  const versionFields = { kernelVersion, osVersion: osImage, version: ownVersion().gitVersion };
  const machineFields = { machineId, systemUuid, bootId, ...versionFields, ...parseProcessors(cpuinfo), memoryModules };
  return { machine: machineFields, fileSystems: parseFileSystems(mountinfo) };
}

async function readDiskUsage(
  fileSystems: readonly LocalFileSystem[],
  devices: ReadonlyMap<string, Disk>,
  signal: AbortSignal,
): Promise<readonly DiskUsage[]> {
  const usageReads = fileSystems.map(async ({ path, device, deviceNumber }): Promise<readonly DiskUsage[]> => {
    const fileSystemUsage = await readFileSystemUsage(path, signal);
    return fileSystemUsage === undefined ? [] : [{ ...fileSystemUsage, device, io: devices.get(deviceNumber)?.io }];
  });
  return (await Promise.all(usageReads)).flat();
}

const sandboxInfoSchema = z.object({ image: z.string() });

/**
 * Reads the sandbox image from containerd's verbose status. containerd 2 does not report the image there, so the
 * verbose status of any sandbox is used instead. Returns an empty string if neither contains the image.
 */
async function readPauseImage(cri: CadvisorHostDependencies['cri'], signal: AbortSignal): Promise<string> {
  const options = { signal, timeoutMs: CALL_TIMEOUT_MS };
  try {
    const { sandboxImage } = await runtimeConfig(cri, options);
    if (sandboxImage) return sandboxImage;
    const [sandbox] = (await cri.listPodSandbox({ filter: undefined }, options)).items;
    if (sandbox === undefined) return '';
    const { info } = await cri.podSandboxStatus({ podSandboxId: sandbox.id, verbose: true }, options);
    const result = z.safeParse(sandboxInfoSchema, parseJson(lookUp(info, 'info') ?? ''));
    return result.success ? result.data.image : '';
  } catch {
    return '';
  }
}
