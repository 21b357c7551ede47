import { describe, expect, test } from '@jest/globals';
import type { ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { subtractReserved } from '../../../kubernetes/resources/allocatable.ts';
import {
  type CgroupRules,
  nodeCgroupLimits,
  podCgroupLimits,
  qosCgroupLimits,
} from '../../../kubernetes/resources/cgroupLimits.ts';
import { aContainer } from '../fixtures.ts';

const Mi = 2 ** 20;
const rules: CgroupRules = { cfsQuota: true, cfsPeriod: 100_000, podPids: -1, pageSizes: [] };
const of = (...resources: ResourceRequirements[]): PodSpec => ({
  containers: resources.map((each, index) => aContainer({ name: `c${index}`, resources: each })),
});
const half = { cpu: '500m', memory: '64Mi' };
const guaranteed = of({ requests: half, limits: half });

describe("C25: the limits of a pod's cgroup", () => {
  test.each<[string, PodSpec, object]>([
    ['BestEffort', of({}), { cpuShares: 2 }],
    ['Guaranteed', guaranteed, { cpuShares: 512, cpu: { quota: 50_000, period: 100_000 }, memoryBytes: 64 * Mi }],
    ['Burstable without limits', of({ requests: half }), { cpuShares: 512 }],
    [
      'Burstable, every container limited',
      of({ requests: { cpu: '100m' }, limits: half }, { requests: half, limits: half }),
      { cpuShares: 614, cpu: { quota: 100_000, period: 100_000 }, memoryBytes: 128 * Mi },
    ],
    [
      'Burstable, one container without a limit of memory',
      of({ requests: { cpu: '1' }, limits: { cpu: '1' } }, { requests: half, limits: half }),
      {
        cpuShares: 1536,
        cpu: { quota: 150_000, period: 100_000 },
      },
    ],
    [
      'Burstable, an init container without limits',
      { ...guaranteed, initContainers: [aContainer({ name: 'init' })] },
      {
        cpuShares: 512,
      },
    ],
    [
      'with overhead',
      { ...guaranteed, overhead: { cpu: '250m', memory: '16Mi' } },
      {
        cpuShares: 768,
        cpu: { quota: 75_000, period: 100_000 },
        memoryBytes: 80 * Mi,
      },
    ],
    [
      'with limits of its own',
      { ...of({}), resources: { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Mi' } } },
      {
        cpuShares: 1024,
        cpu: { quota: 200_000, period: 100_000 },
        memoryBytes: Mi,
      },
    ],
  ])('%s', (_, spec, expected) => expect(podCgroupLimits(spec, rules)).toEqual(expected));

  test('have no quota unless quotas are enforced, and use the configured period', () => {
    expect(podCgroupLimits(guaranteed, { ...rules, cfsQuota: false }).cpu).toEqual({ quota: -1, period: 100_000 });
    expect(podCgroupLimits(guaranteed, { ...rules, cfsPeriod: 10_000 }).cpu).toEqual({ quota: 5_000, period: 10_000 });
  });

  test('include the number of processes if the node limits it', () => {
    expect(podCgroupLimits(of({}), { ...rules, podPids: 100 })).toEqual({ cpuShares: 2, pids: 100 });
  });

  test('include huge pages of the containers or else of the pod, and 0 for other sizes', () => {
    const pages = { ...rules, pageSizes: ['2MB', '1GB'] };
    const two = of({ limits: { 'hugepages-2Mi': '4Mi' } }, { limits: { 'hugepages-2Mi': '2Mi' } });
    expect(podCgroupLimits(two, pages).hugepages).toEqual({ '2MB': 6 * Mi, '1GB': 0 });
    const own = { ...two, resources: { limits: { 'hugepages-2Mi': '8Mi' } } };
    expect(podCgroupLimits(own, pages).hugepages).toEqual({ '2MB': 8 * Mi, '1GB': 0 });
  });
});

describe('C25: the parent cgroups of pods', () => {
  test('give burstable pods shares by their requests, and best-effort pods the minimum', () => {
    const pods = [of({ requests: { cpu: '1' } }), of({ requests: { cpu: '250m' } }), guaranteed, of({})];
    expect(qosCgroupLimits('burstable', pods, rules)).toEqual({ cpuShares: 1280 });
    expect(qosCgroupLimits('besteffort', pods, rules)).toEqual({ cpuShares: 2 });
    expect(qosCgroupLimits('burstable', [], rules)).toEqual({ cpuShares: 2 });
  });

  test('do not limit huge pages per QoS class', () => {
    const limits = qosCgroupLimits('burstable', [], { ...rules, pageSizes: ['2MB'] });
    expect(limits.hugepages).toEqual({ '2MB': 2 ** 62 });
    const allPods = nodeCgroupLimits({ cpuMillis: 2_000, memoryBytes: 5, pods: 1 }, { ...rules, pageSizes: ['2MB'] });
    expect(allPods.hugepages).toEqual({ '2MB': 2 ** 62 });
  });

  test('limit all pods together', () => {
    expect(nodeCgroupLimits({ cpuMillis: 2_000, memoryBytes: 5, pods: 1 }, rules)).toEqual({
      cpuShares: 2048,
      memoryBytes: 5,
    });
    const processes = { cpuMillis: 2_000, memoryBytes: 5, pods: 1, extra: { pid: 30_000 } };
    expect(nodeCgroupLimits(processes, rules)).toMatchObject({ pids: 30_000 });
    // Reserved resources do not belong to the pods.
    const reserved = { kubeReserved: { pid: '1000' }, systemReserved: { pid: '2k' } };
    expect(nodeCgroupLimits(subtractReserved(processes, reserved), rules)).toMatchObject({ pids: 27_000 });
  });
});
