import { describe, expect, test } from '@jest/globals';
import {
  allocatableResources,
  describeExcessiveReservation,
  evictionThreshold,
  subtractReserved,
} from '../../../kubernetes/resources/allocatable.ts';

const MI = 2 ** 20;
const capacity = { cpuMillis: 4_000, memoryBytes: 1_000 * MI, pods: 110 };
const none = { kubeReserved: {}, systemReserved: {} };

describe('the allocatable resources of a node', () => {
  test.each([
    ['nothing is reserved', none, 4_000, 1_000],
    ['a line of eviction', { ...none, evictionHardMemory: '100Mi' }, 4_000, 900],
    ['all of it, which is no line', { ...none, evictionHardMemory: '100%' }, 4_000, 1_000],
    // The kubelet computes percentages with single precision (`GetThresholdQuantity`).
    ['a line in percent', { ...none, evictionHardMemory: '10%' }, 4_000, 900 - 1 / MI],
    [
      'all three',
      { kubeReserved: { cpu: '500m', memory: '100Mi' }, systemReserved: { cpu: '1' }, evictionHardMemory: '50Mi' },
      2_500,
      850,
    ],
    ['more than there is', { kubeReserved: { cpu: '5', memory: '2Gi' }, systemReserved: {} }, 0, 0],
  ])('%s', (_, reserved, cpuMillis, mebibytes) => {
    expect(allocatableResources(capacity, reserved)).toEqual({ cpuMillis, memoryBytes: mebibytes * MI, pods: 110 });
  });

  test('exclude the memory below the eviction threshold, which the cgroup of all pods includes', () => {
    const reserved = { kubeReserved: { memory: '100Mi' }, systemReserved: {}, evictionHardMemory: '50Mi' };
    expect(subtractReserved(capacity, reserved).memoryBytes).toBe(900 * MI);
  });

  test('include other resources with their reservations, and a separate threshold for the disk', () => {
    const extra = { 'ephemeral-storage': 1_000, 'hugepages-2Mi': 100, 'example.com/gpu': 2 };
    const reserved = { kubeReserved: { 'ephemeral-storage': '150' }, systemReserved: { 'hugepages-2Mi': '40' } };
    expect(allocatableResources({ ...capacity, extra }, { ...reserved, evictionHardDisk: '10%' }).extra).toEqual({
      'ephemeral-storage': 750,
      'hugepages-2Mi': 60,
      'example.com/gpu': 2,
    });
  });

  test('exclude the memory of huge pages, even if it is reserved', () => {
    const extra = { 'hugepages-2Mi': 100 * MI, 'hugepages-1Gi': 300 * MI, 'ephemeral-storage': 7 * MI };
    const reserved = { kubeReserved: { memory: '50Mi' }, systemReserved: { 'hugepages-2Mi': '40Mi' } };
    const own = allocatableResources({ ...capacity, extra }, { ...reserved, evictionHardMemory: '100Mi' });
    expect(own.memoryBytes).toBe(450 * MI);
    expect(own.extra).toEqual({ ...extra, 'hugepages-2Mi': 60 * MI });
    // The cgroup of all pods limits huge pages with a separate controller.
    expect(subtractReserved({ ...capacity, extra }, reserved).memoryBytes).toBe(950 * MI);
  });

  test('are never negative if huge pages exceed the remaining memory', () => {
    const extra = { 'hugepages-1Gi': 990 * MI };
    const reserved = { ...none, kubeReserved: { memory: '100Mi' } };
    expect(allocatableResources({ ...capacity, extra }, reserved).memoryBytes).toBe(0);
  });

  test('have no threshold by default', () => expect(evictionThreshold(undefined, 100)).toBe(0));
});

describe('C25: reservations that exceed the capacity', () => {
  const node = { ...capacity, extra: { 'ephemeral-storage': 1_000 * MI } };
  const expected = 'Expected capacity >= reservation.';

  test('are named with both amounts, each resource in one sentence', () => {
    const reserved = {
      kubeReserved: { cpu: '3500m', memory: '600Mi', 'ephemeral-storage': '600Mi' },
      systemReserved: { cpu: '1', memory: '400Mi', 'ephemeral-storage': '400Mi' },
      evictionHardMemory: '24Mi',
      evictionHardDisk: '24Mi',
    };
    expect(describeExcessiveReservation(node, reserved)).toBe(
      `invalid Node Allocatable configuration. Resource "cpu" has a reservation of 4500m but capacity of 4. ${expected} Resource "memory" has a reservation of 1Gi but capacity of 1000Mi. ${expected} Resource "ephemeral-storage" has a reservation of 1Gi but capacity of 1000Mi. ${expected}`,
    );
  });

  test('do not include what equals the capacity, processes, and a disk of unknown size', () => {
    const reserved = { kubeReserved: { cpu: '4', memory: '1000Mi', pid: '9999' }, systemReserved: {} };
    expect(describeExcessiveReservation(node, reserved)).toBeUndefined();
    const disk = { kubeReserved: { 'ephemeral-storage': '1Ti' }, systemReserved: {} };
    expect(describeExcessiveReservation(capacity, disk)).toBeUndefined();
  });
});
