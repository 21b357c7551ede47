/** Tests that /metrics/cadvisor has the names, types, labels and timestamps of cAdvisor. */
import { expect, test } from '@jest/globals';
import { type CadvisorParts, cadvisorRoute } from '../../../../kubelet-api/metrics/cadvisor/cadvisor.ts';
import type { NodeSample } from '../../../../stats/sample.ts';
import { aPod } from '../../../kubernetes/fixtures.ts';
import { listening } from '../../listener/support/listening.ts';
import { NOT_SERVED, OF_CGROUPS, OF_MACHINE, OF_SCRAPE } from './listed.ts';
import { CONTAINER_ID, cgroup, HOST, NETWORK, nodeSample, podSample, READ_AT, SANDBOX_ID, USAGE } from './samples.ts';

const NOW = READ_AT + 2_000;

async function scraping(sample: () => NodeSample, over: Partial<CadvisorParts> = {}) {
  const given = { sample: async () => sample(), host: async () => HOST, pods: () => [], now: () => NOW };
  const parts = { ...given, startedAt: 1_000, ...over };
  const { ask } = await listening({ routes: [cadvisorRoute(parts)] });
  return async () => {
    const { code, body } = await ask('/metrics/cadvisor');
    expect(code).toBe(200);
    return body;
  };
}

const scraped = async (over: Partial<NodeSample> = {}) => (await scraping(() => nodeSample(over)))();

interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The value, followed by the timestamp if there is one. */
  readonly rest: string;
}

function linesOf(text: string): Line[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', braced = '', rest = ''] = /^(\w+)(?:\{(.*)\})? (.*)$/.exec(line) ?? [];
    const labels = Array.from(braced.matchAll(/(\w+)="([^"]*)"/g), ([, label = '', value = '']) => [label, value]);
    return { name, labels: Object.fromEntries(labels), rest };
  });
}

/** Returns the values of a cgroup, keyed by metric and by the labels that not all metrics of a cgroup have. */
function rowOf(text: string, id: string): Readonly<Record<string, string>> {
  const own = linesOf(text).filter(({ labels }) => labels.id === id);
  return Object.fromEntries(
    own.map(({ name, labels: { container, id: _, image, name: own, namespace, pod, ...more }, rest }) => {
      const extra = Object.entries(more).map(([label, value]) => `${label}=${value}`);
      return [[name, ...extra].join(' '), rest];
    }),
  );
}

const LISTED = [...OF_CGROUPS, ...OF_MACHINE, ...OF_SCRAPE].filter(([name]) => !NOT_SERVED.has(name));
const ROW = ['container', 'id', 'image', 'name', 'namespace', 'pod'];

test('C42: names, types and help texts are those of the list, each once and sorted by name', async () => {
  const text = await scraped();
  const heads = Array.from(text.matchAll(/^# HELP (\S+) (.*)\n# TYPE (\S+) (\S+)$/gm), ([, name, help, , type]) => [
    name,
    type,
    help,
  ]);
  const listed = LISTED.map(([name, type, help]) => [name, type, help]);
  expect(heads).toEqual(listed.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)));
});

test('C42: labels are those of the list, sorted by name, and no series is duplicated', async () => {
  const text = await scraped();
  const listed = new Map([
    ...OF_CGROUPS.map(([name, , , ...labels]) => [name, [...ROW, ...labels]] as const),
    ...OF_MACHINE.map(([name, , , ...labels]) => [name, ['boot_id', 'machine_id', 'system_uuid', ...labels]] as const),
    ...OF_SCRAPE.map(([name, , , ...labels]) => [name, labels] as const),
  ]);
  const lines = linesOf(text);
  for (const { name, labels } of lines)
    expect([name, Object.keys(labels)]).toEqual([name, listed.get(name)?.toSorted()]);
  const series = lines.map(({ name, labels }) => JSON.stringify([name, labels]));
  expect(new Set(series).size).toBe(series.length);
});

test('the memory modules are shown by type, unless they are unknown', async () => {
  const modulesIn = (text: string) => linesOf(text).filter(({ name }) => name.startsWith('machine_dimm'));
  expect(modulesIn(await scraped())).toMatchObject([
    { name: 'machine_dimm_capacity_bytes', labels: { type: 'Unbuffered-DDR4' }, rest: `8.388608e+06 ${READ_AT}` },
    { name: 'machine_dimm_count', labels: { type: 'Unbuffered-DDR4' }, rest: `2 ${READ_AT}` },
  ]);
  const host = async () => ({ ...HOST, machine: { ...HOST.machine, memoryModules: [] } });
  const text = await (await scraping(() => nodeSample({}), { host }))();
  expect(text).not.toContain('machine_dimm');
});

test('the node, the pod cgroups, and each pod, sandbox and container have a series with their names', async () => {
  const rows = linesOf(await scraped()).filter(({ name }) => name === 'container_memory_rss');
  const none = { container: '', image: '', name: '', namespace: '', pod: '' };
  const pod = { ...none, namespace: 'default', pod: 'web' };
  const path = '/kubepods/burstable/podweb';
  expect(rows.map(({ labels }) => labels)).toEqual([
    { ...none, id: '/' },
    { ...none, id: '/kubepods' },
    { ...none, id: '/kubepods/burstable' },
    { ...pod, id: path },
    { ...pod, id: `${path}/${SANDBOX_ID}`, name: SANDBOX_ID, image: 'registry.k8s.io/pause:3.6' },
    { ...pod, id: `${path}/${CONTAINER_ID}`, name: CONTAINER_ID, image: 'example.com/web:1', container: 'main' },
  ]);
});

test('an image has the name from the status of its container', async () => {
  const known = { name: 'main', containerID: `containerd://${CONTAINER_ID}`, image: 'example.com/web:1.1' };
  const containerStatuses = [{ ...known, imageID: '', ready: true, restartCount: 0, started: true, state: {} }];
  const pod = { ...aPod(), status: { containerStatuses } };
  const text = await (await scraping(nodeSample, { pods: () => [pod] }))();
  const main = linesOf(text).filter(({ labels }) => labels.container === 'main');
  expect(new Set(main.map(({ labels }) => labels.image))).toEqual(new Set(['example.com/web:1.1']));
});

test('container metrics are in seconds and bytes with the time of the sample, and its limits have no time', async () => {
  const row = rowOf(await scraped(), `/kubepods/burstable/podweb/${CONTAINER_ID}`);
  const ofThisProcess = /file_descriptors|sockets|ulimits/;
  const at = (value: string) => `${value} ${READ_AT}`;
  const seen = Object.entries(row).filter(
    ([name]) => !name.startsWith('container_memory') && !ofThisProcess.test(name),
  );
  expect(Object.fromEntries(seen)).toEqual({
    container_cpu_user_seconds_total: at('1.5'),
    container_cpu_system_seconds_total: at('1'),
    'container_cpu_usage_seconds_total cpu=total': at('2.5'),
    container_cpu_cfs_periods_total: at('100'),
    container_cpu_cfs_throttled_periods_total: at('7'),
    container_cpu_cfs_throttled_seconds_total: at('0.35'),
    container_cpu_cfs_burst_periods_total: at('3'),
    container_cpu_cfs_burst_seconds_total: at('0.042'),
    container_oom_events_total: at('2'),
    container_processes: at('2'),
    container_threads: at('5'),
    container_threads_max: at('4096'),
    container_health_state: at('-1'),
    container_last_seen: `1.700000012e+09 ${NOW}`,
    container_pressure_cpu_stalled_seconds_total: at('2'),
    container_pressure_cpu_waiting_seconds_total: at('5'),
    container_pressure_memory_stalled_seconds_total: at('5e-05'),
    container_pressure_memory_waiting_seconds_total: at('6e-05'),
    container_pressure_io_stalled_seconds_total: at('6e-06'),
    container_pressure_io_waiting_seconds_total: at('7e-06'),
    'container_fs_reads_bytes_total device=/dev/sda': at('81920'),
    'container_fs_reads_total device=/dev/sda': at('20'),
    'container_fs_writes_bytes_total device=/dev/sda': at('4096'),
    'container_fs_writes_total device=/dev/sda': at('1'),
    'container_fs_io_cost_usage_seconds_total device=/dev/sda': at('1.5'),
    'container_fs_io_cost_wait_seconds_total device=/dev/sda': at('2'),
    'container_fs_io_cost_indebt_seconds_total device=/dev/sda': at('0.25'),
    'container_fs_io_cost_indelay_seconds_total device=/dev/sda': at('0.125'),
    'container_blkio_device_usage_total device=/dev/sda major=254 minor=0 operation=Read': at('81920'),
    'container_blkio_device_usage_total device=/dev/sda major=254 minor=0 operation=Write': at('4096'),
    container_start_time_seconds: '1.700000001e+09',
    container_spec_cpu_period: '100000',
    container_spec_cpu_quota: '50000',
    container_spec_cpu_shares: '512',
    container_spec_memory_limit_bytes: '6.7108864e+07',
    container_spec_memory_swap_limit_bytes: '0',
    container_spec_memory_reservation_limit_bytes: '0',
  });
  expect(Object.keys(row).filter((name) => ofThisProcess.test(name))).toHaveLength(3);
  expect(row).toMatchObject({
    container_memory_cache: at('5.24288e+06'),
    container_memory_rss: at('3.145728e+06'),
    container_memory_kernel_usage: at('524288'),
    container_memory_mapped_file: at('1.048576e+06'),
    container_memory_swap: at('65536'),
    container_memory_failcnt: at('4'),
    container_memory_usage_bytes: at('9.437184e+06'),
    container_memory_max_usage_bytes: at('1.048576e+07'),
    container_memory_working_set_bytes: at('7.340032e+06'),
    container_memory_total_active_file_bytes: at('1.572864e+06'),
    container_memory_total_inactive_file_bytes: at('2.097152e+06'),
    'container_memory_failures_total failure_type=pgfault scope=container': at('2500'),
    'container_memory_failures_total failure_type=pgmajfault scope=hierarchy': at('5'),
  });
});

test('C42: quota metrics are absent without a quota, CPU time before its first use, and counters missing on v2 are 0', async () => {
  const { quotaUs, usageNs, ...cpu } = USAGE.cpu ?? {};
  const { kernel, failcnt, ...memory } = USAGE.memory ?? {};
  const { pressure, io, ...rest } = USAGE;
  const usage = { ...rest, cpu, memory, pids: { processes: [] } };
  const row = rowOf(await scraped({ pods: [podSample('idle', usage)] }), '/kubepods/burstable/podidle');
  const absent = /cfs|cpu_usage|quota|pressure|_fs_|blkio/;
  expect(Object.keys(row).filter((name) => absent.test(name))).toEqual([]);
  const zero = `0 ${READ_AT}`;
  expect(row).toMatchObject({ container_memory_kernel_usage: zero, container_memory_failcnt: zero });
  expect(row).toMatchObject({ container_threads: zero, container_threads_max: zero, container_processes: zero });
});

test('C42: network metrics exist for the node and sandboxes, disk metrics for the node, and its limits are the capacity of the host', async () => {
  const text = await scraped();
  const withNetwork = linesOf(text).filter(({ name }) => name === 'container_network_transmit_bytes_total');
  expect(withNetwork.map(({ labels, rest }) => [labels.id, labels.interface, rest])).toEqual([
    ['/', 'eth0', `5 ${NETWORK.readAt}`],
    [`/kubepods/burstable/podweb/${SANDBOX_ID}`, 'eth0', `5 ${NETWORK.readAt}`],
  ]);
  const row = rowOf(text, '/');
  expect(row).toMatchObject({
    'container_fs_usage_bytes device=/dev/sdb': `500 ${READ_AT}`,
    'container_fs_inodes_free device=/dev/sdb': `60 ${READ_AT}`,
    'container_fs_reads_total device=/dev/sda': `20 ${READ_AT}`,
    'container_fs_reads_total device=/dev/sdb': `1 ${READ_AT}`,
    'container_fs_read_seconds_total device=/dev/sdb': `4 ${READ_AT}`,
    'container_fs_io_time_weighted_seconds_total device=/dev/sdb': `11 ${READ_AT}`,
    container_start_time_seconds: '1.6e+09',
    container_spec_memory_limit_bytes: '8e+06',
    container_spec_memory_swap_limit_bytes: '1e+06',
  });
});

test('a device that the node cgroup counts is not duplicated', async () => {
  const [disk] = HOST.disks;
  const host = async () => ({ ...HOST, disks: disk ? [{ ...disk, device: '/dev/sda' }] : [] });
  const row = linesOf(await (await scraping(nodeSample, { host }))());
  const reads = row.filter(({ name, labels }) => name === 'container_fs_reads_total' && labels.id === '/');
  expect(reads.map(({ rest }) => rest)).toEqual([`20 ${READ_AT}`]);
});

test('a pod with two sandboxes has one series, and a pod without a cgroup has none', async () => {
  const [pod, old] = [podSample('web'), { ...podSample('web'), sandboxId: 'old', sandboxCgroup: undefined }];
  const text = await scraped({ pods: [pod, { ...old, containers: [] }, { ...podSample('new'), cgroup: undefined }] });
  const ids = linesOf(text).flatMap(({ name, labels }) => (name === 'container_memory_rss' ? [labels.id] : []));
  expect(ids.filter((id) => id === '/kubepods/burstable/podweb')).toHaveLength(1);
  expect(ids).not.toContain('/kubepods/burstable/podnew');
});

test('a failed runtime list is a scrape error, and the known values are still exposed', async () => {
  const text = await scraped({ failure: new Error('away') });
  expect(text).toContain('\ncontainer_scrape_error 1\n');
  expect(await scraped()).toContain('\ncontainer_scrape_error 0\n');
  expect(text).toContain('pod="web"');
});

test('removed pods leave no series behind, however many there were', async () => {
  let pods = Array.from({ length: 300 }, (_, at) => podSample(`p${at}`));
  const scrape = await scraping(() => nodeSample({ pods }));
  expect(linesOf(await scrape()).filter(({ labels }) => labels.pod)).not.toHaveLength(0);
  pods = [];
  expect(linesOf(await scrape()).filter(({ labels }) => labels.pod)).toHaveLength(0);
});

test('the same sample yields the same cached text, and a new sample a new one', async () => {
  let [sample, looks] = [nodeSample(), 0];
  const host = async () => {
    looks += 1;
    return HOST;
  };
  const scrape = await scraping(() => sample, { host });
  const [first, second] = await Promise.all([scrape(), scrape()]);
  expect(second).toBe(first);
  expect(looks).toBe(1);
  sample = nodeSample({ qosCgroups: [cgroup('/kubepods/besteffort')] });
  expect(await scrape()).toContain('id="/kubepods/besteffort"');
  expect(looks).toBe(2);
});

test('a failed scrape is repeated for the next client', async () => {
  const [sample, outcomes] = [nodeSample(), [new Error('no disk'), undefined]];
  const host = async () => {
    const failure = outcomes.shift();
    if (failure !== undefined) throw failure;
    return HOST;
  };
  const parts = { sample: async () => sample, host, pods: () => [], now: () => NOW, startedAt: 1_000 };
  const { ask } = await listening({ routes: [cadvisorRoute(parts)] });
  expect(await ask('/metrics/cadvisor')).toMatchObject({ code: 500, body: 'no disk\n' });
  expect(await ask('/metrics/cadvisor')).toMatchObject({ code: 200 });
});

test('C42: the cgroup of the agent has its own series, and the root cgroup is not duplicated', async () => {
  const own = await scraped({ agent: cgroup('/system.slice/statelet.service') });
  expect(Object.keys(rowOf(own, '/system.slice/statelet.service'))).toEqual(
    expect.arrayContaining(['container_cpu_usage_seconds_total cpu=total', 'container_memory_working_set_bytes']),
  );
  const root = cgroup('/');
  const lines = linesOf(await scraped({ root, agent: root }));
  const ofRoot = ({ name, labels: { id } }: Line) => name === 'container_spec_memory_limit_bytes' && id === '/';
  expect(lines.filter(ofRoot).map(({ rest }) => rest)).toEqual(['8e+06']);
});
