/** Registers the `process_*` metrics that every Prometheus client library provides. */
import { readdir, readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { alpha, plain, type Registry } from '../registry.ts';

const PAGE_BYTES = 4096;
const SECONDS_PER_MICROSECOND = 1e-6;

/** Returns the start time of the process, in seconds since the epoch. */
export const processStartSeconds = (): number => Math.round(performance.timeOrigin) / 1_000;

/** Returns the contents of `/proc/self/net/netstat`, or an empty string if the kernel has no such file. */
const readNetstat = (): Promise<string> => readFile('/proc/self/net/netstat', 'utf8').catch(() => '');

export function registerProcessMetrics(registry: Registry, netstat: () => Promise<string> = readNetstat): void {
  const cpu = registry.counter(plain('process_cpu_seconds_total', 'Total user and system CPU time, in seconds.'));
  const residentGauge = registry.gauge(plain('process_resident_memory_bytes', 'Resident memory, in bytes.'));
  const virtualGauge = registry.gauge(plain('process_virtual_memory_bytes', 'Virtual memory, in bytes.'));
  const openFilesGauge = registry.gauge(plain('process_open_fds', 'Open file descriptors.'));
  const maxFilesGauge = registry.gauge(plain('process_max_fds', 'Maximum number of open file descriptors.'));
  const maxVirtualGauge = registry.gauge(
    plain('process_virtual_memory_max_bytes', 'Maximum amount of virtual memory, in bytes.'),
  );
  const receivedBytesCounter = registry.counter(
    plain('process_network_receive_bytes_total', 'Bytes that the network namespace of the process received over IP.'),
  );
  const sentBytesCounter = registry.counter(
    plain('process_network_transmit_bytes_total', 'Bytes that the network namespace of the process sent over IP.'),
  );
  registry.gauge(plain('process_start_time_seconds', START_TIME_HELP)).set([], processStartSeconds());
  registry.collect(async () => {
    const { user, system } = process.cpuUsage();
    cpu.set([], (user + system) * SECONDS_PER_MICROSECOND);
    const [memory, fileDescriptors, limits, network] = await Promise.all([
      readFile('/proc/self/statm', 'utf8'),
      readdir('/proc/self/fd'),
      readFile('/proc/self/limits', 'utf8'),
      netstat(),
    ]);
    const [size = 0, pages = 0] = memory.split(' ').map(Number);
    virtualGauge.set([], size * PAGE_BYTES);
    residentGauge.set([], pages * PAGE_BYTES);
    openFilesGauge.set([], fileDescriptors.length);
    maxFilesGauge.set([], parseLimit(limits, 'Max open files'));
    maxVirtualGauge.set([], parseLimit(limits, 'Max address space'));
    for (const [metric, name] of [
      [receivedBytesCounter, 'InOctets'],
      [sentBytesCounter, 'OutOctets'],
    ] as const) {
      const bytes = parseIpCounter(network, name);
      if (bytes === undefined) metric.remove([]);
      else metric.set([], bytes);
    }
  });
}

/**
 * Value that Prometheus' Go client reports for "unlimited", i.e. the largest 64-bit number
 * (`process_collector_procfsenabled.go`).
 */
const UNLIMITED_BYTES = 2 ** 64;

function parseLimit(limits: string, name: string): number {
  const limit = new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(limits)?.[1];
  return limit === 'unlimited' ? UNLIMITED_BYTES : Number(limit);
}

/**
 * Parses an IP counter from `/proc/net/netstat`, in which each line of names is followed by a line of values. Returns
 * undefined if the kernel does not provide the counter, in which case Prometheus' Go client omits the metric.
 */
function parseIpCounter(netstat: string, name: string): number | undefined {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '));
  const counterValue = Number(values[names.indexOf(name)] ?? Number.NaN);
  return Number.isFinite(counterValue) ? counterValue : undefined;
}

const START_TIME_HELP = 'Start time of the process, in seconds since the epoch.';

/**
 * Registers the start time of the process. Every metrics path includes it, because all counters start at 0 at that
 * time.
 */
export function registerStartTimeGauge(registry: Registry): void {
  const gauge = registry.gauge(alpha('process_start_time_seconds', START_TIME_HELP, []));
  registry.collect(() => gauge.set([], processStartSeconds()));
}
