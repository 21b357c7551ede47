import { expect, test } from '@jest/globals';
import type { PodSpec } from '../../../../../kubernetes/api/schema/pod.ts';
import { schedulerWarnings } from '../../../../../kubernetes/api/validation/pod/scheduling.ts';
import { aPod, problemsIn } from '../../../fixtures.ts';

/** Returns the problems of a static pod, because fields for schedulers are not validated in a pod of an API server. */
const problems = (spec: Partial<PodSpec>) =>
  problemsIn(aPod(spec, { annotations: { 'kubernetes.io/config.source': 'file' } })).map(
    ({ path, message }) => `${path}: ${message.replace(/ name part.*/, ' …')}`,
  );

test('a node requirement must have as many values as its operator needs', () => {
  const withExpressions = (...matchExpressions: object[]) => {
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
    return problems(JSON.parse(JSON.stringify({ affinity: { nodeAffinity } })));
  };
  const at =
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]';
  expect(withExpressions({ key: 'a', operator: 'In' })).toEqual([
    `${at}.values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  ]);
  expect(withExpressions({ key: 'a', operator: 'Exists', values: ['b'] })).toEqual([
    `${at}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
  ]);
  expect(withExpressions({ key: 'a', operator: 'Gt', values: ['1', '2'] })).toEqual([
    `${at}.values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
  ]);
  expect(withExpressions({ key: '', operator: 'Like' })[0]).toBe(
    `${at}.operator: Invalid value: "Like": not a valid selector operator`,
  );
});

test('weights must be from 1 to 100', () => {
  const preferred = (weight: number) => [{ weight, preference: {} }];
  const withWeight = (weight: number) =>
    problems({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred(weight) } } });
  expect(withWeight(100)).toEqual([]);
  expect(withWeight(0)).toEqual([
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
  ]);
});

test('a toleration without a key must have the operator Exists', () => {
  expect(problems({ tolerations: [{ operator: 'Exists' }] })).toEqual([]);
  expect(problems({ tolerations: [{ operator: 'Equal' }, { key: 'a', operator: 'Exists', value: 'b' }] })).toEqual([
    'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    'spec.tolerations[1].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\'',
  ]);
  expect(problems({ tolerations: [{ key: 'a', operator: 'Lt', value: '1' }] })).toEqual([
    'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"',
  ]);
});

test('only one spread constraint is allowed per key and action', () => {
  const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' as const };
  expect(problems({ topologySpreadConstraints: [{ ...spread, maxSkew: 0, minDomains: 2 }, spread] })).toEqual([
    'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
    'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, ScheduleAnyway}"',
    'spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
  ]);
});

test('matchLabelKeys and mismatchLabelKeys are validated together with a label selector', () => {
  const term = { topologyKey: 'zone', matchLabelKeys: ['a'], mismatchLabelKeys: ['a'] };
  const withTerm = (over: object) =>
    problems({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...over }] } } });
  const at = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]';
  const both = `${at}.matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys`;
  expect(withTerm({ labelSelector: {} })).toEqual([both]);
  expect(withTerm({})).toEqual([
    `${at}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
    `${at}.mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set`,
    both,
  ]);
});

test('C46: scheduling gates of a static pod, which already has a node, are rejected', () => {
  expect(problems({ nodeName: 'node', schedulingGates: [{ name: 'a' }, { name: 'a' }] })).toEqual([
    'spec.schedulingGates[1]: Duplicate value: "a"',
    'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ]);
});

test('C46: fields of a static pod that only a scheduler uses cause a warning', () => {
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
