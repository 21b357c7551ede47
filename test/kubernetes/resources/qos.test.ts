import { describe, expect, test } from '@jest/globals';
import type { ResourceRequirements } from '../../../kubernetes/api/schema/container.ts';
import { qosClass } from '../../../kubernetes/resources/qos.ts';
import { aContainer } from '../fixtures.ts';

const limited = (cpu: string, memory: string): ResourceRequirements => ({
  limits: { cpu, memory },
  requests: { cpu, memory },
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

  test('depends on init containers as well', () => {
    const containers = [aContainer({ resources: limited('1', '1Gi') })];
    expect(qosClass({ containers, initContainers: [aContainer()] })).toBe('Burstable');
  });

  test('depends on pod-level resources instead of those of containers', () => {
    expect(qosClass({ containers: [aContainer()], resources: limited('1', '1Gi') })).toBe('Guaranteed');
    expect(qosClass({ containers: [aContainer()], resources: { requests: { cpu: '1' } } })).toBe('Burstable');
  });
});
