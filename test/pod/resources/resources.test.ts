import { describe, expect, test } from '@jest/globals';
import type { Container, ResourceRequirements } from '../../../pod/api/schema/container.ts';
import { cgroupPath, cpuQuota, cpuShares, oomScoreAdj, podCgroupNames } from '../../../pod/resources/cgroup.ts';
import { qosClass } from '../../../pod/resources/qos.ts';
import { podLimit, podRequest } from '../../../pod/resources/resources.ts';
import { aContainer, aPod } from '../fixtures.ts';

const asks = (requests: Record<string, string>, over: Partial<Container> = {}) =>
  aContainer({ resources: { requests }, ...over });
const limited = (cpu: string, memory: string): ResourceRequirements => ({
  limits: { cpu, memory },
  requests: { cpu, memory },
});
const Mi = 2 ** 20;

describe('the resources of a pod', () => {
  test('the containers run together, the init containers one by one', () => {
    const spec = {
      containers: [asks({ cpu: '100m' }), asks({ cpu: '200m' })],
      initContainers: [asks({ cpu: '250m' })],
    };
    expect(podRequest(spec, 'cpu')).toBe(300);
    expect(podRequest({ ...spec, initContainers: [asks({ cpu: '1' }), asks({ cpu: '2' })] }, 'cpu')).toBe(2000);
  });

  test('a sidecar counts beside all that starts after it', () => {
    const sidecar = asks({ cpu: '100m' }, { restartPolicy: 'Always' });
    const initContainers = [asks({ cpu: '350m' }), sidecar, asks({ cpu: '300m' })];
    expect(podRequest({ containers: [asks({ cpu: '200m' })], initContainers }, 'cpu')).toBe(400);
    expect(podRequest({ containers: [asks({ cpu: '500m' })], initContainers }, 'cpu')).toBe(600);
  });

  test("the pod's own figure replaces the sum, the overhead comes on top", () => {
    const spec = { containers: [asks({ memory: '64Mi' })], overhead: { memory: '1Mi' } };
    expect(podRequest(spec, 'memory')).toBe(65 * Mi);
    expect(podRequest({ ...spec, resources: { requests: { memory: '100Mi' } } }, 'memory')).toBe(101 * Mi);
  });

  test('one container without a limit leaves the pod without one', () => {
    const one = aContainer({ resources: limited('1', '10Mi') });
    expect(podLimit({ containers: [one, one] }, 'memory')).toBe(20 * Mi);
    expect(podLimit({ containers: [one, aContainer()] }, 'memory')).toBeUndefined();
    expect(podLimit({ containers: [aContainer()], resources: { limits: { memory: '1Mi' } } }, 'memory')).toBe(Mi);
  });
});

describe('the QoS class', () => {
  const classOf = (...resources: (ResourceRequirements | undefined)[]) =>
    qosClass({ containers: resources.map((each) => aContainer(each ? { resources: each } : {})) });

  test.each([
    ['nothing asked', [undefined], 'BestEffort'],
    ['nothing but zeros', [{ requests: { cpu: '0' }, limits: { memory: '0' } }], 'BestEffort'],
    ['another resource only', [{ requests: { 'example.com/gpu': '1' } }], 'BestEffort'],
    ['all equal', [limited('1', '1Gi'), limited('2', '1Gi')], 'Guaranteed'],
    [
      'equal in other words',
      [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } }],
      'Guaranteed',
    ],
    ['one container without', [limited('1', '1Gi'), undefined], 'Burstable'],
    ['only cpu', [{ limits: { cpu: '1' }, requests: { cpu: '1' } }], 'Burstable'],
    [
      'a request below its limit',
      [{ limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } }],
      'Burstable',
    ],
    ['a limit without a request', [{ limits: { cpu: '2', memory: '1Gi' } }], 'Burstable'],
  ] satisfies [string, (ResourceRequirements | undefined)[], string][])('%s', (_what, resources, expected) => {
    expect(classOf(...resources)).toBe(expected);
  });

  test('init containers count', () => {
    const containers = [aContainer({ resources: limited('1', '1Gi') })];
    expect(qosClass({ containers, initContainers: [aContainer()] })).toBe('Burstable');
  });

  test("a pod's own resources replace those of its containers", () => {
    expect(qosClass({ containers: [aContainer()], resources: limited('1', '1Gi') })).toBe('Guaranteed');
    expect(qosClass({ containers: [aContainer()], resources: { requests: { cpu: '1' } } })).toBe('Burstable');
  });
});

describe('C25: cgroup numbers', () => {
  test.each([
    [0, 2],
    [1, 2],
    [2, 2],
    [100, 102],
    [1000, 1024],
    [256_001, 262_144],
  ])('%i millicores are %i shares', (milli, shares) => {
    expect(cpuShares(milli)).toBe(shares);
  });

  test.each([
    [0, 0],
    [1, 1000],
    [10, 1000],
    [250, 25_000],
    [2000, 200_000],
  ])('%i millicores are a quota of %i', (milli, quota) => {
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
  ])('oom_score_adj: %s', (_what, container, score) => {
    expect(oom(container)).toBe(score);
  });

  test('oom_score_adj: a fraction of a thousandth does not count', () => {
    expect(oom(asks({ memory: '1' }), {}, 3)).toBe(667);
  });

  test('oom_score_adj: node-critical pods go last', () => {
    expect(oom(aContainer(), { priorityClassName: 'system-node-critical' })).toBe(-997);
  });

  test("oom_score_adj: a sidecar takes the lower of its own and the regular containers' lowest", () => {
    const sidecar = asks({ memory: '100Mi' }, { name: 'side', restartPolicy: 'Always' });
    const spec = { containers: [asks({ memory: '300Mi' }), asks({ memory: '200Mi' })], initContainers: [sidecar] };
    expect(oomScoreAdj(spec, sidecar, 1000 * Mi)).toBe(700);
    const large = asks({ memory: '600Mi' }, { restartPolicy: 'Always' });
    expect(oomScoreAdj({ ...spec, initContainers: [large] }, large, 1000 * Mi)).toBe(400);
  });

  test('oom_score_adj: what only the pod asks for is spread over its containers', () => {
    const [one, two] = [asks({ memory: '100Mi' }), asks({ memory: '200Mi' }, { name: 'two' })];
    const spec = { containers: [one, two], resources: { requests: { memory: '500Mi' } } };
    expect(oomScoreAdj(spec, one, 1000 * Mi)).toBe(800);
    expect(oomScoreAdj(spec, two, 1000 * Mi)).toBe(700);
  });

  test.each([
    ['BestEffort', aContainer(), 'kubepods/besteffort/poda-b', 'kubepods-besteffort-poda_b.slice'],
    ['Burstable', asks({ cpu: '1' }), 'kubepods/burstable/poda-b', 'kubepods-burstable-poda_b.slice'],
    ['Guaranteed', aContainer({ resources: limited('1', '1Mi') }), 'kubepods/poda-b', 'kubepods-poda_b.slice'],
  ])('the cgroup of a %s pod', (_what, container, path, slice) => {
    const pod = aPod({ containers: [container] }, { uid: 'a-b' });
    const names = podCgroupNames(pod);
    expect(cgroupPath(names, { cgroupRoot: '', cgroupDriver: 'cgroupfs' })).toBe(`/${path}`);
    expect(cgroupPath(names, { cgroupRoot: '', cgroupDriver: 'systemd' })).toBe(slice);
  });
});
