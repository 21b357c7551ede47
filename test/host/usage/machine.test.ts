import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { readMachine, readPageBytes } from '../../../host/usage/machine.ts';

const directory = await mkdtemp(join(tmpdir(), 'statelet-machine-'));
afterAll(() => rm(directory, { recursive: true }));

let hosts = 0;

/** Creates a host with these files below `sys/devices/system` and 2 GiB of memory. */
async function host(files: Readonly<Record<string, string>>): Promise<string> {
  hosts += 1;
  const root = join(directory, String(hosts));
  const all = new Map(Object.entries(files).map(([path, text]) => [`sys/devices/system/${path}`, text]));
  all.set('proc/meminfo', 'MemTotal:        2097152 kB\nMemFree:          409600 kB\n');
  for (const [path, text] of all) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

/** Returns the files of a CPU in a directory. */
const cpu = (path: string): Record<string, string> => ({
  [`${path}/topology/core_id`]: '0\n',
  [`${path}/topology/physical_package_id`]: '0\n',
});

const cpus = (directoryOf: string, ...ids: readonly number[]): Record<string, string> =>
  Object.assign({}, ...ids.map((id) => cpu(`${directoryOf}/cpu${id}`)));

test('reads the size of a page from the auxiliary vector of the process', async () => {
  const file = join(directory, 'auxv');
  // AT_PLATFORM and AT_PAGESZ.
  await writeFile(file, new BigUint64Array([15n, 6n, 6n, 65_536n, 0n, 0n]));
  expect(await readPageBytes(file)).toBe(65_536);
  expect(await readPageBytes(join(directory, 'missing'))).toBe(4_096);
  const { stdout } = await promisify(execFile)('getconf', ['PAGESIZE']);
  expect(await readPageBytes()).toBe(Number(stdout));
});

test('counts the CPUs of all NUMA nodes', async () => {
  const root = await host({ ...cpus('node/node0', 0, 2), ...cpus('node/node1', 1, 3), 'cpu/online': '0-3\n' });
  expect(await readMachine(root)).toEqual({ cpuCount: 4, memoryBytes: 2 ** 31 });
});

test('ignores CPUs that are offline or have no topology', async () => {
  const files = {
    ...cpus('node/node0', 0, 1, 2, 3, 11),
    'node/node0/cpu4/crash_notes': '',
    'cpu/online': '0,2-3,11\n',
  };
  const root = await host({ ...files, 'node/node0/cpulist': '0-11', 'node/possible': '0' });
  expect(await readMachine(root)).toMatchObject({ cpuCount: 4 });
});

test('without CPU hotplug, all CPUs are online', async () => {
  expect(await readMachine(await host(cpus('node/node0', 0, 1)))).toMatchObject({ cpuCount: 2 });
});

test('without NUMA nodes, counts the listed CPUs', async () => {
  const root = await host({ ...cpus('cpu', 0, 1, 2), 'cpu/cpufreq/boost': '', 'cpu/online': '0-2' });
  expect(await readMachine(root)).toMatchObject({ cpuCount: 3 });
});

test('without CPUs or memory, fails with the path of the file', async () => {
  await expect(readMachine(await host({}))).rejects.toThrow('/sys/devices/system/cpu: expected the CPUs');
  const offline = await host({ ...cpus('node/node0', 1), 'cpu/online': '0' });
  await expect(readMachine(offline)).rejects.toThrow('expected CPUs that are online');
  const root = await host(cpus('cpu', 0));
  await writeFile(join(root, 'proc/meminfo'), 'MemFree: 1 kB\n');
  await expect(readMachine(root)).rejects.toThrow('proc/meminfo: expected a line MemTotal');
});

test('finds at least the CPUs of this process on this host', async () => {
  const { availableParallelism, totalmem } = await import('node:os');
  const { cpuCount, memoryBytes } = await readMachine();
  expect(cpuCount).toBeGreaterThanOrEqual(availableParallelism());
  expect(memoryBytes).toBeGreaterThanOrEqual(totalmem());
});
