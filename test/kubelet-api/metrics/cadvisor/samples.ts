/** Samples of a node with one pod, with all data that the kernel can provide. */
import type { CgroupUsage } from '../../../../host/cgroup/usage/cgroupUsage.ts';
import type { CadvisorHost } from '../../../../kubelet-api/metrics/cadvisor/cadvisor.ts';
import type { CgroupSample, NodeSample, PodSample } from '../../../../stats/sample.ts';

export const READ_AT = 1_700_000_010_123;
export const CONTAINER_ID = 'c1'.repeat(32);
export const SANDBOX_ID = '5a'.repeat(32);

const line = (totalUs: number) => ({ avg10: 0, avg60: 0, avg300: 0, totalUs });
const stalled = (full: number, some: number) => ({ full: line(full), some: line(some) });

export const USAGE: CgroupUsage = {
  readAt: READ_AT,
  cpu: {
    usageNs: 2_500_000_000,
    userNs: 1_500_000_000,
    systemNs: 1_000_000_000,
    periods: 100,
    throttledPeriods: 7,
    throttledNs: 350_000_000,
    bursts: 3,
    burstNs: 42_000_000,
    quotaUs: 50_000,
    periodUs: 100_000,
    shares: 512,
  },
  memory: {
    usage: 9_437_184,
    max: 10_485_760,
    workingSet: 7_340_032,
    rss: 3_145_728,
    cache: 5_242_880,
    swap: 65_536,
    mappedFile: 1_048_576,
    activeFile: 1_572_864,
    inactiveFile: 2_097_152,
    kernel: 524_288,
    failcnt: 4,
    pageFaults: 2_500,
    majorPageFaults: 5,
    oomEvents: 2,
    limits: { limit: 67_108_864 },
  },
  pids: { threads: 5, threadsLimit: 4_096, processes: [process.pid, 2 ** 22 + 1] },
  io: [
    {
      major: 254,
      minor: 0,
      bytes: new Map([
        ['Read', 81_920],
        ['Write', 4_096],
      ]),
      operations: new Map([
        ['Read', 20],
        ['Write', 1],
      ]),
      costMicros: new Map([
        ['cost.usage', 1_500_000],
        ['cost.wait', 2_000_000],
        ['cost.indebt', 250_000],
        ['cost.indelay', 125_000],
      ]),
    },
  ],
  pressure: { cpu: stalled(2_000_000, 5_000_000), memory: stalled(50, 60), io: stalled(6, 7) },
};

export const cgroup = (path: string, usage: CgroupUsage = USAGE): CgroupSample => ({ path, usage });

const eth0 = { name: 'eth0', rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 4 };
export const NETWORK = {
  readAt: READ_AT + 1,
  interfaces: [{ ...eth0, txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 }],
};

export function podSample(name: string, usage: CgroupUsage = USAGE): PodSample {
  const path = `/kubepods/burstable/pod${name}`;
  return {
    uid: name,
    name,
    namespace: 'default',
    sandboxId: SANDBOX_ID,
    attempt: 0,
    createdAt: 1_700_000_000_900,
    cgroup: cgroup(path, usage),
    sandboxCgroup: cgroup(`${path}/${SANDBOX_ID}`, usage),
    network: NETWORK,
    containers: [
      {
        id: CONTAINER_ID,
        name: 'main',
        image: 'example.com/web:1',
        attempt: 0,
        createdAt: 1_700_000_001_900,
        cgroup: cgroup(`${path}/${CONTAINER_ID}`, usage),
      },
    ],
  };
}

export const nodeSample = (over: Partial<NodeSample> = {}): NodeSample => ({
  kind: 'everything',
  startedAt: READ_AT,
  hasRates: true,
  root: cgroup('/'),
  network: NETWORK,
  allPods: cgroup('/kubepods'),
  qosCgroups: [cgroup('/kubepods/burstable')],
  pods: [podSample('web')],
  ...over,
});

const io = { reads: 1, readsMerged: 2, sectorsRead: 3, readMs: 4_000, writes: 5, writesMerged: 6, sectorsWritten: 7 };

export const HOST: CadvisorHost = {
  machine: {
    machineId: 'machine',
    systemUuid: 'system',
    bootId: 'boot',
    kernelVersion: '6.8',
    osVersion: 'Debian',
    version: 'v1.36',
    cores: 8,
    physicalCores: 4,
    sockets: 1,
    memoryBytes: 8_000_000,
    swapBytes: 1_000_000,
    memoryModules: [{ type: 'Unbuffered-DDR4', count: 2, bytes: 8_388_608 }],
  },
  disks: [
    {
      device: '/dev/sdb',
      capacityBytes: 2_000,
      usedBytes: 500,
      inodes: 100,
      inodesFree: 60,
      io: { ...io, writeMs: 8_000, inProgress: 9, ioMs: 10_000, weightedMs: 11_000 },
    },
  ],
  nameDevice: () => '/dev/sda',
  bootedAt: 1_600_000_000_000,
  pauseImage: 'registry.k8s.io/pause:3.6',
};
