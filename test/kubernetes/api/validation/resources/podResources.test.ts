import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod, problemsIn } from '../../../fixtures.ts';

const problems = (spec: Partial<PodSpec>): string[] =>
  problemsIn(aPod(spec)).map(({ path, message }) => `${path}: ${message}`);
const one = (limits: Record<string, string>, requests = limits) => [aContainer({ resources: { limits, requests } })];

describe('C25: pod-level resources', () => {
  test('must cover those of the containers', () => {
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
      'spec.resources.containers[0][memory].limits: Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi',
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
  ])('must not have %s', (_, spec, message) => expect(problems(spec)).toContain(message));
});

test('C46: claims of a container must be claims of its pod', () => {
  const claims = [{ name: 'gpu' }, { name: 'nic' }, { name: '' }, { name: 'gpu', request: 'a' }];
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'a' }];
  const at = 'spec.containers[0].resources.claims';
  expect(problems({ resourceClaims, containers: [aContainer({ resources: { claims } })] })).toEqual([
    `${at}[1]: Not found: "nic": must be one of the names in pod.spec.resourceClaims: gpu`,
    `${at}[2]: Required value`,
    `${at}[3]: Duplicate value: "gpu"`,
  ]);
});

describe('resize policies', () => {
  const withPolicy = (resourceName: string) => [
    aContainer({ resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] }),
  ];

  test('are for cpu and memory only', () => {
    expect(problems({ containers: withPolicy('memory') })).toEqual([]);
    expect(problems({ containers: withPolicy('ephemeral-storage') })).toEqual([
      'spec.containers[0].resizePolicy: Unsupported value: "ephemeral-storage": supported values: "cpu", "memory"',
    ]);
  });

  test('must not require restarts in a pod that never restarts', () => {
    expect(problems({ restartPolicy: 'Never', containers: withPolicy('cpu') })).toEqual([
      `spec.containers[0].resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when pod \`restartPolicy\` is 'Never'`,
    ]);
  });
});
