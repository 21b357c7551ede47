import { expect, test } from '@jest/globals';
import { schedulerWarnings, validateSchedulingGates } from '../../../../pod/api/validation/scheduling.ts';
import { aPod } from '../../fixtures.ts';

test.each([
  [{ schedulingGates: [{ name: 'a/b' }] }, []],
  [{ nodeName: 'node-1', schedulingGates: [] }, []],
  [
    { nodeName: 'node-1', schedulingGates: [{ name: 'a/b' }] },
    [{ path: 'spec.nodeName', message: 'Forbidden: cannot be set until all schedulingGates have been cleared' }],
  ],
])('C46: a pod with a node has no scheduling gates: %j', (spec, problems) => {
  expect(validateSchedulingGates(aPod(spec).spec)).toEqual(problems);
});

test('C46: a static pod is warned of the fields that only a scheduler acts on', () => {
  const topologySpreadConstraints = [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const }];
  const affinity = {
    podAffinity: {},
    podAntiAffinity: {},
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] },
  };
  const warnings = schedulerWarnings(aPod({ affinity, topologySpreadConstraints, schedulingGroup: {} }).spec);
  expect(warnings.map(({ path }) => path)).toEqual([
    'spec.affinity.podAffinity',
    'spec.affinity.podAntiAffinity',
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution',
    'spec.topologySpreadConstraints',
    'spec.schedulingGroup',
  ]);
  expect(warnings[0]?.message).toBe('has no effect on a static pod, because no scheduler places it');
  expect(schedulerWarnings(aPod({ affinity: { nodeAffinity: {} }, schedulerName: 'default-scheduler' }).spec)).toEqual(
    [],
  );
});
