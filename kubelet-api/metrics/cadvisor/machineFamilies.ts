/** Defines the metrics of the host, with cAdvisor's names (`metrics/prometheus_machine.go` of cAdvisor). */
import type { MemoryModules } from '../../../host/usage/memoryModules.ts';
import { formatLabels, type MetricFamily } from '../exposition.ts';

export interface MachineInfo {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osVersion: string;
  readonly version: string;
  readonly cores: number;
  readonly physicalCores: number;
  readonly sockets: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  /** The memory modules of the host. Empty if unknown. */
  readonly memoryModules: readonly MemoryModules[];
}

interface Observation {
  /** Milliseconds since the epoch. */
  readonly observedAt: number;
  /** Whether the list of containers is incomplete. */
  readonly hasFailed: boolean;
}

export function machineFamilies(machine: MachineInfo, { observedAt, hasFailed }: Observation): readonly MetricFamily[] {
  const { machineId, systemUuid, bootId, memoryModules } = machine;
  const hostLabels = { boot_id: bootId, machine_id: machineId, system_uuid: systemUuid };
  const labels = formatLabels(Object.entries(hostLabels));
  const hostGauge = (name: string, help: string, value: number): MetricFamily => ({
    name: `machine_${name}`,
    help,
    type: 'gauge',
    samples: [{ labels, value, timestampMs: observedAt }],
  });
  const modulesGauge = (name: string, help: string, amountOf: (modules: MemoryModules) => number): MetricFamily => ({
    name: `machine_dimm_${name}`,
    help,
    type: 'gauge',
    samples: memoryModules.map((modules) => ({
      labels: formatLabels(Object.entries({ ...hostLabels, type: modules.type })),
      value: amountOf(modules),
      timestampMs: observedAt,
    })),
  });
  return [
    // Always report 0 books and 0 drawers, because only mainframes have them.
    hostGauge('cpu_books', 'Number of CPU books.', 0),
    hostGauge('cpu_cores', 'Number of logical CPU cores.', machine.cores),
    hostGauge('cpu_drawers', 'Number of CPU drawers.', 0),
    hostGauge('cpu_physical_cores', 'Number of physical CPU cores.', machine.physicalCores),
    hostGauge('cpu_sockets', 'Number of CPU sockets.', machine.sockets),
    modulesGauge(
      'capacity_bytes',
      'Total RAM DIMM capacity (all types memory modules) value labeled by dimm type.',
      ({ bytes }) => bytes,
    ),
    modulesGauge(
      'count',
      'Number of RAM DIMM (all types memory modules) value labeled by dimm type.',
      ({ count }) => count,
    ),
    hostGauge('memory_bytes', 'Amount of memory installed on the machine.', machine.memoryBytes),
    hostGauge('swap_bytes', 'Amount of swap memory available on the machine.', machine.swapBytes),
    createScrapeErrorFamily('machine', 'machine metrics, 0 otherwise.', false),
    createScrapeErrorFamily('container', 'container metrics, 0 otherwise', hasFailed),
    createVersionFamily(machine),
  ];
}

const createScrapeErrorFamily = (exporter: string, helpEnd: string, hasFailed: boolean): MetricFamily => ({
  name: `${exporter}_scrape_error`,
  help: `1 if there was an error while getting ${helpEnd}`,
  type: 'gauge',
  samples: [{ labels: '', value: Number(hasFailed) }],
});

const VERSION_HELP =
  "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.";

function createVersionFamily({ kernelVersion, osVersion, version }: MachineInfo): MetricFamily {
  const versionLabels = { cadvisorRevision: '', cadvisorVersion: version, dockerVersion: '', kernelVersion, osVersion };
  return {
    name: 'cadvisor_version_info',
    help: VERSION_HELP,
    type: 'gauge',
    samples: [{ labels: formatLabels(Object.entries(versionLabels)), value: 1 }],
  };
}
