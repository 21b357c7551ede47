import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { podCgroupLimits, qosCgroupLimits } from '../../../kubernetes/resources/cgroupLimits.ts';
import {
  allPodsMemoryProtection,
  containerMemoryFiles,
  protectedMemory,
} from '../../../kubernetes/resources/memoryQos.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { aContainer, aPod } from '../fixtures.ts';

const MIB = 2 ** 20;
const memoryQos = { throttlingFactor: 0.9, isTiered: true, unreservedBytes: 1_000 * MIB, pageBytes: 4_096 };
const tiered = { ...cgroupFacts, memoryQos };
const untiered = { ...cgroupFacts, memoryQos: { ...memoryQos, isTiered: false } };

const podOf = (resources: object): PodSpec => aPod({ containers: [aContainer({ resources })] }).spec;
const burstable = podOf({ requests: { memory: '100Mi' }, limits: { memory: '200Mi' } });
const guaranteed = podOf({ requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } });
const bestEffort = podOf({});

/** Returns the cgroup files of the only container of a pod. */
const filesOf = (spec: PodSpec, rules: Parameters<typeof containerMemoryFiles>[2]) =>
  containerMemoryFiles(spec, spec.containers[0] ?? aContainer({}), rules);

describe('C25: the memory of containers under MemoryQoS', () => {
  test('has no files without the feature', () => {
    expect(filesOf(burstable, cgroupFacts)).toEqual({});
  });

  test('is protected hard for Guaranteed pods, which are not throttled', () => {
    expect(filesOf(guaranteed, tiered)).toEqual({ 'memory.min': String(64 * MIB) });
  });

  test('is protected softly for Burstable pods', () => {
    expect(filesOf(burstable, tiered)).toMatchObject({ 'memory.low': String(100 * MIB) });
    expect(filesOf(burstable, tiered)).not.toHaveProperty(['memory.min']);
  });

  test('loses an earlier protection if the pod requests none or the memory is not tiered', () => {
    const nothing = { 'memory.min': '0', 'memory.low': '0' };
    expect(filesOf(bestEffort, tiered)).toMatchObject(nothing);
    expect(filesOf(burstable, untiered)).toMatchObject(nothing);
    expect(filesOf(guaranteed, untiered)).toEqual(nothing);
    // The throttling does not depend on the protection.
    expect(filesOf(burstable, untiered)['memory.high']).toBe(filesOf(burstable, tiered)['memory.high']);
  });

  // The first two cases are those of the kubelet's `TestGenerateContainerConfigWithMemoryQoSEnforced`.
  test.each([
    ['between request and limit', { requests: { memory: '128Mi' }, limits: { memory: '256Mi' } }, 0.8, 241_590_272],
    ['between request and the memory of the node', { requests: { memory: '128Mi' } }, 0.8, 865_701_888],
    [
      'of the whole memory between request and limit',
      { requests: { memory: '256Mi' }, limits: { memory: '512Mi' } },
      1,
      512 * MIB,
    ],
    ['of the limit without a request', { limits: { memory: '256Mi' }, requests: { memory: '0' } }, 0.9, 241_590_272],
  ])('is throttled at a fraction %s, in whole pages', (_, resources, throttlingFactor, expected) => {
    const rules = { memoryQos: { ...memoryQos, throttlingFactor } };
    expect(filesOf(podOf(resources), rules)['memory.high']).toBe(String(expected));
  });

  test('is not throttled in a BestEffort pod', () => {
    expect(filesOf(bestEffort, tiered)).not.toHaveProperty(['memory.high']);
  });

  test('is not throttled if request and limit are equal, or if the threshold is not above the request', () => {
    const equal = podOf({ requests: { memory: '1Mi' }, limits: { memory: '1Mi' } });
    expect(filesOf(equal, tiered)).toEqual({ 'memory.low': String(MIB) });
    const page = podOf({ requests: { memory: '4096' }, limits: { memory: '8000' } });
    expect(filesOf(page, tiered)).not.toHaveProperty(['memory.high']);
    expect(filesOf(podOf({ requests: { memory: '2000Mi' } }), tiered)).not.toHaveProperty(['memory.high']);
  });
});

describe('C25: the memory of pods and QoS classes under TieredReservation', () => {
  const pods = [burstable, guaranteed, burstable, bestEffort];

  test('is protected in the cgroup of the pod', () => {
    expect(podCgroupLimits(guaranteed, tiered)).toMatchObject({ memoryMinBytes: 64 * MIB });
    expect(podCgroupLimits(burstable, tiered)).toMatchObject({ memoryLowBytes: 100 * MIB });
    const twoContainers: PodSpec = { containers: [...burstable.containers, ...burstable.containers] };
    expect(podCgroupLimits(twoContainers, tiered)).toMatchObject({ memoryLowBytes: 200 * MIB });
    for (const limits of [podCgroupLimits(bestEffort, tiered), podCgroupLimits(burstable, untiered)]) {
      expect(limits).not.toHaveProperty('memoryLowBytes');
      expect(limits).not.toHaveProperty('memoryMinBytes');
    }
  });

  test('is protected for all pods by the sum of all requests, and for Burstable pods by the sum of theirs', () => {
    expect(allPodsMemoryProtection(pods, tiered)).toEqual({ memoryMinBytes: 264 * MIB });
    expect(qosCgroupLimits('burstable', pods, tiered)).toMatchObject({ memoryLowBytes: 200 * MIB });
    expect(qosCgroupLimits('besteffort', pods, tiered)).not.toHaveProperty('memoryLowBytes');
    expect(protectedMemory(pods, tiered)).toEqual({ guaranteedBytes: 64 * MIB, burstableBytes: 200 * MIB });
  });

  test('is not protected under the policy None, and is left alone without the feature', () => {
    expect(allPodsMemoryProtection(pods, untiered)).toEqual({ memoryMinBytes: 0 });
    expect(qosCgroupLimits('burstable', pods, untiered)).toMatchObject({ memoryLowBytes: 0 });
    expect(allPodsMemoryProtection(pods, cgroupFacts)).toEqual({});
    expect(protectedMemory(pods, cgroupFacts)).toBeUndefined();
  });
});
