import { describe, expect, test } from '@jest/globals';
import {
  describeEnforced,
  describeNotEnforced,
  type Enforcement,
  reservedCgroups,
} from '../../../kubernetes/resources/reservedCgroups.ts';

const reserved = {
  systemReserved: { cpu: '500m', memory: '256Mi', pid: '1000', 'ephemeral-storage': '1Gi' },
  kubeReserved: { cpu: '250m' },
};
const cgroupsFor = (enforcements: readonly Enforcement[], over: Partial<Parameters<typeof reservedCgroups>[0]> = {}) =>
  reservedCgroups({
    enforcements,
    systemReservedCgroup: '/system',
    kubeReservedCgroup: '/kube',
    reserved,
    protectsMemory: false,
    ...over,
  });

describe('C25: the cgroups of daemons', () => {
  test('are limited only if the configuration enforces them', () => {
    expect(cgroupsFor(['pods'])).toEqual([]);
    expect(cgroupsFor(['none'])).toEqual([]);
  });

  test('get the reserved CPU, memory and processes, but not the disk, first those of the system', () => {
    expect(cgroupsFor(['kube-reserved', 'pods', 'system-reserved'])).toEqual([
      {
        owner: 'system',
        name: '/system',
        isCompressible: false,
        limits: { cpuShares: 512, memoryBytes: 256 * 2 ** 20, pids: 1000 },
      },
      { owner: 'kube', name: '/kube', isCompressible: false, limits: { cpuShares: 256 } },
    ]);
  });

  test('get only the CPU in the compressible form', () => {
    const cgroups = cgroupsFor(['system-reserved-compressible', 'kube-reserved-compressible']);
    expect(cgroups.map(({ owner, limits }) => [owner, limits])).toEqual([
      ['system', { cpuShares: 512 }],
      ['kube', { cpuShares: 256 }],
    ]);
  });

  test('have their memory protected under MemoryQoS', () => {
    const [system, kube] = cgroupsFor(['system-reserved', 'kube-reserved'], { protectsMemory: true });
    expect(system?.limits).toMatchObject({ memoryMinBytes: 256 * 2 ** 20 });
    expect(kube?.limits).not.toHaveProperty('memoryMinBytes');
  });

  test('have no limits if nothing is reserved', () => {
    const nothing = { systemReserved: {}, kubeReserved: {} };
    expect(cgroupsFor(['system-reserved'], { reserved: nothing })[0]?.limits).toBeUndefined();
  });

  test("are named in the kubelet's messages", () => {
    const [system] = cgroupsFor(['system-reserved']);
    const [kube] = cgroupsFor(['kube-reserved-compressible']);
    if (system === undefined || kube === undefined) throw new Error('no cgroups');
    expect(describeEnforced(system)).toBe('Updated limits on system reserved cgroup /system');
    expect(describeEnforced(kube)).toBe('Updated limits on kube reserved cgroup /kube');
    expect(describeNotEnforced(system, 'busy')).toBe(
      'Failed to enforce System Reserved Cgroup Limits on "/system": busy',
    );
    expect(describeNotEnforced(kube, 'busy')).toBe(
      'Failed to enforce Kube Reserved Compressible Cgroup Limits on "/kube": busy',
    );
  });
});
