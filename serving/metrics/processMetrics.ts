/** What the process takes, under the names that all clients of Prometheus have for it. */
import { readdir, readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { alpha, plain, type Registry } from './registry.ts';

const PAGE_BYTES = 4096;
const MICRO = 1e-6;

/** When the process began, in seconds since the epoch. */
export const processStart = (): number => Math.round(performance.timeOrigin) / 1_000;

/** Has them looked up for each scrape. */
export function processMetrics(registry: Registry): void {
  const cpu = registry.counter(plain('process_cpu_seconds_total', 'Total user and system CPU time, in seconds.'));
  const resident = registry.gauge(plain('process_resident_memory_bytes', 'Resident memory, in bytes.'));
  const virtual = registry.gauge(plain('process_virtual_memory_bytes', 'Virtual memory, in bytes.'));
  const open = registry.gauge(plain('process_open_fds', 'Open file descriptors.'));
  const most = registry.gauge(plain('process_max_fds', 'How many file descriptors may be open.'));
  registry.gauge(plain('process_start_time_seconds', START)).set([], processStart());
  registry.collect(async () => {
    const { user, system } = process.cpuUsage();
    cpu.set([], (user + system) * MICRO);
    const [memory, files, limits] = await Promise.all([
      readFile('/proc/self/statm', 'utf8'),
      readdir('/proc/self/fd'),
      readFile('/proc/self/limits', 'utf8'),
    ]);
    const [size = 0, pages = 0] = memory.split(' ').map(Number);
    virtual.set([], size * PAGE_BYTES);
    resident.set([], pages * PAGE_BYTES);
    open.set([], files.length);
    const limit = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
    most.set([], limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit));
  });
}

const START = 'When the process began, in seconds since the epoch.';

/** Counters begin at 0 when the process does: each path says when that was. */
export function startGauge(registry: Registry): void {
  const gauge = registry.gauge(alpha('process_start_time_seconds', START, []));
  registry.collect(() => gauge.set([], processStart()));
}
