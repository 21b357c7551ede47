import { expect, test } from '@jest/globals';
import type { Taint } from '../../../kubernetes/admission/node.ts';
import { untoleratedTaint } from '../../../kubernetes/admission/taints.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { aPod } from '../fixtures.ts';

const taint: Taint = { key: 'load', value: '5', effect: 'NoExecute' };

type Toleration = NonNullable<PodSpec['tolerations']>[number];

test.each<[Toleration[], boolean]>([
  [[], false],
  [[{ operator: 'Exists' }], true],
  [[{ operator: 'Exists', effect: 'NoExecute' }], true],
  [[{ operator: 'Exists', effect: 'NoSchedule' }], false],
  [[{ key: 'load', operator: 'Exists' }], true],
  [[{ key: 'other', operator: 'Exists' }], false],
  [[{ key: 'load', value: '5' }], true],
  [[{ key: 'load', operator: 'Equal', value: '6' }], false],
  [[{ key: 'load', operator: 'Gt', value: '4' }], true],
  [[{ key: 'load', operator: 'Gt', value: '5' }], false],
  [[{ key: 'load', operator: 'Lt', value: '6' }], true],
  [[{ key: 'load', operator: 'Lt', value: 'six' }], false],
  [
    [
      { key: 'other', operator: 'Exists' },
      { key: 'load', operator: 'Exists' },
    ],
    true,
  ],
])('C30: the tolerations %j tolerate a NoExecute taint: %s', (tolerations, expected) => {
  expect(untoleratedTaint(aPod({ tolerations }).spec, [taint])).toBe(expected ? undefined : taint);
});

test('C30: taints for the scheduler are ignored', () => {
  const taints = (['NoSchedule', 'PreferNoSchedule'] as const).map((effect) => ({ key: 'load', effect }));
  expect(untoleratedTaint(aPod().spec, taints)).toBeUndefined();
});
