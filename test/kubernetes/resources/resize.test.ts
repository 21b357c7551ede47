import { describe, expect, test } from '@jest/globals';
import type { Container, ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import {
  changedRequests,
  hasSameResources,
  hasSameSize,
  needsRestart,
  resizeMessage,
  resizeRefusal,
  resourcesOf,
  toPendingRefusal,
  withResources,
} from '../../../kubernetes/resources/resize.ts';
import { containerSize } from '../../../kubernetes/resources/resources.ts';
import { aContainer, aPod } from '../fixtures.ts';

const of = (resources: ResourceRequirements, more: Partial<Container> = {}): Pod =>
  aPod({ containers: [aContainer({ resources, ...more })] });
const burstable = (cpu: string, more: Record<string, string> = {}): Pod => of({ requests: { cpu, ...more } });

describe('C25: resizing in place', () => {
  test.each<[string, Pod, Pod, string | undefined]>([
    ['no actual change', burstable('1'), burstable('1000m'), undefined],
    ['a CPU request', burstable('1'), burstable('2'), undefined],
    [
      'a pod that becomes Guaranteed',
      burstable('1'),
      of({ requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } }),
      'Pod QOS Class may not change as a result of resizing',
    ],
    ['a pod that becomes BestEffort', burstable('1'), of({}), 'Pod QOS Class may not change as a result of resizing'],
    [
      'another resource',
      burstable('1'),
      burstable('1', { 'example.com/gpu': '1' }),
      'only cpu and memory resources are mutable',
    ],
    [
      'a removed limit',
      of({ requests: { cpu: '1' }, limits: { cpu: '2' } }),
      burstable('1'),
      'resource limits cannot be removed',
    ],
    ['a removed request', burstable('1', { memory: '1' }), burstable('1'), 'resource requests cannot be removed'],
  ])('%s', (_, from, to, message) => expect(resizeRefusal(from, to)?.message).toBe(message));

  test('C24: resizes static pods like others', () => {
    const ofFile = (cpu: string): Pod => {
      const pod = burstable(cpu);
      const annotations = { 'kubernetes.io/config.source': 'file' };
      return { ...pod, metadata: { ...pod.metadata, annotations } };
    };
    expect(resizeRefusal(ofFile('1'), ofFile('2'))).toBeUndefined();
  });

  test.each(['Always', undefined] as const)('resizes init containers with restartPolicy %s', (restartPolicy) => {
    const init = (cpu: string): Pod =>
      aPod({
        initContainers: [
          aContainer({ name: 'init', resources: { requests: { cpu } }, ...(restartPolicy ? { restartPolicy } : {}) }),
        ],
      });
    expect(hasSameResources(resourcesOf(init('1')), resourcesOf(init('2')))).toBe(false);
    expect(withResources(init('1'), resourcesOf(init('2'))).spec.initContainers).toEqual(init('2').spec.initContainers);
  });

  test('replaces only the resources, and returns the same pod if they are equal', () => {
    const pod = of({ requests: { cpu: '1' } }, { image: 'new:1' });
    expect(withResources(pod, resourcesOf(burstable('1000m')))).toBe(pod);
    expect(withResources(pod, resourcesOf(burstable('2'))).spec.containers).toMatchObject([
      { image: 'new:1', resources: { requests: { cpu: '2' } } },
    ]);
  });

  test('defers a resize that is refused for any reason, but other updates only for lack of resources', () => {
    for (const reason of ['OutOfcpu', 'OutOfmemory', 'UnexpectedAdmissionError'] as const) {
      const deferred = { reason: 'Deferred', message: 'no room', rejectionReason: reason };
      expect(toPendingRefusal({ reason, message: 'no room' }, false)).toEqual(deferred);
      expect(toPendingRefusal({ reason, message: 'no room' }, true)).toEqual(deferred);
    }
    const ports = { reason: 'NodePorts', message: 'taken' } as const;
    expect(toPendingRefusal(ports, false)).toBe(ports);
    expect(toPendingRefusal(ports, true)).toMatchObject({ reason: 'Deferred', rejectionReason: 'NodePorts' });
    const infeasible = { reason: 'Infeasible', message: 'never' } as const;
    expect(toPendingRefusal(infeasible, true)).toBe(infeasible);
  });

  describe('on a node that allows swap', () => {
    const words = 'In-place resize of containers with swap is not supported.';
    const memory = (request: string, more: Partial<Container> = {}, limit = '100Mi'): Pod =>
      of({ requests: { cpu: '1', memory: request }, limits: { memory: limit } }, more);
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
    const critical = (pod: Pod): Pod => ({ ...pod, spec: { ...pod.spec, priority: 2_000_000_000 } });
    const guaranteed = (amount: string): Pod =>
      of({ limits: { cpu: '1', memory: amount }, requests: { cpu: '1', memory: amount } });

    test.each<[string, Pod, Pod, string | undefined]>([
      ['a container that swaps is not resized to a different memory request', memory('10Mi'), memory('20Mi'), words],
      ['a container that would swap after the resize is not resized', memory('100Mi'), memory('20Mi'), words],
      ['a container that would no longer swap after the resize is not resized', memory('20Mi'), memory('100Mi'), words],
      ['a memory limit does not affect swap', memory('10Mi'), memory('10Mi', {}, '200Mi'), undefined],
      [
        'a CPU request does not affect swap',
        memory('10Mi'),
        of({ requests: { cpu: '2', memory: '10Mi' }, limits: { memory: '100Mi' } }),
        undefined,
      ],
      [
        'a container that restarts for the resize is resized',
        memory('10Mi', { resizePolicy }),
        memory('20Mi', { resizePolicy }),
        undefined,
      ],
      [
        'a container without swap before and after is resized',
        memory('10Mi', {}, '10Mi'),
        memory('20Mi', {}, '20Mi'),
        undefined,
      ],
      ['a container of a critical pod has no swap', critical(memory('10Mi')), critical(memory('20Mi')), undefined],
      ['a container of a Guaranteed pod has no swap', guaranteed('10Mi'), guaranteed('20Mi'), undefined],
    ])('%s', (_, from, to, message) => {
      expect(resizeRefusal(from, to, true)).toEqual(message && { reason: 'Infeasible', message });
      expect(resizeRefusal(from, to)).toBeUndefined();
    });
  });

  test('applies a resize policy only to its own resource', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' as const }];
    const main = aContainer({
      resizePolicy,
      resources: { requests: { cpu: '1' }, limits: { cpu: '1', memory: '10' } },
    });
    const size = { cpuRequest: 1_000, cpuLimit: 1_000, memoryLimit: 5, memoryRequest: 0 };
    expect(needsRestart({ containers: [main] }, main, size)).toBe(false);
    expect(needsRestart({ containers: [main] }, main, { ...size, cpuLimit: 500 })).toBe(true);
  });

  test('restarts a container for a changed memory request as for a changed limit', () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
    const main = aContainer({ resizePolicy, resources: { requests: { memory: '8' }, limits: { memory: '10' } } });
    const spec = { containers: [main] };
    const size = { cpuRequest: 0, cpuLimit: 0, memoryLimit: 10, memoryRequest: 8 };
    expect(hasSameSize(size, containerSize(spec, main))).toBe(true);
    expect(needsRestart(spec, main, size)).toBe(false);
    expect(needsRestart(spec, main, { ...size, memoryLimit: 9 })).toBe(true);
    expect(hasSameSize({ ...size, memoryRequest: 7 }, containerSize(spec, main))).toBe(false);
    expect(needsRestart(spec, main, { ...size, memoryRequest: 7 })).toBe(true);
    // An older agent did not persist the request.
    expect(needsRestart(spec, main, { cpuRequest: 0, cpuLimit: 0, memoryLimit: 10 })).toBe(false);
  });

  test('reports the resources as JSON in an event', () => {
    expect(resizeMessage('Pod resize started', burstable('1'))).toBe(
      'Pod resize started: {"containers":[{"name":"main","resources":{"requests":{"cpu":"1"}}}],"generation":0}',
    );
  });
});

test('C25: moving a request between containers changes it, and writing the same amount differently does not', () => {
  const pod = (...amounts: readonly string[]) =>
    aPod({
      containers: amounts.map((cpu, index) => aContainer({ name: `c${index}`, resources: { requests: { cpu } } })),
    });
  expect(changedRequests(pod('500m', '1500m'), pod('1500m', '500m'))).toEqual(['cpu']);
  expect(changedRequests(pod('500m', '1'), pod('0.5', '1000m'))).toEqual([]);
  expect(changedRequests(pod('1'), pod('1', '1'))).toEqual([]);
});
