import { describe, expect, test } from '@jest/globals';
import { withDefaults } from '../../../../pod/api/defaults.ts';
import type { PodSpec } from '../../../../pod/api/schema/pod.ts';
import { validatePod } from '../../../../pod/api/validate.ts';
import { validateClaims } from '../../../../pod/api/validation/podResources.ts';
import { aContainer, aPod } from '../../fixtures.ts';

const problems = (spec: Partial<PodSpec>): string[] =>
  validatePod(withDefaults(aPod(spec))).map(({ path, message }) => `${path}: ${message}`);
const one = (limits: Record<string, string>, requests = limits) => [aContainer({ resources: { limits, requests } })];

describe('C25: the resources of a pod itself', () => {
  test('cover those of its containers', () => {
    const resources = {
      requests: { cpu: '1', memory: '1Gi' },
      limits: { cpu: '2', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
    };
    expect(problems({ containers: one({ cpu: '1', memory: '1Gi' }), resources })).toEqual([]);
  });

  test.each<[string, Partial<PodSpec>, string]>([
    [
      "requests below the sum of the containers'",
      { containers: one({ cpu: '1500m' }), resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } },
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m',
    ],
    [
      'a container with a higher limit',
      { containers: one({ memory: '2Gi' }, { memory: '1Gi' }), resources: { limits: { memory: '1Gi' } } },
      'spec.containers[0].resources.limits[memory]: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi',
    ],
    [
      'another resource',
      { resources: { limits: { 'example.com/gpu': '1' } } },
      'spec.resources.limits[example.com/gpu]: Unsupported value: "example.com/gpu": supported values: "cpu", "hugepages-", "memory"',
    ],
    [
      'claims',
      { resources: { claims: [{ name: 'a' }] } },
      'spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level',
    ],
  ])('%s: refused', (_, spec, message) => expect(problems(spec)).toContain(message));
});

test('C46: a container uses only claims of its pod', () => {
  const containers = [aContainer({ resources: { claims: [{ name: 'gpu' }, { name: 'nic' }, { name: '' }] } })];
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'a' }];
  expect(validateClaims(aPod({ resourceClaims, containers }).spec)).toEqual([
    { path: 'spec.containers[0].resources.claims[1]', message: 'Not found: "nic"' },
    { path: 'spec.containers[0].resources.claims[2]', message: 'Required value' },
  ]);
});

describe('resize policies', () => {
  const withPolicy = (resourceName: string) => [
    aContainer({ resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] }),
  ];

  test('only cpu and memory are resized', () => {
    expect(problems({ containers: withPolicy('memory') })).toEqual([]);
    expect(problems({ containers: withPolicy('ephemeral-storage') })).toEqual([
      'spec.containers[0].resizePolicy[0].resourceName: Unsupported value: "ephemeral-storage": supported values: "cpu", "memory"',
    ]);
  });

  test('not by a restart where nothing restarts', () => {
    expect(problems({ restartPolicy: 'Never', containers: withPolicy('cpu') })).toEqual([
      `spec.containers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must be 'NotRequired' when \`restartPolicy\` is 'Never'`,
    ]);
  });
});
