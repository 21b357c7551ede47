import { describe, expect, test } from '@jest/globals';
import type { Container, ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import { podLimit, podRequest } from '../../../kubernetes/resources/resources.ts';
import { aContainer } from '../fixtures.ts';

const asks = (requests: Record<string, string>, over: Partial<Container> = {}) =>
  aContainer({ resources: { requests }, ...over });
const limited = (cpu: string, memory: string): ResourceRequirements => ({
  limits: { cpu, memory },
  requests: { cpu, memory },
});
const Mi = 2 ** 20;

describe('the resources of a pod', () => {
  test('are the sum of the containers or the largest init container', () => {
    const spec = {
      containers: [asks({ cpu: '100m' }), asks({ cpu: '200m' })],
      initContainers: [asks({ cpu: '250m' })],
    };
    expect(podRequest(spec, 'cpu')).toBe(300);
    expect(podRequest({ ...spec, initContainers: [asks({ cpu: '1' }), asks({ cpu: '2' })] }, 'cpu')).toBe(2000);
  });

  test('count a sidecar together with everything that starts after it', () => {
    const sidecar = asks({ cpu: '100m' }, { restartPolicy: 'Always' });
    const initContainers = [asks({ cpu: '350m' }), sidecar, asks({ cpu: '300m' })];
    expect(podRequest({ containers: [asks({ cpu: '200m' })], initContainers }, 'cpu')).toBe(400);
    expect(podRequest({ containers: [asks({ cpu: '500m' })], initContainers }, 'cpu')).toBe(600);
  });

  test('are the pod-level amount instead of the sum, plus the overhead', () => {
    const spec = { containers: [asks({ memory: '64Mi' })], overhead: { memory: '1Mi' } };
    expect(podRequest(spec, 'memory')).toBe(65 * Mi);
    expect(podRequest({ ...spec, resources: { requests: { memory: '100Mi' } } }, 'memory')).toBe(101 * Mi);
  });

  test('have no limit if any container has none', () => {
    const one = aContainer({ resources: limited('1', '10Mi') });
    expect(podLimit({ containers: [one, one] }, 'memory')).toBe(20 * Mi);
    expect(podLimit({ containers: [one, aContainer()] }, 'memory')).toBeUndefined();
    expect(podLimit({ containers: [aContainer()], resources: { limits: { memory: '1Mi' } } }, 'memory')).toBe(Mi);
  });
});
