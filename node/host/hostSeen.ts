/** What /metrics/cadvisor tells of the host itself: its hardware, its disks, and the image of its sandboxes. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { lookUp } from '../../base/lookUp.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { type Disk, type LocalFileSystem, parseDiskStats, parseFileSystems } from '../../host/usage/disks.ts';
import { readFileSystemUsage } from '../../host/usage/fileSystemUsage.ts';
import { parseBootTime, parseMemoryTotals } from '../../host/usage/hostFacts.ts';
import { parseProcessors } from '../../host/usage/processors.ts';
import type { HostSeen } from '../../kubelet-api/metrics/cadvisor/cadvisor.ts';
import type { DiskUsage } from '../../kubelet-api/metrics/cadvisor/row.ts';
import { ownVersion } from '../start/version.ts';
import { hostIdentity } from './hostIdentity.ts';

interface HostSeenParts {
  readonly cri: Pick<Cri, 'status'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What seldom changes is looked at again after so long, as in cAdvisor (`update_machine_info_interval`). */
const HARDWARE_MS = 300_000;
/** How long the runtime may take to say which image sandboxes have, in milliseconds. */
const CALL_MS = 2_000;

const textOf = (file: string): Promise<string> => readFile(`/proc/${file}`, 'utf8').catch(() => '');

/** Looks at this host; what it does not tell is empty or 0. */
export function hostSeen({ cri, clock }: HostSeenParts): (signal: AbortSignal) => Promise<HostSeen> {
  let hardware: Awaited<ReturnType<typeof readHardware>> | undefined;
  let readAt = 0;
  let pauseImage = '';
  return async (signal) => {
    if (hardware === undefined || clock.monotonic() - readAt > HARDWARE_MS) {
      readAt = clock.monotonic();
      hardware = await readHardware();
    }
    const { machine, fileSystems } = hardware;
    const [diskStats, stat, meminfo] = await Promise.all(['diskstats', 'stat', 'meminfo'].map(textOf));
    const devices = parseDiskStats(diskStats ?? '');
    const { memory = 0, swap = 0 } = parseMemoryTotals(meminfo ?? '');
    pauseImage ||= await askPauseImage(cri, signal);
    return {
      machine: { ...machine, memoryBytes: memory, swapBytes: swap },
      disks: await disksOf(fileSystems, devices, signal),
      nameDevice: ({ major, minor }) => {
        const name = devices.get(`${major}:${minor}`)?.name;
        return name === undefined ? `${major}:${minor}` : `/dev/${name}`;
      },
      bootedAt: parseBootTime(stat ?? ''),
      pauseImage,
    };
  };
}

async function readHardware() {
  const [identity, cpuinfo, mountinfo] = await Promise.all([
    hostIdentity(),
    textOf('cpuinfo'),
    textOf('self/mountinfo'),
  ]);
  const { machineID: machineId, systemUUID: systemUuid, bootID: bootId, kernelVersion, osImage } = identity;
  const versions = { kernelVersion, osVersion: osImage, version: ownVersion().gitVersion };
  const machine = { machineId, systemUuid, bootId, ...versions, ...parseProcessors(cpuinfo) };
  return { machine, fileSystems: parseFileSystems(mountinfo) };
}

async function disksOf(
  fileSystems: readonly LocalFileSystem[],
  devices: ReadonlyMap<string, Disk>,
  signal: AbortSignal,
): Promise<readonly DiskUsage[]> {
  const found = fileSystems.map(async ({ path, device, deviceNumber }): Promise<readonly DiskUsage[]> => {
    const usage = await readFileSystemUsage(path, signal);
    return usage === undefined ? [] : [{ ...usage, device, io: devices.get(deviceNumber)?.io }];
  });
  return (await Promise.all(found)).flat();
}

/** As containerd tells it; another runtime need not. */
async function askPauseImage(cri: Pick<Cri, 'status'>, signal: AbortSignal): Promise<string> {
  try {
    const { info } = await cri.status({ verbose: true }, { signal, timeoutMs: CALL_MS });
    const config: unknown = JSON.parse(lookUp(info, 'config') ?? '{}');
    if (typeof config !== 'object' || config === null || !('sandboxImage' in config)) return '';
    return typeof config.sandboxImage === 'string' ? config.sandboxImage : '';
  } catch {
    return '';
  }
}
