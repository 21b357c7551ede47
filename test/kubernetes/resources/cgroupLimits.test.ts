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

  test.each<[string, readonly string[], object, object]>([
    ['with exclusive CPUs', ['1'], { exclusiveCpus: true }, { quota: -1, period: 100_000 }],
    [
      'of which one container has exclusive CPUs',
      ['1', '500m'],
      { exclusiveCpus: true },
      { quota: -1, period: 100_000 },
    ],
    ['without exclusive CPUs', ['500m', '500m'], { exclusiveCpus: true }, { quota: 100_000, period: 100_000 }],
    ['with exclusive CPUs whose quota remains', ['2'], {}, { quota: 200_000, period: 100_000 }],
  ])('have the CPU quota of a Guaranteed pod %s', (_what, amounts, setting, expected) => {
    const spec = of(
      ...amounts.map((cpu) => {
        const list = { cpu, memory: '64Mi' };
        return { requests: list, limits: list };
      }),
    );
    expect(podCgroupLimits(spec, { ...rules, ...setting }).cpu).toEqual(expected);
  });

  describe('include huge pages by page size', () => {
    const pages = { ...rules, pageSizes: ['2MB', '1GB'] };
    // Requests of huge pages equal the limits.
    const amounts = (requests: Record<string, string>) => ({ requests, limits: requests });
    const withPages = (requests: Record<string, string>, spec: PodSpec): PodSpec => ({
      ...spec,
      resources: amounts(requests),
    });
    const two = of(amounts({ 'hugepages-2Mi': '4Mi' }), amounts({ 'hugepages-2Mi': '2Mi' }));
    const init = aContainer({ name: 'init', resources: amounts({ 'hugepages-2Mi': '10Mi' }) });
    const sidecar = { ...init, name: 'sidecar', restartPolicy: 'Always' as const };

    test.each<[string, PodSpec, number, number]>([
      ['the sum of the containers, and 0 for other sizes', two, 6 * Mi, 0],
      [
        'those of an init container that needs more than the regular ones',
        { ...two, initContainers: [init] },
        10 * Mi,
        0,
      ],
      ['those of sidecars besides the regular containers', { ...two, initContainers: [sidecar] }, 16 * Mi, 0],
      ['those of the pod instead of the containers', withPages({ 'hugepages-2Mi': '8Mi' }, two), 8 * Mi, 0],
      [
        'several sizes of a pod whose containers have none',
        withPages({ 'hugepages-2Mi': '6Mi', 'hugepages-1Gi': '1Gi' }, of({})),
        6 * Mi,
        1024 * Mi,
      ],
      [
        'a size of the pod and a different one of a container',
        withPages({ 'hugepages-2Mi': '6Mi' }, of(amounts({ 'hugepages-1Gi': '1Gi' }))),
        6 * Mi,
        1024 * Mi,
      ],
      [
        'the sum of two names of the same size',
        of(amounts({ 'hugepages-2Mi': '4Mi', 'hugepages-2048Ki': '2Mi' })),
        6 * Mi,
        0,
      ],
    ])('%s', (_what, spec, small, large) => {
      expect(podCgroupLimits(spec, pages).hugepages).toEqual({ '2MB': small, '1GB': large });
    });
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
