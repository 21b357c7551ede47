import { describe, expect, test } from '@jest/globals';
import type { Container, ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import { cgroupPath, cpuQuota, cpuShares, oomScoreAdj, podCgroupNames } from '../../../kubernetes/resources/cgroup.ts';
import { aContainer, aPod } from '../fixtures.ts';

const asks = (requests: Record<string, string>, over: Partial<Container> = {}) =>
  aContainer({ resources: { requests }, ...over });
const limited = (cpu: string, memory: string): ResourceRequirements => ({
  limits: { cpu, memory },
  requests: { cpu, memory },
});
const Mi = 2 ** 20;

describe('C25: cgroup numbers', () => {
  test.each([
    [0, 2],
    [1, 2],
    [2, 2],
    [100, 102],
    [1000, 1024],
    [256_001, 262_144],
  ])('convert %i millicores to %i shares', (milli, shares) => {
    expect(cpuShares(milli)).toBe(shares);
  });

  test.each([
    [0, 0],
    [1, 1000],
    [10, 1000],
    [250, 25_000],
    [2000, 200_000],
  ])('convert %i millicores to a quota of %i', (milli, quota) => {
    expect(cpuQuota(milli)).toBe(quota);
  });

  const oom = (container: Container, spec = {}, capacity = 1000 * Mi) =>
    oomScoreAdj({ containers: [container], ...spec }, container, capacity);

  test.each([
    ['Guaranteed', aContainer({ resources: limited('1', '1Mi') }), -997],
    ['BestEffort', aContainer(), 1000],
    ['Burstable, half of it', asks({ memory: '500Mi' }), 500],
    ['Burstable, all of it', asks({ memory: '2000Mi' }), 3],
    ['Burstable, next to nothing', asks({ memory: '1' }), 999],
    ['Burstable, no memory', asks({ cpu: '1' }), 999],
  ])('include the oom_score_adj: %s', (_what, container, score) => {
    expect(oom(container)).toBe(score);
  });

  test('oom_score_adj: rounds to whole thousandths', () => {
    expect(oom(asks({ memory: '1' }), {}, 3)).toBe(667);
  });

  test('oom_score_adj: kills node-critical pods last', () => {
    expect(oom(aContainer(), { priorityClassName: 'system-node-critical' })).toBe(-997);
  });

  test("oom_score_adj: uses the lower of a sidecar's own score and those of the regular containers", () => {
    const sidecar = asks({ memory: '100Mi' }, { name: 'side', restartPolicy: 'Always' });
    const spec = { containers: [asks({ memory: '300Mi' }), asks({ memory: '200Mi' })], initContainers: [sidecar] };
    expect(oomScoreAdj(spec, sidecar, 1000 * Mi)).toBe(700);
    const large = asks({ memory: '600Mi' }, { restartPolicy: 'Always' });
    expect(oomScoreAdj({ ...spec, initContainers: [large] }, large, 1000 * Mi)).toBe(400);
  });

  test('oom_score_adj: distributes pod-level memory among the containers', () => {
    const [one, two] = [asks({ memory: '100Mi' }), asks({ memory: '200Mi' }, { name: 'two' })];
    const spec = { containers: [one, two], resources: { requests: { memory: '500Mi' } } };
    expect(oomScoreAdj(spec, one, 1000 * Mi)).toBe(800);
    expect(oomScoreAdj(spec, two, 1000 * Mi)).toBe(700);
  });

  test.each([
    ['BestEffort', aContainer(), 'kubepods/besteffort/poda-b', 'kubepods-besteffort-poda_b.slice'],
    ['Burstable', asks({ cpu: '1' }), 'kubepods/burstable/poda-b', 'kubepods-burstable-poda_b.slice'],
    ['Guaranteed', aContainer({ resources: limited('1', '1Mi') }), 'kubepods/poda-b', 'kubepods-poda_b.slice'],
  ])('the cgroup path of a %s pod follows from its QoS class', (_what, container, path, slice) => {
    const pod = aPod({ containers: [container] }, { uid: 'a-b' });
    const names = podCgroupNames(pod);
    expect(cgroupPath(names, { cgroupRoot: '', cgroupDriver: 'cgroupfs' })).toBe(`/${path}`);
    expect(cgroupPath(names, { cgroupRoot: '', cgroupDriver: 'systemd' })).toBe(slice);
  });
});
