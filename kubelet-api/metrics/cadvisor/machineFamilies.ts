/** The host as cAdvisor tells of it (`metrics/prometheus_machine.go` there). */
import { type Family, labelText } from '../exposition.ts';

export interface Machine {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osVersion: string;
  readonly version: string;
  readonly cores: number;
  readonly physicalCores: number;
  readonly sockets: number;
  /** Bytes. */
  readonly memoryBytes: number;
  readonly swapBytes: number;
}

interface Seen {
  /** When the host was looked at, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether not all containers could be found out. */
  readonly hasFailed: boolean;
}

export function machineFamilies(machine: Machine, { at, hasFailed }: Seen): readonly Family[] {
  const { machineId, systemUuid, bootId } = machine;
  const labels = labelText(Object.entries({ boot_id: bootId, machine_id: machineId, system_uuid: systemUuid }));
  const ofHost = (name: string, help: string, value: number): Family => ({
    name: `machine_${name}`,
    help,
    type: 'gauge',
    samples: [{ labels, value, at }],
  });
  return [
    // Only mainframes have books and drawers.
    ofHost('cpu_books', 'Number of CPU books.', 0),
    ofHost('cpu_cores', 'Number of logical CPU cores.', machine.cores),
    ofHost('cpu_drawers', 'Number of CPU drawers.', 0),
    ofHost('cpu_physical_cores', 'Number of physical CPU cores.', machine.physicalCores),
    ofHost('cpu_sockets', 'Number of CPU sockets.', machine.sockets),
    ofHost('memory_bytes', 'Amount of memory installed on the machine.', machine.memoryBytes),
    ofHost('swap_bytes', 'Amount of swap memory available on the machine.', machine.swapBytes),
    scrapeError('machine', 'machine metrics, 0 otherwise.', false),
    scrapeError('container', 'container metrics, 0 otherwise', hasFailed),
    versionInfo(machine),
  ];
}

const scrapeError = (what: string, of: string, hasFailed: boolean): Family => ({
  name: `${what}_scrape_error`,
  help: `1 if there was an error while getting ${of}`,
  type: 'gauge',
  samples: [{ labels: '', value: Number(hasFailed) }],
});

const VERSION_HELP =
  "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.";

function versionInfo({ kernelVersion, osVersion, version }: Machine): Family {
  const versions = { cadvisorRevision: '', cadvisorVersion: version, dockerVersion: '', kernelVersion, osVersion };
  return {
    name: 'cadvisor_version_info',
    help: VERSION_HELP,
    type: 'gauge',
    samples: [{ labels: labelText(Object.entries(versions)), value: 1 }],
  };
}
